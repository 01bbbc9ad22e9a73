"""Sets of forty reward functions with one fault each and forty sound ones, by authors who had not seen the check."""

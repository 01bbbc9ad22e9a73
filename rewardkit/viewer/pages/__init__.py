"""One file per tab, and the frame around them."""

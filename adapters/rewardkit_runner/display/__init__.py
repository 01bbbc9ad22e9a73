"""What a person sees of a training: its progress, the numbers before and after, samples, a plot."""

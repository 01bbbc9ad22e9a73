"""What a training shows: progress, scores before and after, samples, a plot."""

"""Ray: score datasets of any size with a reward, on a cluster or on the cores of one machine."""

"""Ray: rewards over datasets of any size, on a cluster or on the cores of one machine."""

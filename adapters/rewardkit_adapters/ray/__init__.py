"""Ray: rewards over data sets of any size, on a cluster or on the cores of one machine."""

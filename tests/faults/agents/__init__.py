"""Rewards of agents whose authors had not seen the laws: sets of ten with a fault each, and ten sound ones.

::

    python benchmarks/check/agents.py first second

Each set is a module with two lists, FAULTY and SOUND. An entry has a reward (or the check of an
environment), examples, right and wrong trajectories, and for a faulty one an exploit that is worse and earns as much.
"""

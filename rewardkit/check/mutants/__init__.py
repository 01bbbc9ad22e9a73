"""Mutation: insert an ordinary bug into a sound reward, and find out whether the examples notice it.

`operators` contains the ordinary bugs of reward functions. `mutants` inserts them into a reward, one at a time.
`noticed` checks whether the given completions distinguish a mutant from the original.
"""

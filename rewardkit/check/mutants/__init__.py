"""Mutation: give a sound reward an ordinary bug, and see which examples notice it.

`operators` holds the ordinary bugs of reward functions, `mutants` puts them into a reward, one at a time, and `noticed`
checks whether the given completions distinguish a mutant from the original.
"""

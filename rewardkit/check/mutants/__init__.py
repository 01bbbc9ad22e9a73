"""Mutation: give a sound reward an ordinary bug, and see which examples notice it.

`operators` knows how reward functions fail, `mutants` makes them fail, one place at a time, and `noticed` asks whether
given completions tell a mutant from the original.
"""

"""Mutation: what if a sound reward had an ordinary bug, and who would notice?

`operators` knows how reward functions fail, `mutants` makes them fail, one place at a time, and `noticed` asks whether
given completions tell a mutant from the original.
"""

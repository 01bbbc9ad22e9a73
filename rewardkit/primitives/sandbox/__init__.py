"""Programs written by an adversary, run where they can neither harm nor cheat.

``assertions`` and ``cases`` read what a program is tested by; ``isolation`` decides what it is shut in with, ``limits``
what it may use up, ``running`` launches it, and ``supervisor`` is what watches it from inside.
"""

"""Run untrusted programs in a sandbox where they can neither do damage nor cheat.

``assertions`` and ``cases`` read the tests of a program; ``isolation`` chooses the sandbox, ``limits`` its limits;
``runs`` launches it, and ``supervisor`` watches the program from inside. ``verdicts`` compares the results.
"""

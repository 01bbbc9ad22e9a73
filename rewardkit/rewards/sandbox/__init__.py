"""Run untrusted programs in a sandbox where they can neither do damage nor cheat.

``cases`` and ``scripts`` read the tests of a program; ``isolation`` chooses the sandbox, ``limits`` its limits;
``runs`` launches it, and ``supervisor`` watches the program from inside. Test code runs in ``tester``, which asks the
program for values (``dialogue``); for a service, ``assertions`` splits it. ``verdicts`` compares the results.
"""

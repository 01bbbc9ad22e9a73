"""Run untrusted programs in a sandbox, where they can neither do damage nor cheat.

``cases`` and ``scripts`` parse the tests of a program. ``isolation`` chooses a sandbox, ``limits`` sets the limits,
``runs`` launches the sandbox, and ``supervisor`` watches the program from inside. Test code runs in ``tester``, which
asks the program for values (``dialogue``). For a service, ``assertions`` splits the test code. ``verdicts`` compares
the results.
"""

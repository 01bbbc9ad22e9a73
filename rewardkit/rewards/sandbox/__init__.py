"""A sandbox for untrusted programs, which prevents damage and cheating.

``cases`` and ``scripts`` parse a program's tests. ``isolation`` chooses a sandbox, ``limits`` sets the limits, ``runs``
launches the sandbox, and ``supervisor`` monitors the program from inside. Test code runs in ``tester``, which requests
values from the program (``dialogue``). For a service, ``assertions`` splits the test code. ``verdicts`` compares the
results.
"""

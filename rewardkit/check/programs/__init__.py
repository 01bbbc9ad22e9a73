"""Programs: do the tests of an example reject wrong programs?

`suites` reads the program of a right completion and the tests in its columns, `fresh_inputs` makes more inputs like
theirs, `outputs` runs programs on them in a sandbox, and `survivors` breaks the right program in one place at a time
and looks for broken ones that the tests accept.
"""

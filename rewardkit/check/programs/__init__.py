"""Programs: check whether the tests of an example reject wrong programs.

`suites` reads the program from a right completion and the tests from the columns. `fresh_inputs` generates more inputs
like those of the tests, and `outputs` runs programs on them in a sandbox. `survivors` breaks the right program in one
place at a time and looks for broken programs that the tests accept.
"""

"""Programs: check whether an example's tests reject incorrect programs.

`suites` reads the program from a correct completion and the tests from the columns. `fresh_inputs` generates more
inputs like those in the tests, and `outputs` runs programs on them in a sandbox. `survivors` breaks the correct program
in one place at a time and looks for broken programs that the tests accept.
"""

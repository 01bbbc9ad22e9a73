"""Reading: completions and cells to try, suggested by a reward's source code.

`places` finds the places in the code of the reward's functions. `aims` lists the values that each place compares with,
searches for, or counts. An aim is only a proposal: the laws decide whether its result is a fault.
"""

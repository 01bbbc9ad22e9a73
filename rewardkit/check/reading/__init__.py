"""Reading: attempts suggested by the source code of a reward.

`places` finds the places in the code of its functions, `aims` lists the values that each of them compares with,
searches for or counts. An aim is only a proposal: whether what comes of it is a fault, the laws decide.
"""

"""The engine of ``rk.json_schema``: the safety of schemas, and the credit of a value under one."""

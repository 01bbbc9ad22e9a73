"""The engine of ``rk.json_schema``: which schemas are safe, and how much credit a value earns under one."""

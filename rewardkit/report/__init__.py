"""Reports: one document of tables, lists, code and verdicts, shown on a terminal, in a comment and in a browser."""

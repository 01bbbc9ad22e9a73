"""Reports: documents of tables, lists, code and verdicts, for a terminal, a pull request comment and a browser."""

"""Reports: documents with tables, lists, code, and verdicts for terminals, pull request comments, and browsers."""

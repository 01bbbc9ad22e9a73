"""Ready rewards, one file per family: format, exact match, numbers, JSON schemas."""

"""Ready rewards, one file or folder per family, independent of each other."""

"""Ready rewards, one file per family, independent of each other; a folder holds the engine of the file it belongs to."""

"""Ready rewards, one file per family, independent of each other; a folder is the engine of the file it belongs to."""

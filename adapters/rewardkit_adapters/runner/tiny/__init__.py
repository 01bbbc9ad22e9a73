"""The tiny model of ``model: tiny``: built when a run starts and warmed up on sloppy demonstrations of a small task."""

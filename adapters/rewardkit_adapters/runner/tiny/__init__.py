"""The tiny model of ``model: tiny``: built when a run starts, warmed up on sloppy demonstrations of one small task."""

"""The tiny model of ``model: tiny``: made on the spot, warmed up on sloppy demonstrations of one small task."""

"""The model ``tiny``, which is built when a run starts and warmed up on sloppy demonstrations of a small task."""

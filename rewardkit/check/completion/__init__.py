"""The parts of a completion (tags, answer, and lines), and the source line that decides its score."""

"""Sets of forty reward functions with one fault each and forty sound ones, by authors who had not seen the check."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))  # the sets import `case`

"""``python -m optimist`` is ``optimist``."""

import sys

from optimist.cli import main

sys.exit(main())

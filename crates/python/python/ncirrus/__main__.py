"""``python -m ncirrus``: the command."""

import sys

from ncirrus.command import main

if __name__ == "__main__":
    sys.exit(main())

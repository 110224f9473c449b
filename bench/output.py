"""What scripts print, where its reader may leave, as `head` does."""

import os
import sys


def until_reader_leaves(main):
    """Runs a script's main function, and exits with its status; without a word if nobody reads what it prints."""
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # Nothing is left to be written when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    sys.exit(status)

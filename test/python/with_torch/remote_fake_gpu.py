"""`symm-worker` on a host that is said to have GPUs: what should be on one is in memory."""

import sys

from symm import _worker

if __name__ == "__main__":
    sys.exit(_worker.main(["cpu" if word.startswith("cuda:") else word for word in sys.argv[1:]]))

"""one_trims.py FOLDER COMMAND...: while another process trims the device library that is kept in a folder, a command
waits for it, and takes what that one has made."""

import fcntl
import subprocess
import sys
from pathlib import Path

folder, command = Path(sys.argv[1]), sys.argv[2:]
(kept,) = folder.glob("*.bc")
made = kept.read_bytes()
kept.unlink()
with kept.with_suffix(".lock").open("a") as lock:
    fcntl.flock(lock, fcntl.LOCK_EX)
    waits = subprocess.Popen(command)
    try:
        waits.wait(timeout=1)
        sys.exit("it did not wait")
    except subprocess.TimeoutExpired:
        kept.write_bytes(made)
file = kept.stat().st_ino
if waits.wait(timeout=30) or kept.stat().st_ino != file:
    sys.exit("it did not take what was made")

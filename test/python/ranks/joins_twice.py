"""While a thread waits for rank 1, which never comes, another one joins."""

import threading
import time

import symm
from symm._world import JOINING

said = []


def join():
    try:
        symm.init(heap_size=4 << 20, timeout=3)
    except symm.BootstrapError as error:
        said.append(str(error))


thread = threading.Thread(target=join)
thread.start()
while not JOINING.locked():
    time.sleep(0.001)
join()
assert "another thread of this process is in it" in said.pop()
thread.join()
assert "rank 1 did not join within 3s" in said.pop()

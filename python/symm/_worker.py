"""`symm-worker`: runs torch's operations for clients of symm.remote."""

import argparse
import contextlib
import faulthandler
import os
import re
import resource
import select
import signal
import sys

from . import _spawn, _symm
from ._worker_verbs import Verbs
from .errors import SymmError

# Between two looks at whether the worker is still wanted, in seconds.
_LOOK = 0.1
# What the process may need besides tensors, in bytes.
_SLACK = 64 << 20


def main(arguments: list[str] | None = None) -> int:
    """Serves until a signal comes. Returns the exit status."""
    options = _options(arguments)
    # A kernel or an operation that ends the process says where.
    faulthandler.enable()
    ended: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, _: ended.append(number))
    try:
        verbs = Verbs(options.device, options.module, options.namespace, options.allow_code)
        if options.memory_limit is not None:
            _limit(options.memory_limit, verbs)
        files = options.token_file, options.certificate, options.key
        if options.secrets is not None:
            files = _symm.remote_secrets(options.secrets)
        worker = _symm.Worker(options.listen, verbs, *files)
    except (SymmError, ImportError, RuntimeError, OSError) as error:
        print(f"symm-worker: {error}", file=sys.stderr)
        return 1
    print(f"symm-worker listens on {worker.address}", flush=True)
    while not ended:
        if options.once and worker.served and not worker.connections:
            break
        if select.select([] if options.parent_fd is None else [options.parent_fd], [], [], _LOOK)[0]:
            break
    worker.stop()
    if options.parent_fd is not None and worker.address.startswith("unix:"):
        # The folder was made for this worker; it stays where there is something else in it.
        with contextlib.suppress(OSError):
            os.rmdir(os.path.dirname(worker.address.removeprefix("unix:")))
    # Threads of clients may be within an operation, which nothing can end but this.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _options(arguments):
    parser = argparse.ArgumentParser("symm-worker", description=__doc__)
    parser.add_argument("--listen", required=True, metavar="ADDRESS", help="unix:PATH or tcp:HOST:PORT (port 0: any)")
    parser.add_argument("--device", default="cpu", help="cpu or cuda:N")
    parser.add_argument("--memory-limit", type=_size, metavar="BYTES", help="limit on the memory of tensors")
    parser.add_argument(
        "--secrets", metavar="DIR", help="folder of token, certificate.pem and key.pem, which are made if it is empty"
    )
    parser.add_argument("--token-file", metavar="FILE", help="the secret that clients must present; required for tcp")
    parser.add_argument("--certificate", metavar="FILE", help="PEM file that clients have too; required for tcp")
    parser.add_argument("--key", metavar="FILE", help="PEM file with the certificate's key")
    parser.add_argument("--module", action="append", default=[], metavar="NAME", help="allow its remote functions")
    parser.add_argument("--namespace", action="append", default=[], metavar="NAME", help="allow its operations")
    parser.add_argument("--allow-code", action="store_true", help="let clients send Python source: trust them")
    parser.add_argument("--once", action="store_true", help="exit when the first client disconnects")
    parser.add_argument("--parent-fd", type=int, metavar="FD", help="exit when the other end of this pipe is closed")
    return parser.parse_args(arguments)


def _size(text):
    if not re.fullmatch("[0-9]+", text) or not _spawn.is_size(int(text)):
        raise argparse.ArgumentTypeError(f"takes {_spawn.SIZES}, not {text!r}")
    return int(text)


def _limit(limit, verbs):
    """Makes torch raise an error for memory beyond the limit, before the system ends the process."""
    if verbs.device.type == "cuda":
        verbs.limit_memory(limit)
        return
    with open("/proc/self/status") as status:
        used = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmData:"))
    resource.setrlimit(resource.RLIMIT_DATA, (used + limit + _SLACK,) * 2)


if __name__ == "__main__":
    sys.exit(main())

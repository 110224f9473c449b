"""Programs of ranks as forks of one process that has imported what all of them import: with torch that takes longer
than most programs, and each rank would import it again.

`Process(script, arguments, environment)` is used like a `subprocess.Popen` whose output is text. Run as a script, this
file is the process that forks. It imports no symm: what symm reads when it is imported is each program's own.
"""

import array
import contextlib
import dataclasses
import functools
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
import types

# What an import may read: programs for which it is another start as processes of their own.
IMPORTS_READ = ("PYTHON", "TRITON", "TORCH_", "LD_", "CUDA", "HIP", "OMP_", "MKL_")
WARNINGS = "error::RuntimeWarning"
SIZE = struct.Struct("<q")
WORDS = struct.Struct("<qq")


class Process:
    """A program that runs in a fork."""

    def __init__(self, script, arguments, environment):
        self.args = [sys.executable, str(script), *arguments]
        self.returncode = None
        reader, writer = os.pipe()
        self._status, told = os.pipe()
        self._output = open(reader, "rb")
        imports = {name: value for name, value in environment.items() if name.startswith(IMPORTS_READ)}
        try:
            _server(tuple(sorted(imports.items()))).ask(self.args[1:], environment, [writer, told])
        finally:
            os.close(writer)
            os.close(told)
        self.pid, _ = self._told()

    def _told(self):
        """What comes next of the process: its number, and then how it has ended."""
        words = os.read(self._status, WORDS.size)
        if len(words) < WORDS.size:
            raise ChildProcessError(f"{self.args}: the process that forks has ended")
        return WORDS.unpack(words)

    def wait(self, timeout=None):
        """Its exit status, as `subprocess` has them."""
        if self.returncode is None:
            if not select.select([self._status], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout)
            self.returncode = os.waitstatus_to_exitcode(self._told()[1])
            os.close(self._status)
        return self.returncode

    def communicate(self, timeout=None):
        """All that it prints, once it has ended, and None: both of its outputs are one."""
        end = None if timeout is None else time.monotonic() + timeout
        said = []
        while True:
            left = None if end is None else max(0, end - time.monotonic())
            if not select.select([self._output], [], [], left)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout, b"".join(said))
            some = os.read(self._output.fileno(), 1 << 16)
            if not some:
                break
            said.append(some)
        self._output.close()
        self.wait(None if end is None else max(1, end - time.monotonic()))
        return b"".join(said).decode(errors="replace"), None

    def kill(self):
        """Ends it, if it has not ended."""
        if self.returncode is None and not select.select([self._status], [], [], 0)[0]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class _Server:
    """The process that forks, for programs that import alike."""

    def __init__(self, imports):
        ours, theirs = socket.socketpair()
        run = {name: value for name, value in os.environ.items() if not name.startswith(IMPORTS_READ)}
        command = [sys.executable, "-W", WARNINGS, __file__, str(theirs.fileno())]
        how = {"stdin": subprocess.DEVNULL, "pass_fds": [theirs.fileno()]}
        self._process, self._socket = subprocess.Popen(command, env=run | dict(imports), **how), ours
        theirs.close()

    def ask(self, command, environment, files):
        """Has it run a program, which gets the two files: where it prints, and where it is said what becomes of it."""
        what = json.dumps([os.getcwd(), command, environment]).encode()
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))]
        self._socket.sendmsg([SIZE.pack(len(what))], rights)
        self._socket.sendall(what)


@functools.cache
def _server(imports):
    return _Server(imports)


# The process that forks.


def receive(connection):
    """The next program and its files; None once nobody asks any more."""
    head, rights, _, _ = connection.recvmsg(SIZE.size, socket.CMSG_SPACE(2 * array.array("i").itemsize))
    if not head:
        return None
    files = array.array("i")
    for _, _, data in rights:
        files.frombytes(data)
    (size,), what = SIZE.unpack(head), b""
    while len(what) < size:
        what += connection.recv(size - len(what))
    return json.loads(what), list(files)


def serve(connection):
    """Forks for each program; returns it in the fork that is to run it, and None at the end."""
    while (asked := receive(connection)) is not None:
        program, (output, told) = asked
        if os.fork() == 0:
            connection.close()
            watched = os.fork()
            if watched == 0:
                os.close(told)
                os.dup2(output, 1)
                os.dup2(output, 2)
                os.close(output)
                return program
            # This one only says what becomes of the program.
            os.close(output)
            os.write(told, WORDS.pack(watched, 0))
            os.write(told, WORDS.pack(watched, os.waitpid(watched, 0)[1]))
            os._exit(0)
        os.close(output)
        os.close(told)
        # Those that have ended.
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    return None


def run(folder, command, environment):
    """Runs a program as Python would: what it raises ends this process."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    script = command[0]
    main = types.ModuleType("__main__")
    main.__file__ = script
    sys.argv, sys.path[0], sys.modules["__main__"] = command, os.path.dirname(os.path.abspath(script)), main
    with open(script, "rb") as file:
        code = compile(file.read(), script, "exec")
    exec(code, vars(main))


def leave_out_overflows():
    """Has Triton's interpreter not compute each sum of integers a second time, in 64 bits, to see that the first did
    not overflow: of programs of ranks that takes a quarter of the time, and no kernel does it on a GPU."""
    from triton.runtime import interpreter

    builder = interpreter.interpreter_builder
    builder.options = dataclasses.replace(builder.options, sanitize_overflow=False)


if __name__ == "__main__":
    import numpy  # noqa: F401
    import torch  # noqa: F401
    import triton  # noqa: F401

    leave_out_overflows()
    if (asked := serve(socket.socket(fileno=int(sys.argv[1])))) is not None:
        run(*asked)

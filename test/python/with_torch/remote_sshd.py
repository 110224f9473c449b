"""An sshd of this user's own, on a port of 127.0.0.1, with keys made for it."""

import getpass
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

# Debian has it where ordinary users do not look.
SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
MISSING = "needs sshd: apt-get install openssh-server"
CONFIG = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
StrictModes no
PermitRootLogin prohibit-password
"""


class Sshd:
    """`host` and `options` are for `symm.remote.Ssh`."""

    def __init__(self, folder: Path):
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        (folder / "config").write_text(CONFIG.format(port=port, folder=folder))
        key = (folder / "host.pub").read_text()
        (folder / "known").write_text(f"[127.0.0.1]:{port} {key}")
        if os.geteuid() == 0:
            # Where sshd, as root, puts what it trusts least.
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
        self.log = folder / "log"
        command = [SSHD, "-D", "-f", folder / "config", "-E", self.log]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        self.host = f"{getpass.getuser()}@127.0.0.1"
        known = ["-o", f"UserKnownHostsFile={folder / 'known'}", "-o", "GlobalKnownHostsFile=/dev/null"]
        self.options = ["-F", "none", "-p", str(port), "-i", str(folder / "user"), "-o", "IdentitiesOnly=yes", *known]
        self._await(port)

    def _await(self, port):
        end = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except OSError:
                if self._process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"sshd does not listen: {self.log.read_text()}") from None
                time.sleep(0.05)

    def end(self):
        self._process.terminate()
        self._process.wait()

"""Two nodes on one host: network namespaces that a virtual cable joins, each with a host name of its own."""

import contextlib
import os
import subprocess
import tempfile
import time
from pathlib import Path

ADDRESSES = ["10.77.0.1", "10.77.0.2"]
# A node's end of the cable; both have this name.
CABLE = "symm0"
SECONDS_TO_COME_UP = 30
# What mpirun calls to start its daemon on the second node, as it would ssh: with the node's address and a command line.
AGENT = """#!/bin/sh
shift
exec unshare --uts ip netns exec {node} sh -c "hostname symm-second; $*"
"""


class Nodes:
    """The namespaces of two nodes."""

    def __init__(self, agent):
        self.names, self.agent = [f"symm-{os.getpid()}-{each}" for each in ("first", "second")], agent

    def oshrun(self):
        """The start of a command that runs ranks on both nodes in turn, on the first."""
        hosts = ",".join(ADDRESSES)
        return ["ip", "netns", "exec", self.names[0], "oshrun", "--mca", "plm_rsh_agent", self.agent, "-H", hosts]

    def received(self):
        """The bytes that the first node has received from the second."""
        return int(self.cable_has(self.names[0], "statistics/rx_bytes"))

    def cable_has(self, node, what):
        return run("ip", "netns", "exec", node, "cat", f"/sys/class/net/{CABLE}/{what}").strip()

    def make(self):
        """Makes them and joins them."""
        for node in self.names:
            run("ip", "netns", "add", node)
        first, second = self.names
        run("ip", "link", "add", CABLE, "netns", first, "type", "veth", "peer", "name", CABLE, "netns", second)
        for node, address in zip(self.names, ADDRESSES):
            run("ip", "-n", node, "address", "add", f"{address}/24", "dev", CABLE)
            for device in ("lo", CABLE):
                run("ip", "-n", node, "link", "set", device, "up")
        # Until the kernel says so, UCX sees no such device.
        until = time.monotonic() + SECONDS_TO_COME_UP
        while any(self.cable_has(node, "operstate") != "up" for node in self.names) and time.monotonic() < until:
            time.sleep(0.05)
        run("unshare", "--uts", "true")

    def remove(self):
        for node in self.names:
            subprocess.run(["ip", "netns", "delete", node], stderr=subprocess.DEVNULL, check=False)


def run(*line):
    return subprocess.run(line, check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


@contextlib.contextmanager
def two_nodes():
    """The nodes, or None where this user may not make them."""
    with tempfile.TemporaryDirectory() as folder:
        agent = Path(folder) / "agent"
        nodes = Nodes(str(agent))
        agent.write_text(AGENT.format(node=nodes.names[1]))
        agent.chmod(0o755)
        try:
            nodes.make()
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"no two network namespaces here: {error}: {getattr(error, 'stderr', '')}".rstrip(": \n"))
            nodes.remove()
            nodes = None
        try:
            yield nodes
        finally:
            if nodes:
                nodes.remove()

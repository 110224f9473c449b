#!/usr/bin/env python3
"""Trains models on a worker that has a GPU and on the same GPU here, and compares their losses; then ranks on all GPUs.

    python3 test/device/remote.py --wheel target/wheels/symm-*.whl --workers 2

Needs torch and Triton; nothing is installed. Prints a line for each part; the exit status is 1 if anything failed.
`--device cpu` tries the script itself.
"""

import argparse
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

STEPS = 50


def models(torch):
    nn = torch.nn

    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.cells, self.out = nn.LSTM(16, 32, 2, batch_first=True), nn.Linear(32, 8)

        def forward(self, x):
            return self.out(self.cells(x.flatten(2).transpose(1, 2))[0].mean(1))

    class Transformer(nn.Module):
        def __init__(self):
            super().__init__()
            layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
            self.enter, self.layers, self.out = nn.Linear(16, 32), nn.TransformerEncoder(layer, 2), nn.Linear(32, 8)

        def forward(self, x):
            return self.out(self.layers(self.enter(x.flatten(2).transpose(1, 2))).mean(1))

    def convolutions():
        pooled = nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)
        return nn.Sequential(*pooled, nn.Flatten(), nn.Linear(512, 8))

    return {"LSTM": Recurrent, "CNN": convolutions, "transformer": Transformer}


def losses(torch, make, device):
    """The losses of some steps with Adam, and the seconds that they took."""
    torch.manual_seed(3)
    model = make().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    torch.manual_seed(4)
    x, target = torch.randn(64, 16, 8, 8).to(device), (torch.arange(64) % 8).to(device)
    found, start = [], time.monotonic()
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), target)
        loss.backward()
        optimizer.step()
        found.append(loss.detach())
    return [loss.item() for loss in found], time.monotonic() - start


def train_here(device):
    """Prints the losses of each model, in a process without symm.remote: torch has autograd for one accelerator."""
    import torch

    torch.backends.cuda.enable_flash_sdp(False)
    torch.backends.cuda.enable_mem_efficient_sdp(False)
    print(json.dumps({name: losses(torch, make, device) for name, make in models(torch).items()}))


def train(torch, device, there):
    """Whether the losses are those of the device here."""
    right = True
    command = [sys.executable, __file__, "--here", "--device", device, "--wheel", "-"]
    here = json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)
    for name, make in models(torch).items():
        (local, seconds), (remote, remote_seconds) = here[name], losses(torch, make, there)
        apart = max(abs(one - other) / abs(one) for one, other in zip(local, remote, strict=True))
        ok = apart < 1e-3 and local[-1] < local[0]
        right &= ok
        times = f"{seconds:.2f} s here, {remote_seconds:.2f} s there"
        outcome = "ok  " if ok else "FAIL"
        print(f"{outcome} {name}, {STEPS} steps on {there}: losses {apart:.1e} apart, {times}", flush=True)
    return right


def ranks(torch, remote, cluster, kernel):
    """Whether each rank of the cluster got its neighbour's block."""
    count = len(cluster)
    mail, arrived = cluster.zeros(64, dtype=torch.int32), cluster.zeros(1, dtype=torch.int32)
    cluster.run(kernel, 1, remote.Context, mail, arrived, BLOCK=64)
    cluster.barrier()
    want = [[(rank - 1) % count * 100 + at for at in range(64)] for rank in range(count)]
    ok = [mail[rank].tolist() for rank in range(count)] == want
    print(f"{'ok  ' if ok else 'FAIL'} a kernel on {count} ranks", flush=True)
    return ok


KERNEL = '''
import symm.triton as st
import triton
import triton.language as tl


@triton.jit
def greet(table, mail, arrived, BLOCK: tl.constexpr):
    ctx = st.DeviceContext(table)
    after = (ctx.rank() + 1) % ctx.num_ranks()
    at = tl.arange(0, BLOCK)
    ctx.store(mail + at, ctx.rank() * 100 + at, after)
    ctx.signal(arrived, 1, after)
    ctx.wait(arrived, 1)
'''


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--here", action="store_true", help="only print the losses of the device here")
    options = parser.parse_args()
    if options.here:
        train_here(options.device)
        return 0
    folder = tempfile.TemporaryDirectory()
    zipfile.ZipFile(options.wheel).extractall(folder.name)
    Path(folder.name, "kernel_of_remote.py").write_text(KERNEL)
    sys.path.insert(0, folder.name)
    os.environ["PYTHONPATH"] = f"{folder.name}:{os.environ.get('PYTHONPATH', '')}"
    import torch
    from symm import remote

    environment = {"TRITON_INTERPRET": "1"} if options.device == "cpu" else {}
    processes = remote.Processes(device=options.device, allow_code=True, environment=environment)
    with remote.launch(options.workers, processes) as cluster:
        right = train(torch, options.device, "remote:0")
        right &= ranks(torch, remote, cluster, importlib.import_module("kernel_of_remote").greet)
        last = cluster[options.workers - 1]
        there = torch.arange(1 << 20, dtype=torch.float32).to("remote:0").to(last)
        copied = float(there.sum().item()) == float(torch.arange(1 << 20, dtype=torch.float32).sum())
        print(f"{'ok  ' if copied else 'FAIL'} a copy from worker 0 to worker {options.workers - 1}", flush=True)
    return 0 if right and copied else 1


if __name__ == "__main__":
    sys.exit(main())

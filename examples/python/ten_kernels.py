"""Ten kernels as their authors write them, each in a file of kernels/ with a check of its result.

    torchrun --nproc-per-node 4 ten_kernels.py                      # a GPU for each rank
    TRITON_INTERPRET=1 torchrun --nproc-per-node 4 ten_kernels.py   # no GPU: Triton's interpreter
    torchrun --nproc-per-node 2 ten_kernels.py stencil work_queue   # some of them
"""

import argparse
import importlib
from pathlib import Path

import symm

NAMES = sorted(file.stem for file in (Path(__file__).parent / "kernels").glob("*.py"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], metavar="NAME", help=", ".join(NAMES))
    names = parser.parse_args().names or NAMES
    world = symm.init(heap_size=64 << 20)
    for name in names:
        importlib.import_module(f"kernels.{name}").check(world)
        world.barrier()
        print(f"rank {world.get_rank()}: {name} is right")
    world.close()


if __name__ == "__main__":
    main()

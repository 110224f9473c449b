"""What the lit suites share: where the tools are, and the substitutions.

`%run-all [ARG…]` runs a program on several numbers of ranks (run_all.py). `%golden COMMAND…` compares a command's
output with the end of the test (golden.py). `%sequences` prints what kernels compile to (sequences.py), and
`%assemble` assembles it (assemble.py), `%divergence` follows its control flow (divergence.py), and `%convergence`
counts the barriers of every group op (convergence.py). `%extents` runs the tests that staged loops begin with
(extents.py). `%checked` checks programs that are right (checked.py), `%mutants` what is left of them with less order
(mutants.py), `%check-litmus` the litmus tests (check_litmus.py), and `%rma` the cases of a benchmark (rma.py). `%symm`
is the executable that is all tools. Every tool runs under a deadline: one that hangs is killed, which lit reports as
exit status -9 and `not` as a crash.

Parameters (`lit -D NAME=VALUE`): `bin`, the folder of the built tools; `driver`, the driver of `%run-all`.
With SYMM_ROUNDTRIP=1 every symm-opt also prints its input, as text and as bytecode, and compares what it reads back.
"""

import ctypes.util
import os
import shlex
import sys
import tomllib
from pathlib import Path

import lit.formats

ROOT = Path(__file__).resolve().parent.parent
SECONDS_PER_TOOL = 60
SECONDS_PER_PROGRAM = 300
LLVM_TOOLS = ["not", "split-file", "count", "mlir-opt", "llvm-nm", "llvm-objdump"]


def llvm_prefix():
    """The prefix that the build uses: the environment's, or the one in .cargo/config.toml."""
    name = "MLIR_SYS_220_PREFIX"
    defaults = tomllib.loads((ROOT / ".cargo/config.toml").read_text())["env"]
    return Path(os.environ.get(name) or defaults[name])


def configure(config, lit_config, name):
    """Fills in the configuration of the suite whose folder holds the calling lit.cfg.py."""
    target = Path(os.environ.get("CARGO_TARGET_DIR") or ROOT / "target")
    tools = Path(lit_config.params.get("bin") or target / "release").resolve()
    llvm = llvm_prefix() / "bin"

    config.name = name
    config.test_format = lit.formats.ShTest(execute_external=False)
    config.suffixes = [".mlir", ".test"]
    config.excludes = ["Inputs"]
    config.test_exec_root = str(target / "lit" / name)
    config.environment["PATH"] = os.pathsep.join([str(tools), str(llvm), os.environ.get("PATH", "")])
    for variable in ["SYMM_BLESS", "SYMM_ROUNDTRIP", "CARGO_TARGET_DIR"]:
        if variable in os.environ:
            config.environment[variable] = os.environ[variable]

    if not ctypes.util.find_library("cuda"):
        config.available_features.add("no-cuda")

    def substitute(word, command):
        config.substitutions.append((rf"(?<![\w%/.-]){word}(?![\w/.-])", command))

    def script(path, *arguments):
        return shlex.join([sys.executable, str(ROOT / "test" / path), *arguments])

    deadline = f"timeout -s KILL {SECONDS_PER_TOOL}"
    round_trip = " --verify-roundtrip" if os.environ.get("SYMM_ROUNDTRIP") == "1" else ""
    driver = lit_config.params.get("driver", "cpu")
    config.substitutions.append(("%golden", script("golden.py", "%s")))
    config.substitutions.append(("%sequences", script("sequences.py")))
    config.substitutions.append(("%assemble", script("assemble.py")))
    config.substitutions.append(("%divergence", script("divergence.py")))
    config.substitutions.append(("%convergence", script("convergence.py")))
    config.substitutions.append(("%extents", script("extents.py")))
    config.substitutions.append(("%checked", script("checked.py", "--bin", str(tools))))
    config.substitutions.append(("%mutants", script("mutants.py", "--bin", str(tools))))
    config.substitutions.append(("%rma", script("rma.py", "--bin", str(tools))))
    config.substitutions.append(("%check-litmus", script("check_litmus.py", "--bin", str(tools))))
    config.substitutions.append(("%documents", script("documents.py", "--bin", str(tools))))
    config.substitutions.append(
        ("%run-all", f"timeout -s KILL {SECONDS_PER_PROGRAM} " + script("run_all.py", "--driver", driver, "%s"))
    )
    config.substitutions.append(("%symm", f"{tools}/symm"))
    substitute("symm-opt", f"{deadline} {tools}/symm-opt{round_trip}")
    for tool in ["symm-translate", "symm-run", "symm-check", "symm-lsp-server"]:
        substitute(tool, f"{deadline} {tools}/{tool}")
    substitute("FileCheck", f"{llvm}/FileCheck --enable-var-scope --dump-input-filter=all")
    for tool in LLVM_TOOLS:
        substitute(tool, str(llvm / tool))

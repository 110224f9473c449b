"""Runs the commands in the documents, and checks their programs.

    // RUN: %documents

It takes every fenced block of README.md, docs/*.md (the generated pages aside) and the README of each folder:

- `sh` and `console`: `symm-run`, `symm-check` and `symm-translate` without `--driver` run as they stand, and the output
  under a `console` command is compared, whatever the order of its lines. Of all other commands the files must be there,
  and their options must be in the command's own `--help`.
- `mlir`: a whole module is read by symm-opt. Anything else must stand in one of the examples, line for line.
- `python`: stands in a program that the tests of the Python package run, or is run by them from the page.
- `c`: is compiled against symm.h.

Prints what is wrong as `file:line: …`, and exits with 1 if there is anything. `--list` prints every block and what was
done with it.
"""

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.S | re.M)
# Pages whose blocks other tests make or apply: test/python/test_how_it_works.py; `./x check` for CONTRIBUTING.md.
ELSEWHERE = {"docs/how-it-works.md", "CONTRIBUTING.md"}
# Tests that run the programs of pages, and how they name one.
PAGES_OF = {"test/python/test_ranks.py": "run_from_page", "test/python/with_torch/test_pages.py": "blocks"}
PAGES_OF["test/python/test_check.py"] = "run_from_page"
# Commands that are not run: they install something or run the user's own files. test/nodes.py tests `oshrun`.
OF_OTHERS = {"pip", "python3 -m venv", "apt-get", "oshrun"}
# A launcher's option, the script, and the script's own arguments.
TORCHRUN = re.compile(r"--nproc-per-node \d+ (\S+)(.*)")


class Documents:
    def __init__(self, tools, folder):
        self.tools, self.folder = tools, folder
        self.complaints, self.done, self.helps = [], [], {}

    def block(self, page, line, language, body):
        """Checks one block; what it does is the method with the language's name."""
        check = getattr(self, f"check_{language}", None)
        if check is None:
            return
        try:
            done = check(page, body)
        except Wrong as wrong:
            self.complaints.append(f"{page}:{line}: {wrong}")
        else:
            self.done.append(f"{page}:{line}: {language}: {done}")

    def check_sh(self, page, body):
        return "; ".join(self.command(page, text.split(" #")[0].strip()) for text in body.splitlines() if text.strip())

    def check_console(self, page, body):
        first, expected = body.split("\n", 1)
        # What finds something says so with its status, too.
        status = int(re.search(r"^symm-check: \d+ errors?[;,]", expected, re.M) is not None)
        got = self.run(shlex.split(first.removeprefix("$ ")), status=status)
        if sorted(got.splitlines()) != sorted(expected.splitlines()):
            raise Wrong(f"`{first}` prints\n{got}instead of\n{expected}")
        return "ran, and printed what the page says"

    def check_mlir(self, page, body):
        if body.startswith(("module", "//")) and "…" not in body:
            self.run(["symm-opt", "-"], body)
            return "was read by symm-opt"
        wanted = [line.strip() for line in body.splitlines() if line.strip() and "…" not in line]
        if "…" in body:
            return "is a sketch"
        for example in sorted((ROOT / "examples").rglob("*.mlir")):
            lines = iter(line.strip() for line in example.read_text().splitlines())
            if all(line in lines for line in wanted):
                return f"stands in {example.name}"
        raise Wrong("no example has these lines in this order")

    def check_python(self, page, body):
        for test, call in PAGES_OF.items():
            if re.search(rf'{call}(_all)?\("{Path(page).name}"', (ROOT / test).read_text()):
                return f"is run from the page by {test}"
        wanted = [line for line in body.splitlines() if line.strip()]
        for other in sorted((ROOT / "docs").glob("*.md")):
            text = other.read_text()
            if other != ROOT / page and all(line in text for line in wanted):
                return f"stands in {other.name}"
        raise Wrong("no test runs this")

    def check_c(self, page, body):
        program = f"#include <stdio.h>\n#include <symm.h>\nint main(void) {{\nint bytes = 1, peer = 0;\n{body}}}\n"
        compiler = ["cc", "-Wall", "-Werror", "-Wno-unused", "-fsyntax-only", "-I", str(ROOT / "runtime/include")]
        self.run([*compiler, "-x", "c", "-"], program)
        return "was compiled"

    def command(self, page, text):
        """Runs a command, or checks that what it names is there."""
        words = [word for word in shlex.split(text) if "=" not in word.split("/")[0] or word.startswith("-")]
        if not words:
            raise Wrong(f"`{text}` is no command")
        name = Path(words[0]).name
        if any(text.startswith(other) for other in OF_OTHERS):
            return "not ours"
        if name in self.tools:
            if "--driver" in words and "cpu" not in words:
                self.options(name, words[1:], self.help([name]))
                return "needs a GPU: options checked"
            engine = self.device_library() if "nvshmem" in words else {}
            self.run([name, *shlex.split(text)[1:]], environment=engine)
            return "ran"
        if text.startswith("./x "):
            return self.x(words)
        if name == "symm-worker":
            # Its --help needs torch.
            self.options(name, words[1:], (ROOT / "python/symm/_worker.py").read_text())
            return "options checked"
        if name == "python3":
            self.exists(words[1])
            if words[1:3] == ["-m", "symm.check"]:
                self.exists(next(word for word in words[3:] if word.endswith(".py")))
                self.options("symm.check", words[3:], (ROOT / "python/symm/check/__main__.py").read_text())
            elif words[1] != "-m":
                usage = self.help([sys.executable, str(ROOT / words[1])])
                if not usage.startswith("usage: "):
                    raise Wrong(f"{words[1]} does not know --help, and did its work instead")
                self.options(words[1], words[2:], usage)
            return "options checked"
        if name == "torchrun":
            script, _ = TORCHRUN.fullmatch(" ".join(words[1:])).groups()
            if f"# {script}" not in (ROOT / page).read_text():
                self.exists(script)
            return "the program is there, and tests run it"
        if name == "cargo":
            packages = [words[at + 1] for at, word in enumerate(words) if word in ("-p", "--package")]
            manifests = "".join(path.read_text() for path in ROOT.glob("*/**/Cargo.toml") if "target" not in path.parts)
            for package in packages:
                if f'name = "{package}"' not in manifests:
                    raise Wrong(f"`{text}`: there is no package {package}")
            return "the packages are there"
        raise Wrong(f"`{text}`: {name} is not a command that this test knows: teach test/documents.py")

    def x(self, words):
        """`./x NAME …`: the name is in its usage."""
        usage = self.help([str(ROOT / "x")], "help")
        if len(words) > 1 and words[1] != "help" and not re.search(rf"^  {re.escape(words[1])} ", usage, re.M):
            raise Wrong(f"./x has no command {words[1]}")
        return "the command is there"

    def options(self, name, words, text):
        for word in words:
            option = word.split("=")[0]
            if option.startswith("--") and option not in text:
                raise Wrong(f"{name} has no option {option}")

    def exists(self, name):
        if name != "-m" and not (ROOT / name).exists():
            raise Wrong(f"there is no {name}")

    def help(self, command, flag="--help"):
        key = " ".join(command)
        if key not in self.helps:
            self.helps[key] = self.run([*command, flag])
        return self.helps[key]

    def device_library(self):
        """Variables that name a stand-in for NVSHMEM's device library, which is not everywhere."""
        library = self.folder / "libnvshmem_device.bc"
        clang = Path(os.environ.get("LLVM_SYS_221_PREFIX", "/usr/lib/llvm-22")) / "bin/clang"
        source = ROOT / "test/python/stand_in/nvshmem_device.c"
        flags = "--target=nvptx64-nvidia-cuda -march=sm_70 -Xclang -target-feature -Xclang +ptx60"
        flags += " -O1 -ffreestanding -emit-llvm -c"
        self.run([str(clang), *flags.split(), str(source), "-o", str(library)])
        return {"SYMM_NVSHMEM_BITCODE": str(library), "SYMM_CACHE": str(self.folder)}

    def run(self, words, text=None, status=0, environment=None):
        """What a command prints; it runs in a folder of its own that has the examples."""
        # A tool is called by its name, as in the page: it may print how it was called.
        kept = {"executable": self.tools.get(Path(words[0]).name)}
        for name in ("examples", "test"):
            link = self.folder / name
            if not link.exists():
                link.symlink_to(ROOT / name)
        kept |= {"input": text} if text is not None else {"stdin": subprocess.DEVNULL}
        kept |= {"env": os.environ | (environment or {})}
        done = subprocess.run(words, cwd=self.folder, capture_output=True, text=True, timeout=300, **kept)
        if done.returncode != status:
            raise Wrong(f"`{' '.join(words)}` ends with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done.stdout


class Wrong(Exception):
    pass


def pages():
    listed = subprocess.run(["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    generated = "docs/generated/"
    return [page for page in listed.stdout.split() if page not in ELSEWHERE and not page.startswith(generated)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True, help="where symm-run and the others are")
    parser.add_argument("--list", action="store_true", help="print what was done with each block")
    options = parser.parse_args()
    tools = ("symm-opt", "symm-run", "symm-check", "symm-translate", "symm-lsp-server")
    with tempfile.TemporaryDirectory(prefix="symm-documents-") as folder:
        documents = Documents({name: str(options.bin.resolve() / name) for name in tools}, Path(folder))
        for page in pages():
            text = (ROOT / page).read_text()
            for found in FENCE.finditer(text):
                documents.block(page, text.count("\n", 0, found.start()) + 1, *found.groups())
    for line in documents.done if options.list else documents.complaints:
        print(line)
    print(f"{len(documents.done)} blocks are right, {len(documents.complaints)} are not")
    return 1 if documents.complaints else 0


if __name__ == "__main__":
    sys.exit(main())

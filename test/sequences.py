"""Prints what every instance of a kernel compiles to: what `%sequences` of the lit suites stands for.

    // RUN: %golden %sequences %s --chip sm_90
    // EACH sem: relaxed | release
    // EACH kind; type: add; i32 | fadd; f32
    gpu.func @{name}(%ctx: !symm.ctx, … {type} …) kernel { … }

The kernel is compiled once for each choice of the names after EACH, which may name each other (names that go
together are joined by semicolons; the first one labels the choice if that tells the choices apart), and the sequence
of each instance is printed (machine_code.py says what that is); instances with the same sequence share a line. Lines
`// MODULE:` hold attributes of the module. A fault that no kernel may have (an atomic without order or scope, a
write-back that nobody waits for) fails the test, and so does code that does not assemble.
"""

import argparse
import itertools
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import assemble  # noqa: E402
import machine_code  # noqa: E402


def labels(parts):
    """A dimension's choices as the output names them: the first word of each where that tells them apart."""
    short = [next(iter(part.values())) or "-" for part in parts]
    return short if len(set(short)) == len(parts) else [" ".join(part.values()) for part in parts]


def instances(template):
    """The label, the name and the text of every instance of the template's kernel."""
    dimensions = {}
    for names, choices in re.findall(r"^// EACH ([\w; ]+): (.+)$", template, re.MULTILINE):
        names = names.split("; ")
        for choice in choices.split("|"):
            values = dict(zip(names, map(str.strip, choice.split(";")), strict=True))
            dimensions.setdefault(tuple(names), []).append(values)
    body = "".join(line for line in template.splitlines(True) if not line.startswith("//"))
    dimensions = [list(zip(labels(parts), parts, strict=True)) for parts in dimensions.values()]
    for number, choice in enumerate(itertools.product(*dimensions)):
        values = {name: value for _, part in choice for name, value in part.items()}
        values["name"] = f"kernel{number}"
        text = body
        for _ in range(3):  # Choices may name others.
            text = re.sub(r"\{(\w+)\}", lambda use: values.get(use[1], use[0]), text)
        shown = tuple(label for (label, _), choices in zip(choice, dimensions, strict=True) if len(choices) > 1)
        yield shown, values["name"], text


def merged(rows):
    """Joins rows that differ in one choice and have the same sequence."""
    if () in rows:
        return [((), rows[()])]
    by_first = {}
    for label, sequence in rows.items():
        by_first.setdefault(label[0], {})[label[1:]] = sequence
    joined = {}
    for first, rest in by_first.items():
        joined.setdefault(tuple(merged(rest)), []).append(first)
    return [(("|".join(firsts), *label), sequence) for rest, firsts in joined.items() for label, sequence in rest]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("template", type=Path)
    parser.add_argument("--chip", required=True)
    parser.add_argument("--pipeline", help="instead of the one for the chip")
    parser.add_argument("--also", metavar="REGEX", help="instructions to show besides")
    parser.add_argument("--without", metavar="REGEX", help="what to leave out of the sequences")
    options = parser.parse_args()

    template = options.template.read_text(encoding="utf-8").partition("// OUTPUT:\n")[0]
    each = list(instances(template))
    attributes = ", ".join(re.findall(r"^// MODULE: (.+)$", template, re.MULTILINE))
    program = f"module attributes {{gpu.container_module, {attributes}}} {{\ngpu.module @kernels {{\n"
    program = program.replace(", }", "}") + "".join(text for *_, text in each) + "}\n}\n"
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(program)
        file.flush()
        try:
            pipeline = ["--pipeline", options.pipeline] if options.pipeline is not None else []
            text = assemble.translate(file.name, options.chip, *pipeline)
            assemble.assemble(text)
        except assemble.Refused as refusal:
            sys.exit(str(refusal))

    kernels = machine_code.kernels(text)
    faults = [f"{name}: {fault}" for name, lines in kernels.items() for fault in machine_code.faults(lines)]
    if faults:
        sys.exit("\n".join(faults))
    rows = {}
    for label, name, _ in each:
        words = machine_code.sequence(kernels[name], options.also)
        if options.without:
            words = " ".join(word for word in words.split() if not re.fullmatch(options.without, word))
        rows[label] = machine_code.tidy(words) or "nothing"
    for label, sequence in merged(rows):
        print(f"{'  '.join(label)}:\n    {sequence}")


main()

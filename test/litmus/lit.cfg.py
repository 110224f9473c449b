import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
import symm_lit  # noqa: E402

symm_lit.configure(config, lit_config, "litmus")  # noqa: F821
config.suffixes = [".litmus", ".mlir"]  # noqa: F821
config.excludes.append("template.mlir")  # noqa: F821

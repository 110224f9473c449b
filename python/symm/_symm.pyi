"""The compiler, in Rust (the crate `symm-python`)."""

__version__: str

def lower_triton(text: str, version: str, target: str) -> tuple[str, list[tuple[str, str, str | None, int]]]:
    """Lowers the symm ops in a module of Triton's, in MLIR's generic form with locations.

    `version` is Triton's ("3.9.0"), `target` "cuda:90" or "hip:gfx942". Returns the module, in generic form, and
    what the compiler has to say: (severity, message, file, line) each, severity "warning" or "remark".
    Raises `symm.CompileError` where an op cannot be lowered.
    """

"""Progress bars of large transfers."""

import sys
import time

# Smaller transfers have none.
_LARGE = 64 << 20
_CELLS = 30
_shown = None


def progress(show: bool | None) -> None:
    """Whether transfers of 64 MiB and more show a bar on stderr. None, as at the start: where it is a terminal or a
    notebook.
    """
    global _shown
    _shown = show


def bar(what: str, device, size: int):
    """What `Link.fetch` and `Link.upload` take as `progress`: a bar, or None where there should be none."""
    is_watched = _shown if _shown is not None else sys.stderr.isatty() or "ipykernel" in sys.modules
    return _Bar(f"{what} {device}") if is_watched and size >= _LARGE else None


class _Bar:
    """A line that grows while it is called, and ends when all bytes have gone."""

    def __init__(self, what):
        self._what, self._began, self._drawn = what, time.monotonic(), False

    def __call__(self, done, total):
        if done == total and not self._drawn:
            return
        self._drawn = True
        speed = done / max(time.monotonic() - self._began, 1e-6)
        cells = done * _CELLS // total
        left = "" if done == total or not speed else f", {(total - done) / speed:.0f} s left"
        line = (
            f"\r{self._what} [{'#' * cells:{_CELLS}}] {done / 1e6:.0f} of {total / 1e6:.0f} MB, {speed / 1e6:.0f}"
            f" MB/s{left}"
        )
        # Over what was longer.
        sys.stderr.write(f"{line:100}" + ("\n" if done == total else ""))
        sys.stderr.flush()

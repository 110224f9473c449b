"""The Python line that issues an op: the innermost one that is neither torch's nor this package's."""

import os
import sys

import torch

_OWN = (os.path.dirname(torch.__file__) + os.sep, os.path.dirname(__file__) + os.sep, "<frozen", "<string>")
_is_own = {}
_texts = {}


def place() -> str:
    """`file:line` of the line that is running outside of torch and `symm.remote`."""
    frame = sys._getframe(1)
    code = frame.f_code
    while True:
        own = _is_own.get(code)
        if own is None:
            own = _is_own[code] = code.co_filename.startswith(_OWN)
        if not own:
            break
        if frame.f_back is None:
            break
        frame = frame.f_back
        code = frame.f_code
    key = (code, frame.f_lasti)
    text = _texts.get(key)
    if text is None:
        text = _texts[key] = f"{code.co_filename}:{frame.f_lineno}"
    return text

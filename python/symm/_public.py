"""The names under which users know the methods of a World and a Team, for Python's own messages and for ours."""

from __future__ import annotations

import inspect
import types
from typing import TypeVar

Class = TypeVar("Class", bound=type)


def public(cls: Class) -> Class:
    """Makes the methods that a class has from others its own: Python names one by where it is defined."""
    for name, method in inspect.getmembers(cls, inspect.isfunction):
        if name.startswith("_") or name in vars(cls) or not method.__module__.startswith(f"{__package__}."):
            continue
        made = types.FunctionType(method.__code__, method.__globals__, name, method.__defaults__, method.__closure__)
        made.__kwdefaults__, made.__annotations__ = method.__kwdefaults__, method.__annotations__
        made.__doc__, made.__module__, made.__qualname__ = method.__doc__, method.__module__, f"{cls.__name__}.{name}"
        setattr(cls, name, made)
    return cls

"""Iris' logger: what `Iris.info` and its like write, with the rank in front."""

import logging
from logging import DEBUG, ERROR, INFO, WARNING

from .._memory import text_of
from ..errors import ArgumentError

__all__ = ["DEBUG", "ERROR", "INFO", "WARNING", "logger", "set_logger_level"]

logger = logging.getLogger("symm.iris")
if not logger.handlers:
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("[Iris] %(message)s"))
    logger.addHandler(handler)
    logger.setLevel(INFO)
    # Iris programs configure no logging: what the root logger prints would be there twice.
    logger.propagate = False


def set_logger_level(level: int) -> None:
    """From which level on messages are written: `iris.DEBUG`, `iris.INFO` (at first), `iris.WARNING`, `iris.ERROR`."""
    try:
        logger.setLevel(level)
    except (TypeError, ValueError):
        message = f"set_logger_level: level must be iris.DEBUG, INFO, WARNING or ERROR, not {text_of(level)}"
        raise ArgumentError(message) from None

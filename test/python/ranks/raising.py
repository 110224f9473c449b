"""Calls that symm refuses."""

from symm import errors


def raises(kind, text, function, *arguments, **keywords):
    """A call that raises an error of exactly this class, with this text in it."""
    try:
        function(*arguments, **keywords)
    except errors.SymmError as error:
        assert type(error) is kind and text in str(error), repr(error)
    else:
        raise AssertionError(f"no {kind.__name__}: {text}")

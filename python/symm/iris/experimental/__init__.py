"""Where Iris keeps its interface for Gluon: `import symm.iris.experimental.iris_gluon as iris_gl`."""

from . import iris_gluon

__all__ = ["iris_gluon"]

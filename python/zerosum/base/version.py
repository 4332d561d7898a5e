"""The version of the program, which is that of its core."""

from zerosum._core import __version__ as __version__

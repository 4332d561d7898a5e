"""The application: its name, its version, and the messages of errors."""

from __future__ import annotations

import contextlib
import errno
import faulthandler
import importlib.util
import io
import os
import shutil
import sys
from typing import Annotated

import typer

from zerosum.base.errors import ZerosumError, printable
from zerosum.cli.interrupts import end_at_interrupt, raise_at_interrupt

NARROW = 80
"""Columns of a terminal below which help is plain text."""

app = typer.Typer(
    name="zerosum",
    help="AlphaZero for any two-player board game: learn it, play it, measure it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line."""
    # Tables would cut names.
    app.rich_markup_mode = None if shutil.get_terminal_size().columns < NARROW else "markdown"
    if sys.__stderr__ is not None:
        faulthandler.enable(sys.__stderr__)  # a crash in a library prints its caller
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Readers of a pipe get each line at once, in UTF-8 whatever the locale is, because records and JSON are.
        # Characters that a terminal cannot write are escaped.
        encoding = None if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, line_buffering=True, errors="backslashreplace")
    end_at_interrupt()
    try:
        try:
            app(standalone_mode=True)
        finally:
            if sys.stdout is not None:
                sys.stdout.flush()
    except ZerosumError as error:
        print(f"zerosum: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except UnicodeEncodeError as error:
        if not any(error.object in word for word in sys.argv):
            raise
        print(
            f"zerosum: {error.object!r} is not text in {sys.getfilesystemencoding()}: type it again.", file=sys.stderr
        )
        raise SystemExit(2) from None
    except BrokenPipeError:
        raise SystemExit(1) from None
    except ImportError as error:
        if missing := missing_package(error):
            print(f"zerosum: {' '.join([_command(), missing])}", file=sys.stderr)
            raise SystemExit(2) from None
        # If memory is short, loading a library fails as if the library were missing.
        what = str(error).partition("\n")[0] or type(error).__name__
        print(
            f"zerosum: a part of the program could not be loaded ({printable(what)}). Check that there is enough memory"
            " (ulimit -v, other programs), or install zerosum again.",
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    except (MemoryError, RuntimeError) as error:
        from zerosum.network.evaluators.batch_limit import is_out_of_memory

        if not is_out_of_memory(error):
            raise
        print("zerosum: there is not memory enough. End other programs, or allow more (ulimit -v).", file=sys.stderr)
        raise SystemExit(2) from None
    except OSError as error:
        if error.filename is None:
            if error.errno not in NO_SPACE:
                raise
            _abandon_output()
            print(
                f"zerosum: the output cannot be written: {error.strerror}. Free some space, or name another file.",
                file=sys.stderr,
            )
            raise SystemExit(2) from None
        print(
            f"zerosum: {error.filename} cannot be used: {error.strerror}. Check its name and permissions.",
            file=sys.stderr,
        )
        raise SystemExit(2) from None


EXTRAS = {
    "train": ("torch", "tensorboard"),
    "web": ("starlette", "uvicorn", "websockets"),
    "plot": ("matplotlib",),
    "onnx": ("onnx", "onnxscript"),
    "tune": ("optuna", "scipy"),
    "cluster": ("ray",),
    "openspiel": ("pyspiel",),
}
"""The optional parts of the installation, and the modules of each."""
NAMES = {"torch": "PyTorch", "tensorboard": "TensorBoard", "ray": "Ray", "pyspiel": "OpenSpiel", "optuna": "Optuna"}


def missing_package(error: ImportError) -> str:
    """What an import lacks and the command that installs it; "" if no package of a part is missing."""
    module = (error.name or "").partition(".")[0]
    extra = next((extra for extra, modules in EXTRAS.items() if module in modules), "")
    if not extra or importlib.util.find_spec(module) is not None:
        return ""
    return f"needs {NAMES.get(module, module)}, which is not installed: pip install 'zerosum[{extra}]'."


def _command() -> str:
    """The command's name, as the user has given it."""
    return next((word for word in sys.argv[1:] if not word.startswith("-")), "the program")


NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of a disk that takes no more."""


def _abandon_output() -> None:
    """Direct standard output to nowhere: the interpreter flushes it at its end, and would print a traceback."""
    with contextlib.suppress(OSError, ValueError, AttributeError), open(os.devnull, "w") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _print_version(is_asked: bool) -> None:
    if is_asked:
        from zerosum.base.version import __version__

        print(__version__)
        raise typer.Exit


@app.callback()
def _zerosum(
    version: Annotated[
        # Eager, because the missing command is otherwise reported first.
        bool,
        typer.Option(
            "--version", metavar="", callback=_print_version, is_eager=True, help="Print the version and stop."
        ),
    ] = False,
) -> None:
    raise_at_interrupt()

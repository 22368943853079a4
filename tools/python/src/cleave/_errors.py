"""The library's status codes as exceptions."""

from typing import Any

from ._native import ffi, lib


class Error(Exception):
    """Whatever libcleave refuses or fails at. `exit_code` is what the command `cleave` would have ended with."""

    exit_code = 70


class UsageError(Error, ValueError):
    """An argument is out of its range, or of the wrong shape."""


class DataError(Error, ValueError):
    """The content of a file or an array is wrong."""


class InputError(Error, OSError):
    """A file is missing or cannot be read."""


class OutputError(Error, OSError):
    """A file cannot be written, or the operating system failed otherwise."""


class OutOfMemory(Error, MemoryError):
    """An allocation failed, or the work needs more memory than there is."""


class InternalError(Error):
    """A bug in cleave."""


_KINDS = {
    lib.CLV_ERR_USAGE: UsageError,
    lib.CLV_ERR_DATA: DataError,
    lib.CLV_ERR_NO_INPUT: InputError,
    lib.CLV_ERR_MEMORY: OutOfMemory,
    lib.CLV_ERR_OS: OutputError,
    lib.CLV_ERR_CREATE: OutputError,
    lib.CLV_ERR_IO: OutputError,
    lib.CLV_ERR_INTERRUPTED: KeyboardInterrupt,
}


def call(function: Any, *arguments: Any) -> None:
    """Calls a function of the library that takes a struct clv_error last, and raises what it reports."""
    error = ffi.new("struct clv_error *")
    status = function(*arguments, error)
    if status != lib.CLV_OK:
        raised = _KINDS.get(status, InternalError)(ffi.string(error.message).decode(errors="replace"))
        raised.exit_code = lib.clv_status_exit_code(status)
        raise raised

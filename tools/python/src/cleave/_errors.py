"""The library's status codes as exceptions."""

import errno
import os
from typing import Any, Dict, Optional, Tuple, Type, Union

from ._native import ffi, lib

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]


class Error(Exception):
    """Whatever libcleave refuses or fails at. `exit_code` is what the command `cleave` would have ended with; `path` is
    the file or folder that the message begins with, or None."""

    exit_code = 70
    path: Optional[str] = None

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""

    def __reduce__(self) -> Tuple[Any, ...]:
        kept = {name: getattr(self, name) for name in ("exit_code", "path", "errno", "filename") if hasattr(self, name)}
        return type(self), self.args, kept


class UsageError(Error, ValueError):
    """An argument is out of its range, or of the wrong shape or type."""

    exit_code = 64


class DataError(Error, ValueError):
    """The content of a file or an array is wrong."""


class InputError(Error, OSError):
    """A file cannot be read."""


class MissingFileError(InputError, FileNotFoundError):
    """A file does not exist: see `errno` and `filename`."""


class OutputError(Error, OSError):
    """A file cannot be written, or the operating system failed otherwise."""


class OutOfMemory(Error, MemoryError):
    """An allocation failed, or the work needs more memory than there is."""


class InternalError(Error):
    """A bug in cleave."""


def as_text(name: str, text: str) -> bytes:
    """The bytes of a text for the library. A zero byte, which would end it, is refused."""
    if "\0" in text:
        raise UsageError(f"{name} is {text!r}, which has a zero byte in it; leave it out")
    return text.encode()


def as_path(path: Path) -> bytes:
    """The bytes of a path. All paths for the library go through this function."""
    name = os.fsencode(path)
    if b"\0" in name:
        raise UsageError(f"{path!r} is not a path: it has a zero byte in it")
    return name


_KINDS: Dict[int, Type[BaseException]] = {
    lib.CLV_ERR_USAGE: UsageError,
    lib.CLV_ERR_DATA: DataError,
    lib.CLV_ERR_NO_INPUT: InputError,
    lib.CLV_ERR_MEMORY: OutOfMemory,
    lib.CLV_ERR_OS: OutputError,
    lib.CLV_ERR_CREATE: OutputError,
    lib.CLV_ERR_IO: OutputError,
    lib.CLV_ERR_INTERRUPTED: KeyboardInterrupt,
}


def _raised(status: int, number: int, message: bytes, path_length: int, given: Optional[Path]) -> BaseException:
    kind = _KINDS.get(status, InternalError)
    if kind is InputError and number == errno.ENOENT:
        kind = MissingFileError
    raised = kind(message.decode(errors="replace"))
    path = os.fsdecode(message[:path_length]) or None
    if isinstance(raised, Error):
        raised.exit_code = lib.clv_status_exit_code(status)
        raised.path = path
    if isinstance(raised, OSError) and number:
        raised.errno = number
        raised.strerror = os.strerror(number)
        # A file of a dataset is not the argument; the message begins with its path.
        raised.filename = path or (None if given is None else os.fsdecode(given))
    return raised


def failure(status: int, message: bytes, path: bytes) -> BaseException:
    """The exception that `call` would raise for a status; its message may begin with the path."""
    return _raised(status, 0, message, len(path) if message.startswith(path + b": ") else 0, None)


def call(function: Any, *arguments: Any, path: Optional[Path] = None) -> None:
    """Calls a function of the library that takes a struct clv_error last, and raises what it reports. `path`: the file
    that it is about."""
    error = ffi.new("struct clv_error *")
    status = function(*arguments, error)
    if status != lib.CLV_OK:
        raise _raised(status, error.os_errno, ffi.string(error.message), error.path_length, path)

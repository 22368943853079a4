"""Options by their names: the rows of a struct's table, as keywords of Python."""

import os
import re
from typing import Any, Callable, Container, Dict, List, Mapping, Tuple

import numpy as np

from ._errors import Path, UsageError, as_path, as_text, call
from ._native import ffi, lib


def rows_of(row_at: Callable[[int], Any]) -> Dict[str, Any]:
    """The keywords of a table with their rows. row_at is a function like clv_train_option_at."""
    rows: Dict[str, Any] = {}
    index = 0
    while row_at(index) != ffi.NULL:
        row = row_at(index)
        rows[ffi.string(row.name).decode().replace("-", "_")] = row
        index += 1
    return rows


def helps(rows: Mapping[str, Any]) -> Dict[str, str]:
    """The purpose of each keyword."""
    return {name: ffi.string(row.help).decode() for name, row in rows.items()}


def by_keyword(note: str, names: Container[str]) -> str:
    """A message of the command, with keywords: --stages 2 becomes stages=2, --pairwise full becomes pairwise='full'."""

    def keyword(found: "re.Match[str]") -> str:
        name = found[1].replace("-", "_")
        value = found[2] if not found[2] or found[2][0].isdigit() else repr(found[2])
        return found[0] if name not in names else f"{name}={value}" if value else name

    return re.sub(r"--([a-z]+(?:-[a-z]+)*)(?: ([0-9.]+|(?:none|potts|full|patches|mssvm|min-loss|coco)\b))?", keyword, note)


def typed(name: str, value: Any) -> bytes:
    """A value as it is typed after the command's option."""
    if isinstance(value, (str, bytes, os.PathLike)):
        return as_path(value)
    if isinstance(value, (list, tuple)):
        return b",".join(typed(name, part) for part in value)
    if not isinstance(value, (int, float, np.number)):
        raise UsageError(f"{name} is {value!r}; a text, a number or a list of these is needed, for files their paths")
    return str(value).encode()


def set_options(native: Any, rows: Mapping[str, Any], given: Mapping[str, Any]) -> Tuple[List[Any], Dict[str, Any]]:
    """Sets the options of the rows; returns the objects that must live as long, and the other arguments. None and False: not given."""
    keep: List[Any] = []
    rest: Dict[str, Any] = {}
    for name, value in given.items():
        value = bool(value) if isinstance(value, np.bool_) else value
        if name not in rows:
            rest[name] = value
        elif value is not None and value is not False:
            has_value = rows[name].argument != ffi.NULL
            if has_value == (value is True):
                raise UsageError(f"{name} is {value!r}, must be {'a value' if has_value else 'True or False'}")
            keep.append(ffi.new("char[]", typed(name, value)) if has_value else ffi.NULL)
            try:
                call(lib.clv_option_set, native, rows[name], keep[-1])
            except UsageError as error:
                raise UsageError(str(error).replace(f"--{name.replace('_', '-')}", name, 1)) from None
    return keep, rest


def set_maps(native: Any, row: Any, maps: Mapping[str, Path]) -> List[Any]:
    """Sets folders of maps by the row of --maps; returns what must live as long as the options."""
    keep: List[Any] = []
    for name, folder in maps.items():
        if not isinstance(folder, (str, bytes, os.PathLike)):
            raise UsageError(f"maps: {name} is a {type(folder).__name__}; of files it is a folder")
        keep.append(ffi.new("char[]", as_text("maps", name) + b"=" + as_path(folder)))
        call(lib.clv_option_set, native, row, keep[-1])
    return keep

"""Compiles cleave._native, the package's door to libcleave, with cffi in API mode.

The library is found by pkg-config (PKG_CONFIG_PATH); setup.py calls this.
"""

import pathlib
import shlex
import subprocess
import sys

import cffi

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from declarations import declarations  # noqa: E402


def _pkg_config(*arguments):
    return shlex.split(subprocess.run(["pkg-config", *arguments, "cleave"], check=True, capture_output=True, text=True).stdout)


def _with(letter, flags):
    return [flag[2:] for flag in flags if flag.startswith("-" + letter)]


_cflags, _libs = _pkg_config("--cflags"), _pkg_config("--libs")
# pkg-config omits the system's folder.
_include = _with("I", _cflags) + _pkg_config("--variable=includedir")

ffi = cffi.FFI()
ffi.cdef(declarations(next(folder for folder in _include if (pathlib.Path(folder) / "cleave.h").is_file())))
ffi.cdef('extern "Python" void cleave_report(void *, const char *, size_t, size_t, const char *);')
ffi.cdef('extern "Python" void cleave_notify(void *, enum clv_message, const char *);')
ffi.cdef('extern "Python" void cleave_settled(void *, const struct clv_file_outcome *);')
ffi.set_source("cleave._native", "#include <cleave.h>\n", include_dirs=_with("I", _cflags),
               library_dirs=_with("L", _libs), libraries=_with("l", _libs),
               extra_compile_args=["-Wno-incompatible-pointer-types"])

if __name__ == "__main__":
    ffi.compile(verbose=True)

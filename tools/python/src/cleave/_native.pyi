"""What build_native.py compiles."""

from typing import Any, Callable, TypeVar

_F = TypeVar("_F", bound=Callable[..., None])

class _Ffi:
    def def_extern(self) -> Callable[[_F], _F]: ...
    def __getattr__(self, name: str) -> Any: ...

ffi: _Ffi
lib: Any

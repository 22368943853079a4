"""Long work: its progress, and Ctrl-C."""

import threading
from typing import Any, Callable, Dict, List, Optional

from ._errors import UsageError, call
from ._native import ffi, lib

Progress = Callable[[str, int, int], None]


class Work:
    """One piece of long work: its struct clv_progress, and what the caller's function raised."""

    def __init__(self, progress: Optional[Progress]) -> None:
        if progress is not None and not callable(progress):
            raise UsageError(f"progress is {progress!r}, a function is needed, that is called as progress(stage, done, total)")
        self._progress = progress
        self.raised: Optional[BaseException] = None
        self.notes: List[str] = []
        self.stop_flag = ffi.new("int *")
        self.handle = ffi.new_handle(self)
        self.native = ffi.new("struct clv_progress *", {
            "report": lib.cleave_report if progress else ffi.NULL, "context": self.handle, "stop": self.stop_flag,
            "notify": lib.cleave_notify})

    def stop(self) -> None:
        self.stop_flag[0] = 1

    def report(self, what: str, done: int, total: int) -> None:
        try:
            if self._progress and not self.raised:
                self._progress(what, done, total)
        except BaseException as raised:  # the caller's thread raises it again
            self.raised = raised
            self.stop()

    def run(self, function: Callable[[], Any]) -> Any:
        """Runs the function on a separate thread, so that Ctrl-C is noticed. A first one stops the work, which then ends by itself."""
        outcome: Dict[str, Any] = {}
        done = threading.Event()

        def work() -> None:
            try:
                outcome["value"] = function()
            except BaseException as raised:
                outcome["raised"] = raised
            done.set()

        worker = threading.Thread(target=work, name="cleave")
        worker.start()
        while not done.is_set():
            try:
                done.wait(0.2)  # a signal that another thread received is handled then
            except KeyboardInterrupt:
                self.stop()
        worker.join()
        if self.raised:
            raise self.raised
        if "raised" in outcome:
            raise outcome["raised"]
        return outcome["value"]


def call_apart(function: Any, *arguments: Any, keep: Any = None) -> None:
    """`call` for what takes long and knows of no stopping: Ctrl-C is heard at once, and the library then goes on by itself to an end
    that nobody sees. So arguments, and what they point into (`keep`), must be the call's own, freed by nobody but the collector."""
    if threading.current_thread() is not threading.main_thread():  # only the main thread receives signals
        call(function, *arguments)
        return
    outcome: List[BaseException] = []
    done = threading.Event()

    def work(_kept: Any = keep) -> None:
        try:
            call(function, *arguments)
        except BaseException as raised:
            outcome.append(raised)
        done.set()

    worker = threading.Thread(target=work, name="cleave", daemon=True)
    worker.start()
    while not done.wait(0.2):  # a signal that another thread received is handled then
        pass
    worker.join()
    if outcome:
        raise outcome.pop()


@ffi.def_extern()
def cleave_report(context: Any, what: Any, done: int, total: int, _note: Any) -> None:
    ffi.from_handle(context).report(ffi.string(what).decode(errors="replace"), done, total)


@ffi.def_extern()
def cleave_notify(context: Any, kind: int, text: Any) -> None:
    if kind != lib.CLV_SUMMARY:
        ffi.from_handle(context).notes.append(ffi.string(text).decode(errors="replace"))

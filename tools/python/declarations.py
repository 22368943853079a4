"""The public headers as cffi reads them: what a compiler's preprocessor would do to them, and no more.

Every struct, constant and function comes from include/cleave.h itself, so that nothing is declared twice.
"""

import pathlib
import re


def _without_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def _lines(header, seen):
    """The lines of a header with those of the cleave headers that it includes, each header once."""
    if header in seen:
        return
    seen.add(header)
    in_cplusplus = False
    for line in _without_comments(header.read_text()).replace("\\\n", " ").splitlines():
        directive = re.match(r"\s*#\s*(\w+)\s*(.*)", line)
        if not directive:
            if not in_cplusplus:
                yield line
            continue
        word, rest = directive.groups()
        if word == "ifdef" and rest.strip() == "__cplusplus":
            in_cplusplus = True
        elif word == "endif":
            in_cplusplus = False
        elif word == "include" and rest.startswith('"cleave/'):
            root = header.parent if header.parent.name != "cleave" else header.parent.parent
            yield from _lines(root / rest.split('"')[1], seen)
        elif word == "define" and re.fullmatch(r"\w+\s+-?\(?-?\d+\)?\s*", rest):
            name, value = rest.split(None, 1)
            yield f"#define {name} {value.strip().strip('()')}"


def declarations(include):
    """The declarations for ffi.cdef, from the folder that holds cleave.h."""
    text = "\n".join(_lines(pathlib.Path(include) / "cleave.h", set()))
    text = re.sub(r"\b(CLV_API|CLV_CHECK)\b", "", text)
    text = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", text)
    # cffi 1.15 writes pointers to arrays of const back as functions.
    text = re.sub(r"\bconst (\w+) (\(\*\w+\)\[)", r"\1 \2", text)
    text = re.sub(r"\*const (\(\*\w+\)\[)", r"*\1", text)
    return re.sub(r"static inline[^;{]*\{.*?\n\}", "", text, flags=re.S)

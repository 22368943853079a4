"""Draws mutants of src/*.c, only in bodies of functions: a statement deleted, a comparison turned, a constant, sign or index
changed, arguments swapped, a condition negated. Which mutants a seed draws depends only on the text around each of them, so that
changes elsewhere do not affect them."""
import glob
import hashlib
import os
import re

TOKEN = re.compile(r"""(?P<skip>//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*)|(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
|(?P<number>(?:\d|\.\d)(?:[eEpP][+-]|[\w.])*)|(?P<name>[A-Za-z_]\w*)
|(?P<sign><<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\.\.\.|[^\s\w])""", re.S | re.M | re.X)
TYPES = set("char short int long float double void bool struct enum union const static unsigned signed volatile _Atomic".split())
NO_STATEMENTS = TYPES | set("if for while switch do else return case default sizeof typedef".split())
NO_CALLS = set("if for while switch return sizeof defined _Alignof".split())
TURNED = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",),
          "&&": ("||",), "||": ("&&",)}
SIGNS = {"+": "-", "-": "+", "*": "/", "/": "*", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "<<": ">>", ">>": "<<",
         "&": "|", "|": "&"}
# Only a leak checker or a thread sanitizer notices that calls of these functions are missing.
SILENT = re.compile(r"(\w+_)?(free|release|close|fclose|destroy|lock|unlock|lock_release)$|(free|release)_\w+$")
# Two arguments mean the same in either order: a count and a size that are multiplied, numbers of which one is chosen, and texts
# or bytes if only their being equal matters. More memory than is used, or more room than a text begins with, is no fault.
MEMORY = {"array_alloc", "array_zalloc", "arena_alloc", "arena_zalloc", "text_init"}
COMMUTE = MEMORY - {"text_init"} | {"fmin", "fmax", "fminf", "fmaxf"}
COMPARE = {"strcmp", "strncmp", "strcasecmp", "memcmp"}


class Mutant:
    """A fault in one place of a file; `old` and `new` are the lines without indentation, `text` is the file."""

    def __init__(self, file, line, kind, old, new, text):
        self.file, self.kind, self.old, self.new, self.text = file, kind, old, new, text
        self.place = f"{file}:{line}"
        self.suites, self.key = [], None


class Place:
    """Edits (start, end, replacement) of a file, one of which is used."""

    def __init__(self, source, kind, *choices):
        self.source, self.kind, self.choices = source, kind, choices
        self.file, self.rank = source.file, None

    def set_rank(self, seed, seen):
        """Its place in the order of a seed: by its lines, and which of several with the same lines it is."""
        start, end = self.lines(self.choices[0])
        what = f"{self.file}\n{self.kind}\n{self.source.text[start:end]}\n{self.choices[0][0][0] - start}"
        seen[what] = seen.get(what, 0) + 1
        self.rank = hashlib.sha1(f"{seed}\n{what}\n{seen[what]}".encode("utf-8", "surrogateescape")).digest()

    def lines(self, edits):
        text = self.source.text
        end = text.find("\n", edits[-1][1])
        return text.rfind("\n", 0, edits[0][0]) + 1, len(text) if end < 0 else end

    def mutant(self):
        edits, text = self.choices[self.rank[-1] % len(self.choices)], self.source.text
        start, end = self.lines(edits)
        made, at = "", start
        for begin, stop, new in edits:
            made += text[at:begin] + new
            at = stop
        made += text[at:end]
        joined = [re.sub(r"\s+", " ", part).strip() for part in (text[start:end], made)]
        made += "\n" * (text.count("\n", start, end) - made.count("\n"))
        return Mutant(self.file, text.count("\n", 0, edits[0][0]) + 1, self.kind, *joined, text[:start] + made + text[end:])


class Source:
    """The tokens of a file, and its places."""

    def __init__(self, file):
        self.file, self.places = file, []
        with open(file, encoding="utf-8", errors="surrogateescape", newline="") as stream:
            self.text = stream.read()
        found = [m for m in TOKEN.finditer(self.text) if m.lastgroup != "skip"]
        self.words, self.kinds = [m.group() for m in found], [m.lastgroup for m in found]
        self.spans, self.partner, stack = [m.span() for m in found], {}, []
        for i, word in enumerate(self.words):
            if word in "([{" and self.kinds[i] == "sign":
                stack.append(i)
            elif word in ")]}" and self.kinds[i] == "sign":
                self.partner[i] = stack.pop()
                self.partner[self.partner[i]] = i
        i = 0
        while i < len(self.words):
            if self.words[i] == "{":
                if self.words[i - 1] == ")":
                    self.body(i, self.partner[i])
                i = self.partner[i]
            i += 1

    def add(self, kind, *choices):
        self.places.append(Place(self, kind, *choices))

    def opens_block(self, i):
        """Whether the brace holds statements, not an initialiser."""
        before = self.words[i - 1]
        if before == ")":
            return self.words[self.partner[i - 1] - 1] in ("if", "for", "while", "switch")
        return before in ("else", "do", ";", "{", "}", ":")

    def starts_statement(self, i, blocks):
        before = self.words[i - 1]
        if before in ("{", "}"):
            brace = i - 1 if before == "{" else self.partner[i - 1]
            return brace in blocks
        if before == ")":
            return self.words[self.partner[i - 1] - 1] in ("if", "for", "while", "switch")
        return before in (";", "else", "do")

    def statement(self, i):
        """The end of the statement that starts at token i, and whether it is a declaration."""
        end = i
        while self.words[end] != ";":
            end = self.partner.get(end, end) + 1 if self.words[end] in ("(", "[", "{") else end + 1
            if end >= len(self.words) or self.words[end] == "}":
                return None, False
        declares = self.words[i] in TYPES or (self.kinds[i] == self.kinds[i + 1] == "name")
        return end, declares

    def declarators(self, i, stop):
        """The tokens of a declaration except its initial values."""
        found, gives = set(), False
        while i < stop:
            gives = self.words[i] == "=" or gives and self.words[i] != ","
            after = self.partner.get(i, i) + 1
            if not gives:
                found.update(range(i, after))
            i = after
        return found

    def body(self, first, last):
        blocks, in_parens, self.in_memory = {first}, 0, 0  # the token that ends a call in MEMORY
        declarators = set()
        for i in range(first + 1, last):
            word, (start, end) = self.words[i], self.spans[i]
            if word == "{" and self.opens_block(i):
                blocks.add(i)
            in_parens += (word == "(") - (word == ")")
            if in_parens == 0 and self.starts_statement(i, blocks) and word not in ("{", "}", ";"):
                stop, declares = self.statement(i) if word not in NO_STATEMENTS - TYPES else (None, False)
                if stop and declares:
                    declarators = self.declarators(i, stop)
                elif stop and not (SILENT.match(word) and self.words[i + 1] == "("):
                    self.add("statement deleted", [(start, self.spans[stop][1], ";")])
            self.token(i, word, start, end, i in declarators)

    def token(self, i, word, start, end, declares):
        before, kind = self.words[i - 1], self.kinds[i]
        is_value = self.kinds[i - 1] in ("name", "number") and before not in ("return", "case") or before in (")", "]")
        if kind == "number":
            if not declares and not (before == "{" and self.words[i + 1] == "}") and i > self.in_memory:
                self.number(word, start, end)
        elif word in ("true", "false"):
            self.add("constant", [(start, end, "false" if word == "true" else "true")])
        elif kind == "name":
            if self.words[i + 1] == "(" and word not in NO_CALLS and word not in COMMUTE:
                self.call(i + 1, self.is_compared(i))
            if self.words[i + 1] == "(" and word in MEMORY:
                self.in_memory = max(self.in_memory, self.partner[i + 1])
            if word in ("if", "while") and self.words[i + 1] == "(":
                close = self.spans[self.partner[i + 1]][0]
                self.add("condition negated", [(self.spans[i + 1][1],) * 2 + ("!(",), (close, close, ")")])
        elif kind == "sign" and word in TURNED:
            self.add("comparison turned" if word not in ("&&", "||") else "condition", *[[(start, end, new)] for new in TURNED[word]])
        elif kind == "sign" and word in SIGNS and (is_value or "=" in word):
            self.add("sign", [(start, end, SIGNS[word])])
        elif word == "-":
            self.add("sign", [(start, end, "")])
        elif word == "[" and is_value and self.partner[i] > i + 1 and not declares:
            close = self.spans[self.partner[i]][0]
            inside = self.text[end:close]
            self.add("index", *[[(end, close, f"({inside}) {by} 1")] for by in ("+-" if inside != "0" else "+")])

    def number(self, word, start, end):
        if re.match(r"0[xX]|\d+[uUlL]*$", word):
            changes = [f"({word} + 1)"] + ([f"({word} - 1)"] if not re.match(r"0[uUlL]*$", word) else [])
        else:
            is_zero = not re.search(r"[1-9]", re.split("[eE]", word)[0])
            changes = ["1."] if is_zero else [f"({word} * 2)", f"({word} * .5)"]
        self.add("constant", *[[(start, end, change)] for change in changes])

    def is_compared(self, i):
        """Whether the call at token i tells only that two texts are equal."""
        after = self.words[self.partner[i + 1] + 1:][:2]
        return self.words[i] in COMPARE and (self.words[i - 1] == "!" or after in (["==", "0"], ["!=", "0"]))

    def call(self, i, is_compared):
        """Two arguments next to each other, swapped, but for two texts that are compared."""
        cuts, k = [self.spans[i][1]], i + 1
        while k < self.partner[i]:
            if self.words[k] == ",":
                cuts.append(self.spans[k][0])
                cuts.append(self.spans[k][1])
            k = self.partner[k] + 1 if self.words[k] in ("(", "[", "{") else k + 1
        cuts.append(self.spans[self.partner[i]][0])
        parts = [(cuts[k], cuts[k + 1], self.text[cuts[k]:cuts[k + 1]].strip()) for k in range(0, len(cuts), 2)]
        choices = [[(a[0], a[1], b[2]), (b[0], b[1], " " + a[2])]
                   for a, b in list(zip(parts, parts[1:]))[1 if is_compared else 0:] if a[2] != b[2]]
        if choices:
            self.add("arguments swapped", *choices)


def draw(size, seed, folders):
    """For each folder of src/, its number of the `size` mutants, and all its places in the order of the seed."""
    files = sorted(glob.glob("src/**/*.c", recursive=True))
    if folders:
        files = [file for file in files if any(file.startswith(f"src/{name.strip('/')}/") for name in folders)]
    sources = [Source(file) for file in files]
    lines, places = {}, {}
    for source in sources:
        folder, seen = "/".join(source.file.split("/")[:2]), {}
        lines[folder] = lines.get(folder, 0) + source.text.count("\n")
        for place in source.places:
            place.set_rank(seed, seen)
        places.setdefault(folder, []).extend(source.places)
    total = sum(lines.values())
    shares = {folder: size * n // total for folder, n in lines.items()}
    by_rest = sorted(lines, key=lambda folder: (-(size * lines[folder] % total), folder))
    for folder in by_rest[:size - sum(shares.values())]:
        shares[folder] += 1
    return {folder: (shares[folder], sorted(places[folder], key=lambda place: place.rank)) for folder in lines}


def main():
    """python3 tools/mutants.py SEED N [FOLDER..]: prints the mutants that are drawn, before any is compiled."""
    import sys
    for share, places in draw(int(sys.argv[2]), sys.argv[1], sys.argv[3:]).values():
        for mutant in (place.mutant() for place in places[:share]):
            print(f"{mutant.place}: {mutant.kind}\n- {mutant.old}\n+ {mutant.new}")


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    main()

# SPDX-License-Identifier: Apache-2.0
"""Finds the examples of a page, and says of what kind each is.

An example is an indented block. An HTML comment before the block, which a reader of the page does not see, can say more
about it:

    <!-- example: skip, REASON -->      a program that is not run
    <!-- example: text, REASON -->      no program: a picture, a log, an error
    <!-- example: slow -->              run by the whole check only
    <!-- example: file NAME -->         is written into this file, and checked as what it is
    <!-- example: setup, COMMANDS -->   shell commands that the check runs before the block
    <!-- example: output varies, REASON -->    the block is run, and its output is not compared
    <!-- example: status N, REASON -->         its commands may also end with this status
    <!-- example: without TEXT, REASON -->     commands with this text are not run
    <!-- example: with TEXT = COMMAND -->      TEXT stands for what the command prints
    <!-- example: given NAME: TYPE; … -->      the values that a part of a Swift program uses and does not declare
    <!-- example: at most N lines -->          a Swift program with at most N lines of code

scripts/check-apple compiles the blocks of Swift. One with `given` is the body of a function, below its imports, and any
other is a whole file.

Several comments may stand before one block. A block without a comment is judged by its first line.
"""

import dataclasses
import json
import re

SHELL = {
    "apt", "apt-get", "cat", "chmod", "chown", "cp", "crier", "curl", "echo", "export", "ffmpeg", "for", "git", "install",
    "kubectl", "make", "mkdir", "mv", "openssl", "podman", "printf", "runuser", "seq", "sudo", "systemctl",
}
COMMENT = re.compile(r"<!-- example: (skip|text|slow|file|setup|output varies|status|without|with|given|at most)\b[, ]*(.*?) *-->", re.DOTALL)
# The text between the two parts of a comment.
NEEDED = {"without": ", ", "with": " = ", "given": ": "}
SHOWN_FILE = re.compile(r"<!-- Deployment/(\S+) -->")


class Unclear(Exception):
    """A block or a comment that the check does not understand. The text says what to do."""


@dataclasses.dataclass
class Example:
    page: str
    line: int
    text: str
    kind: str
    reason: str = ""
    file: str = ""
    setup: str = ""
    is_slow: bool = False
    compares: bool = True
    status: int = 0
    without: dict = dataclasses.field(default_factory=dict)    # the reason by the text
    values: dict = dataclasses.field(default_factory=dict)     # the command by the text
    given: dict | None = None                                   # the type by the name
    most_lines: int | None = None

    @property
    def place(self):
        return f"{self.page}:{self.line}"


def kind(text):
    """Returns the kind of a block by its first line: sh, program languages, data formats, or None."""
    lines = [line for line in text.split("\n") if line.strip()]
    first = lines[0].strip()
    if first.startswith("#!"):
        return "script"
    if first.startswith("<?php"):
        return "php"
    if re.match(r"import java\b", first):
        return "java"
    if re.match(r"""(const|let|import) .*(require\(|from ['"])""", first):
        return "node"
    if re.match(r"(import [A-Z]\w+$|(@\w+ |nonisolated )*(final class|struct|enum|actor|extension|func|let|var|switch) |@main$)", first):
        return "swift"
    if re.match(r"(server|upstream|location\b.*) \{$", first):
        return "nginx"
    if re.match(r"(import |from |def |async def |class )[a-z]", first) or re.match(r"[a-z_]+ = \S", first):
        return "python"
    if re.match(r"(GET|POST|PUT|DELETE) /\S*( HTTP/1\.1)?$", first):
        return "http"
    if first.startswith("{") and any(line.startswith("crier: ") for line in lines):
        return "refusals"
    if re.match(r'(\{|\[ *\{|\[\]|"[\w.]+" *:)', first):
        return "json"
    if re.match(r"\[(Unit|Service|Timer|Install)\]$", first):
        return "systemd"
    if re.match(r"[a-z_]+(,[a-z_]+)+$", first):
        return "csv"
    if re.match(r"\$ \S", first):
        return "session"
    word = re.sub(r"^\(|^([A-Z_]+=\S* +)+", "", first).split(" ")[0]
    if word in SHELL or word.startswith(("scripts/", "/usr/")) or re.match(r"[A-Z_]+=\S", first):
        return "sh"
    if re.match(r"[a-z_]+:( |$)", first) and not first.startswith("crier:"):
        return "yaml"
    return None


def examples(page, text):
    """Returns the examples of a page in their order. Throws Unclear."""
    lines = text.split("\n")
    found, comments, number = [], "", 0
    while number < len(lines):
        line = lines[number]
        if line.lstrip().startswith("```"):
            raise Unclear(f"{page}:{number + 1}: indent the block by four spaces; blocks between fences are not checked.")
        if line.startswith("<!--"):
            begin = number
            while "-->" not in lines[number]:
                number += 1
            comments += "\n".join(lines[begin:number + 1]) + "\n"
            number += 1
        elif line.startswith("    ") and (number == 0 or not lines[number - 1].strip()):
            begin = number
            while number < len(lines) and (lines[number].startswith("    ") or not lines[number].strip()):
                number += 1
            block = "\n".join(line[4:] for line in lines[begin:number]).rstrip("\n ")
            # A block in a list item is indented further.
            indentation = min(len(line) - len(line.lstrip()) for line in block.split("\n") if line.strip())
            block = "\n".join(line[indentation:] for line in block.split("\n"))
            found.append(_example(page, begin + 1, block, comments))
            comments = ""
        else:
            if line.strip():
                if comments and "<!-- example" in comments:
                    raise Unclear(f"{page}:{number + 1}: a comment about an example stands before a paragraph; put it "
                                  "directly before the block.")
                comments = ""
            number += 1
    return found


def _example(page, line, text, comments):
    example = Example(page, line, text, kind(text) or "")
    if shown := SHOWN_FILE.search(comments):
        example.kind, example.reason = "shown", f"scripts/check-deployment compares it with Deployment/{shown.group(1)}"
    for word, rest in COMMENT.findall(comments):
        rest = rest.strip()
        values = rest.split(";") if word == "given" else [rest]
        if word != "slow" and not rest or any(NEEDED.get(word, "") not in value for value in values):
            raise Unclear(f"{example.place}: the comment {word!r} needs a reason, a name or commands after it.")
        if word in ("skip", "text"):
            example.kind, example.reason = word, rest
        elif word == "slow":
            example.is_slow = True
        elif word == "file":
            example.file = rest
        elif word == "setup":
            example.setup = rest
        elif word == "status":
            example.status = int(rest.split(",")[0])
        elif word == "at most":
            if not re.fullmatch(r"\d+ lines", rest):
                raise Unclear(f"{example.place}: write <!-- example: at most N lines -->.")
            example.most_lines = int(rest.removesuffix(" lines"))
        elif word == "without":
            name, reason = rest.split(", ", 1)
            example.without[name] = reason
        elif word == "given":
            example.given = dict(" ".join(value.split()).split(": ", 1) for value in values)
        elif word == "with":
            name, command = rest.split(" = ", 1)
            example.values[name] = command
        else:
            example.compares = False
    if comments.count("<!-- example") != len(COMMENT.findall(comments)):
        raise Unclear(f"{example.place}: a comment about this example has an unknown word; see Tests/examples/markdown.py.")
    if not example.kind:
        raise Unclear(f"{example.place}: it is not clear what this block is ({text.split(chr(10))[0][:40]!r}); put "
                      "<!-- example: text, REASON --> or <!-- example: skip, REASON --> before it.")
    return example


def commands(text, is_whole):
    """Returns the commands of a block of shell, each with all its lines. `is_whole` says whether a text is complete."""
    found, open_lines = [], []
    for line in text.split("\n"):
        if not open_lines and (not line.strip() or line.lstrip().startswith("#")):
            continue
        open_lines.append(line)
        if not line.endswith("\\") and is_whole("\n".join(open_lines)):
            found.append("\n".join(open_lines))
            open_lines = []
    if open_lines:
        raise Unclear(f"the command {open_lines[0][:40]!r} does not end")
    return found


def session(text):
    """Returns the commands after `$ ` of a block, each with the lines that it prints."""
    found = []
    for line in text.split("\n"):
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found[-1][0].endswith("\\"):
            found[-1] = (found[-1][0] + "\n" + line, [])
        else:
            found[-1][1].append(line)
    return found


def pattern(line):
    """Returns the pattern of a printed line: `…` stands for anything, and measured figures for any figures."""
    text = re.escape(line.rstrip()).replace("…", ".*")
    # Times, sizes and rates differ from machine to machine. Those of a clip do not, but are of the same form.
    return re.compile(re.sub(r"[\d,]+(\\\.\d+)?((?:\\ )?(?:s|ms|kB|MB|KiB|GiB|/s|LUFS)\b)", r"[\\d,.]+\2", text))


def missing(expected, printed):
    """Returns the first of the expected lines that was not printed, or None. Empty lines do not count."""
    lines = [line.rstrip() for line in printed.split("\n")]
    for line in expected:
        if line.strip() and not any(pattern(line).fullmatch(one) for one in lines):
            return line
    return None


def values(text):
    """Returns the JSON values of a block. `…` may stand for the rest of an object, of an array or of a text."""
    text = re.sub(r"([\[{])\s*…\s*([\]}])", r"\1\2", text)
    text = re.sub(r",\s*…\s*(?=[\]}])", "", text)
    if text.lstrip().startswith('"'):
        text = "{" + text.strip().rstrip(",") + "}"
    decoder, found, position = json.JSONDecoder(), [], 0
    while position < len(text):
        if text[position].isspace():
            position += 1
            continue
        value, position = decoder.raw_decode(text, position)
        found.append(value)
    return found


def swift(text):
    """Returns code of Swift in which `…` stands for left-out statements, as code that can be parsed."""
    return text.replace("…", "()")


def swift_file(example):
    """Returns a block of Swift as a whole file. The statements of a part of a program become the body of a function.

    Diagnostics of the compiler show the place in the page.
    """
    def located(line):
        return f'#sourceLocation(file: "{example.page}", line: {line})'

    lines = swift(example.text).split("\n")
    if example.given is None:
        return "\n".join([located(example.line), *lines, ""])
    body = max((number + 1 for number, line in enumerate(lines) if line.startswith("import ")), default=0)
    return "\n".join([located(example.line), *lines[:body], "func documented() async throws {",
                      located(example.line + body), *lines[body:], "}", ""])


def doc_comments(text):
    """Returns the doc comments of a Swift file as a page. Its lines have the numbers that they have in the file."""
    lines = [line.strip() for line in text.splitlines()]
    return "\n".join(re.sub("^/// ?", "", line) if line.startswith("///") else "" for line in lines)

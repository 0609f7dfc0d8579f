# SPDX-License-Identifier: Apache-2.0
"""Runs or parses each example of a page."""

import ast
import base64
import csv
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import time

import markdown
from running import Failed, SERVERS, Shell, is_whole, reason_not_to_run, wait

# Programs of Debian that an example may need. Without one, the example is not run.
OPTIONAL = ["ffmpeg", "flite", "text2wave", "sqlite3"]
ASTERISK = "/usr/share/asterisk/sounds"
# Programs that wait for requests are only parsed.
LISTENS = re.compile(r"serve_forever|createServer|\.listen\(|HttpServer|php://input|\$_SERVER")
SECRET = "whsec_" + base64.b64encode(b"examples of Crier, 24 by").decode()
# The text that stands for a value in the documents, and a value.
VALUES = [
    ("whsec_…", SECRET), ("44782DEF…", "44782DEF547AAA06C910C43932B1EB0C71FC68D9D0C057550C48EC2ACF6BA056"),
    ("acct_1NZ…", "acct_1NZ"), ('"32 characters"', '"0123456789abcdef0123456789abcdef"'), ("PUB_KEY_ID_0117…", "PUB_KEY_ID_0117"),
]


@dataclasses.dataclass
class Result:
    example: markdown.Example
    outcome: str          # run, parsed, not run, failed
    detail: str = ""
    seconds: float = 0


class Page:
    """The examples of one page, run in the order in which they stand there."""

    def __init__(self, name, text, folder, clone, environment, root, runs_slow):
        """`environment` is that of the shell. What the check itself calls also finds crier."""
        self.examples = markdown.examples(name, text)
        self.folder, self.root, self.runs_slow = folder, root, runs_slow
        folder.mkdir()
        self.shell = Shell(folder / "shell", clone, environment)
        self.environment = {**environment, "PATH": os.environ["PATH"]}
        self.has_sound = "CRIER_OUTPUT" not in environment
        self.clone = clone
        self.programs = 0

    def results(self):
        try:
            for example in self.examples:
                begin = time.monotonic()
                try:
                    outcome, detail = self._result(example)
                except (Failed, markdown.Unclear, OSError, subprocess.SubprocessError) as error:
                    outcome, detail = "failed", str(error)
                yield Result(example, outcome, detail, time.monotonic() - begin)
        finally:
            self.shell.end()

    def _result(self, example):
        if example.kind in ("skip", "text"):
            return "not run", example.reason
        if example.kind == "shown":
            return "parsed", example.reason
        if example.is_slow and not self.runs_slow:
            return "not run", "it is slow: make check-examples runs it"
        self.values = {}
        for program in OPTIONAL:
            if program in example.setup and not shutil.which(program):
                return "not run", f"{program} is not installed"
        if example.setup:
            status, printed = self.shell.run(self._concrete(example.setup), 120)
            if status != 0:
                raise Failed(f"its setup ended with status {status}: {printed[-600:]}")
        for shown, command in example.values.items():
            status, printed = self.shell.run(self._concrete(command))
            if status != 0 or not printed.strip():
                raise Failed(f"{command}: ended with status {status} and printed no value for {shown}: {printed[-600:]}")
            self.values[shown] = printed.strip()
        if example.file:
            path = self.shell.directory / example.file.replace("~", self.environment["HOME"], 1)
            path.write_text(self._concrete(example.text) + "\n", encoding="utf-8")
            path.chmod(0o600)
        return getattr(self, "_" + example.kind)(example)

    def _concrete(self, text):
        """Returns a text with values for what the documents leave out, and with the paths of this check."""
        for shown, value in [*self.values.items(), *VALUES]:
            text = text.replace(shown, value)
        for prefix in set(re.findall(r"\b(whe_)…", text)):
            if known := re.findall(rf"\b{prefix}[0-9a-f]+", self.shell.transcript):
                text = text.replace(prefix + "…", known[-1])
        text = text.replace("/usr/local/libexec/crier/backup", f"{self.root}/Deployment/backup")
        return text.replace("/usr/local/share/crier", str(self.root))

    # Shell

    def _sh(self, example):
        return self._commands(example, [(one, None) for one in markdown.commands(example.text, is_whole)])

    def _session(self, example):
        return self._commands(example, markdown.session(example.text))

    def _commands(self, example, commands):
        reasons, has_run = [], False
        for text, expected in commands:
            command = self._concrete(text)
            reason = reason_not_to_run(command)
            if reason is None and "…" in command:
                reason = "a part of it is left out (…)"
            for program in OPTIONAL:
                if reason is None and re.search(rf"\b{program}\b", command) and not shutil.which(program):
                    reason = f"{program} is not installed"
            reason = reason or next((why for part, why in example.without.items() if part in text), None)
            if reason is None and not self.has_sound and re.match(r"crier (play|preview)\b(?!.*(--output|--no-sound))", command):
                reason = "pulseaudio is not installed"
            if reason is None and ASTERISK in command and not os.path.isdir(ASTERISK):
                reason = "the sounds of Asterisk are not installed"
            if reason:
                reasons.append(f"{command.split(chr(10))[0][:60]}: {reason}")
                continue
            has_run = True
            if command.strip() == "make run":
                continue  # The check has started the service, and has run the command after `Try:`.
            if SERVERS.match(command):
                self.shell.serve(re.sub(r"\s+#.*", "", command))
                continue
            status, printed = self.shell.run(command, 1800 if example.is_slow else 300)
            if expected and example.compares:
                lines = self._concrete("\n".join(expected)).split("\n")
                if (line := markdown.missing(lines, printed)) is not None:
                    raise Failed(f"{command}: does not print this line: {line}\nIt prints:\n{printed[:1500]}")
            elif status not in (0, example.status):
                raise Failed(f"{command}: ended with status {status}: {printed[-1200:]}")
        return ("run" if has_run else "not run"), "; ".join(reasons)

    # Programs

    def _program(self, example, name, arguments, parsing, whole):
        """Runs a program with its arguments, or parses it if it is a part of one, or waits for requests."""
        if not shutil.which(parsing[0]):
            return "not run", f"{parsing[0]} is not installed"
        self.programs += 1
        folder = self.folder / f"program-{self.programs}"
        folder.mkdir()
        (folder / name).write_text(example.text + "\n", encoding="utf-8")
        self._do([*parsing, name], folder)
        if not whole or LISTENS.search(example.text):
            return "parsed", ""
        takes = re.search(r"\$1|sys\.argv|\$argv|process\.argv|String\[\] payment", example.text)
        id = f"{pathlib.Path(example.page).stem}-{example.line}"
        command = [*arguments, str(folder / name), *([id, "12.50", "USD"] if takes else [])]
        status, printed = self.shell.run(f"cd {folder}; {' '.join(command)}; status=$?; cd - >/dev/null; (exit $status)", 120)
        if status != 0:
            raise Failed(f"ended with status {status}: {printed[-1200:]}")
        return "run", ""

    def _do(self, command, folder, seconds=60):
        result = subprocess.run(
            command, cwd=folder, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=seconds)
        if result.returncode != 0:
            raise Failed(f"{' '.join(command)}: {(result.stderr + result.stdout)[-1200:]}")
        return result.stdout

    def _script(self, example):
        return self._program(example, "example.sh", ["sh"], ["sh", "-n"], True)

    def _php(self, example):
        return self._program(example, "example.php", ["php"], ["php", "-l"], True)

    def _java(self, example):
        return self._program(example, "Announce.java", ["java"], ["java", "--dry-run", "--source", "17"], True)

    def _node(self, example):
        return self._program(example, "example.mjs", ["node"], ["node", "--check"], True)

    def _python(self, example):
        try:
            ast.parse(example.text)
        except SyntaxError as error:
            raise Failed(f"line {error.lineno}: {error.msg}") from None
        if not example.text.startswith(("import ", "from ")):
            return "parsed", "a part of a program"
        return self._program(example, "example.py", ["python3"], ["python3", "-m", "py_compile"], True)

    def _swift(self, example):
        compiler = shutil.which("swiftc")
        if compiler is None:
            return "not run", "swiftc is not installed"
        path = self.folder / f"line-{example.line}.swift"
        path.write_text(markdown.swift(example.text), encoding="utf-8")
        library = ["-parse-as-library"] if "@main" in example.text else []
        self._do([compiler, "-parse", *library, str(path)], self.folder)
        return "parsed", ""

    # Data

    def _json(self, example):
        try:
            markdown.values(example.text)
        except ValueError as error:
            raise Failed(f"is not JSON: {error}") from None
        return "parsed", ""

    def _http(self, example):
        for part in re.findall(r"(?m)^\{.*?(?=\n\n|\Z)", example.text, re.DOTALL):
            try:
                markdown.values(part.split("\nPOST ")[0])
            except ValueError as error:
                raise Failed(f"is not JSON: {error}") from None
        return "parsed", ""

    def _csv(self, example):
        rows = list(csv.reader(example.text.split("\n")))
        if any(len(row) != len(rows[0]) for row in rows):
            raise Failed("has rows of different lengths")
        return "parsed", ""

    def _refusals(self, example):
        """Runs crier for payloads, each with the error that crier prints for it."""
        for pair in example.text.split("\n\n"):
            payload, expected = pair.split("\n", 1)
            result = subprocess.run(
                ["crier", "render", "-"], input=payload, env=self.environment, cwd=self.clone, capture_output=True, text=True,
                check=False, timeout=60)
            if result.returncode == 0 or markdown.missing([expected.replace("\n", " ")], result.stderr) is not None:
                raise Failed(f"{payload}: ended with status {result.returncode} and prints {result.stderr.strip()}")
        return "run", ""

    def _yaml(self, example):
        folder = self.folder / f"line-{example.line}"
        folder.mkdir(mode=0o700)
        text = self._concrete(example.text)
        for key in re.findall(r"\bkey: (\S+\.p8)", text):
            self._do(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key], folder)
            (folder / key).chmod(0o600)
        for authority in re.findall(r"\bca: (\S+)", text):
            self._do(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=example", "-keyout", "/dev/null",
                      "-out", authority], folder)
        if "BEGIN PUBLIC KEY" in text or "MIIBIjANBgkqh…" in text:
            self._do(["openssl", "genrsa", "-out", "private.pem", "2048"], folder)
            lines = self._do(["openssl", "rsa", "-in", "private.pem", "-pubout"], folder).splitlines()[1:-1]
            text = text.replace("MIIBIjANBgkqh…", "".join(lines))
            text = re.sub(r"(?m)^( +)…$", lambda match: "\n".join(match.group(1) + line for line in lines), text)
        if "verification:" in text:
            (folder / "mapping.yaml").write_text(text + "\n", encoding="utf-8")
            self._do(["crier", "providers", "check", "--samples", "mapping.yaml"], folder)
        elif "endpoints:" in text:
            (folder / "providers.yaml").write_text(text + "\n", encoding="utf-8")
            (folder / "providers.yaml").chmod(0o600)
            self._do(["crier", "providers", "list", "--home", str(folder)], folder)
        else:
            (folder / "crier.yaml").write_text(text + "\n", encoding="utf-8")
            self._do(["crier", "serve", "--print-config", "--home", str(folder)], folder)
        return "parsed", ""

    def _systemd(self, example):
        if wrong := [line for line in example.text.split("\n") if not re.match(r"\[\w+\]$|[A-Z]\w*=|#|$", line)]:
            raise Failed(f"is not a line of systemd's settings: {wrong[0]}")
        return "parsed", ""

    def _nginx(self, example):
        nginx = shutil.which("nginx") or "/usr/sbin/nginx"
        if not os.path.exists(nginx):
            return "not run", "nginx is not installed"
        folder = self.folder / f"line-{example.line}"
        folder.mkdir()
        text = example.text if example.text.startswith("server") else f"server {{ listen 80;\n{example.text}\n}}"
        self._do(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=shop.example", "-keyout",
                  "privkey.pem", "-out", "fullchain.pem"], folder)
        text = re.sub(r"/etc/letsencrypt/live/[\w.]+", str(folder), text)
        # The servers to which the examples pass requests are those of the whole site.
        servers = "".join(f"upstream {name} {{ server 127.0.0.1:1; }}\n" for name in ("crier", "backend"))
        (folder / "nginx.conf").write_text(
            f"pid {folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{servers}{text}\n}}\n", encoding="utf-8")
        self._do([nginx, "-t", "-q", "-e", f"{folder}/error.log", "-c", f"{folder}/nginx.conf"], folder)
        return "parsed", ""


def start_service(folder, clone, environment):
    """Starts the service of all pages and runs the command that it proposes. Returns the shell and the first key."""
    shell = Shell(folder, clone, environment)
    shell.serve("crier serve")
    home = pathlib.Path(environment["HOME"], ".local/share/crier")
    wait((home / "first-key.header").exists, 20, "the first key")
    wait(lambda: "Try: " in (folder / "1.out").read_text(), 20, "the line Try")
    command = re.search(r"(?m)^Try: (.*)$", (folder / "1.out").read_text()).group(1)
    status, printed = shell.run(command)
    if status != 0:
        raise Failed(f"the command after Try: {printed}")
    return shell, (home / "first-key").read_text().strip()

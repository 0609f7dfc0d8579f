# SPDX-License-Identifier: Apache-2.0
"""Runs commands of one page in one shell, with a deadline for each."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import time

# Programs that run until they are ended.
SERVERS = re.compile(r"(make run|crier serve(?!.*--print-config)|crier apns-simulator)\b")
# The words that keep a command from being run, and the reasons. The first of these words in a command counts.
NOT_RUN = {
    "apt": "it changes the packages of the machine", "apt-get": "it changes the packages of the machine",
    "systemctl": "it needs systemd", "timedatectl": "it needs systemd", "useradd": "it changes the users of the machine",
    "podman": "it needs podman and an image", "kubectl": "it needs a cluster", "git": "it needs a published repository",
    "make": "it builds for minutes", "swift": "it builds for minutes",
    "scripts/simulate-phone": "make check and make check-phone run it",
}
# The text that precedes the name of a program.
BEFORE = re.compile(r"[;&|(\n]|\bdo\b|\bsudo\b|\s--\s")


class Failed(Exception):
    """An example that did not work. The text says how."""


def reason_not_to_run(command):
    """Returns why a command is not run, or None."""
    if SERVERS.match(command):
        return None
    for part in BEFORE.split(command):
        words = [word for word in part.split() if not re.match(r"[A-Z_]+=", word)]
        if words and words[0] in NOT_RUN:
            return NOT_RUN[words[0]]
    return None


def is_whole(text):
    """Whether a text is a complete command of the shell."""
    result = subprocess.run(["bash", "-n"], input=text + "\n", text=True, capture_output=True, check=False)
    return result.returncode == 0 and "here-document" not in result.stderr


def wait(condition, seconds, what):
    """Returns the first true value of the condition. Throws Failed after the seconds."""
    deadline = time.monotonic() + seconds
    while True:
        if value := condition():
            return value
        if time.monotonic() > deadline:
            raise Failed(f"{what}: nothing after {seconds} s")
        time.sleep(0.02)


def accepts(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


class Shell:
    """A bash that keeps variables and the folder between commands, and ends with everything it has started."""

    def __init__(self, folder, directory, environment):
        self.folder = folder
        folder.mkdir()
        self.count = 0
        self.transcript = ""
        self.process = subprocess.Popen(
            ["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd=directory, env=environment, start_new_session=True)

    @property
    def directory(self):
        return pathlib.Path(os.readlink(f"/proc/{self.process.pid}/cwd"))

    def run(self, command, seconds=300):
        """Returns the exit status of a command, and what it printed on both outputs."""
        base = self._begin(command)
        self._send(f'. {base}.sh </dev/null >{base}.out 2>{base}.err; echo "$?" >{base}.end; mv {base}.end {base}.status')
        status = pathlib.Path(f"{base}.status")
        try:
            wait(lambda: status.exists() or self.process.poll() is not None, seconds, command.split("\n")[0])
        except Failed:
            for pid in self._members():
                if pid != self.process.pid:
                    os.kill(pid, signal.SIGKILL)
            raise
        if not status.exists():
            raise Failed(f"{command.split(chr(10))[0]}: it ended the shell")
        printed = self._printed(base)
        self.transcript += printed
        return int(status.read_text()), printed

    def serve(self, command, seconds=60):
        """Starts a server, and returns what it printed until it accepted connections."""
        base = self._begin(command)
        self._send(f". {base}.sh </dev/null >{base}.out 2>{base}.err & echo $! >{base}.end; mv {base}.end {base}.status")
        wait(pathlib.Path(f"{base}.status").exists, seconds, command)
        pid = int(pathlib.Path(f"{base}.status").read_text())
        port = re.search(r"--port (\d+)", command)

        def is_ready():
            try:
                state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
            except OSError:
                state = "Z"
            if state == "Z":
                raise Failed(f"{command}: it ended: {self._printed(base)[-600:]}")
            said = re.search(r"listening on|https://localhost:\d+", self._printed(base))
            return said and (port is None or accepts(int(port.group(1))))
        wait(is_ready, seconds, command)
        return self._printed(base)

    def end(self):
        """Ends the shell, and everything that was started in it."""
        self.process.stdin.close()
        for signal_number in (signal.SIGTERM, signal.SIGKILL):
            for pid in self._members():
                try:
                    os.kill(pid, signal_number)
                except ProcessLookupError:
                    pass
            try:
                wait(lambda: not self._members(), 5, "the end of the page's programs")
                break
            except Failed:
                continue
        self.process.wait(timeout=5)

    def _members(self):
        """Returns the processes of the shell's session, except those that have ended."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdecimal():
                continue
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[3]) == self.process.pid and fields[0] != "Z":
                found.append(int(entry.name))
        return found

    def _begin(self, command):
        self.count += 1
        base = self.folder / f"{self.count}"
        pathlib.Path(f"{base}.sh").write_text(command + "\n", encoding="utf-8")
        return base

    def _send(self, line):
        self.process.stdin.write((line + "\n").encode())
        self.process.stdin.flush()

    @staticmethod
    def _printed(base):
        return "".join(
            path.read_text(encoding="utf-8", errors="replace")
            for path in (pathlib.Path(f"{base}.out"), pathlib.Path(f"{base}.err")) if path.exists())

# SPDX-License-Identifier: Apache-2.0
"""A real process of the phone: the notification extension, or the app that was opened. It speaks lines of JSON."""

import asyncio
import contextlib
import json
import os
import pathlib
import signal

# The longest line that a process may print.
LONGEST_LINE = 1 << 20


class PhoneProcess:
    """A running process. The owner is told of its lines by `on_line(process, line)`, and of its end by `on_end`."""

    def __init__(self, number, role, command, log, on_line, on_end):
        self.number = number
        self.role = role
        self.command = command
        self.log = log
        self.open = {}
        self.is_running = True
        self.is_ready = False
        self.is_suspended = False
        # Why the phone ended the process; None if it ended by itself.
        self.reason = None
        self.peak_dirty_kb = 0
        self.idle_timer = None
        self._on_line = on_line
        self._on_end = on_end
        self._process = None
        self._unsent = []
        self._closes = False
        self.task = asyncio.ensure_future(self._run())

    async def _run(self):
        # A write to a process that has just been killed fails; its end is told by the end of its output.
        status = None
        try:
            with open(self.log, "ab") as log:
                self._process = await asyncio.create_subprocess_exec(
                    *self.command,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=asyncio.subprocess.PIPE,
                    stderr=log,
                    limit=LONGEST_LINE,
                )
            if self.reason:
                self._signal(signal.SIGKILL)
            for line in self._unsent:
                self._write(line)
            self._unsent = []
            if self._closes:
                self._process.stdin.close()
            while line := await self._process.stdout.readline():
                try:
                    event = json.loads(line)
                except ValueError:
                    event = {"event": "not-json", "line": line[:200].decode(errors="replace")}
                self._on_line(self, event)
            status = await self._process.wait()
        finally:
            self.is_running = False
            if status is None and self._process is not None:
                self._signal(signal.SIGKILL)
            self._on_end(self, status)

    def send(self, line):
        if self._process is None:
            self._unsent.append(line)
        else:
            self._write(line)

    def _write(self, line):
        with contextlib.suppress(OSError, RuntimeError):
            self._process.stdin.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")

    def close_input(self):
        """Tells the process that no more requests come."""
        self._closes = True
        if self._process is not None:
            self._process.stdin.close()

    def end(self, reason):
        """Ends the process as iOS does: at once, and without a word to it."""
        if not self.is_running or self.reason:
            return
        self.measure()
        self.reason = reason
        if self._process is not None:
            self._signal(signal.SIGKILL)

    def suspend(self):
        self.is_suspended = True
        self._signal(signal.SIGSTOP)

    def resume(self):
        self.is_suspended = False
        if self.is_running:
            self._signal(signal.SIGCONT)

    def _signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    def measure(self):
        """Returns the dirty pages that belong to this process alone, in KiB, and remembers the highest figure.

        Those are its anonymous pages. `Private_Dirty` would also count mapped pages of files that the system has not
        yet written to the disk, such as those of a voice pack that was just copied, which cost a process nothing.
        """
        if self._process is None or not self.is_running:
            return 0
        try:
            text = pathlib.Path(f"/proc/{self._process.pid}/smaps_rollup").read_text(encoding="ascii")
        except OSError:
            return 0
        for line in text.splitlines():
            if line.startswith("Anonymous:"):
                dirty = int(line.split()[1])
                self.peak_dirty_kb = max(self.peak_dirty_kb, dirty)
                return dirty
        return 0


def use_quiet_child_watcher():
    """Lets the kernel tell of the end of processes; Python before 3.12 has a thread for each process otherwise."""
    if hasattr(os, "pidfd_open") and hasattr(asyncio, "PidfdChildWatcher"):
        watcher = asyncio.PidfdChildWatcher()
        watcher.attach_loop(asyncio.get_running_loop())
        asyncio.set_child_watcher(watcher)

# SPDX-License-Identifier: Apache-2.0
"""A real process of the phone: the notification extension, or the app that was opened. It speaks lines of JSON."""

import asyncio
import contextlib
import json
import os
import pathlib
import signal
import time

# How long the phone waits for a suspended process to stop.
LONGEST_STOP_SECONDS = 0.2
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
        # Why the process is stopped; it runs if this is empty.
        self.stops = set()
        # Why the phone ended the process; None if it ended by itself.
        self.reason = None
        self.peak_dirty_kb = 0
        self.idle_timer = None
        self.sleep_timer = None
        # The task that looks for locks after the process was suspended.
        self.lock_check = None
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

    def cancel_timers(self):
        for timer in (self.idle_timer, self.sleep_timer):
            if timer:
                timer.cancel()

    def suspend(self, why):
        """Stops the process until all reasons for that are taken back."""
        if not self.stops and self._process is not None:
            self._signal(signal.SIGSTOP)
        self.stops.add(why)

    def resume(self, why):
        was_stopped = bool(self.stops)
        self.stops.discard(why)
        if was_stopped and not self.stops and self.is_running and self._process is not None:
            self._signal(signal.SIGCONT)

    @property
    def is_stopped(self):
        return wait_until_stopped(self._process.pid)

    def held_locks(self, folder):
        """Returns the names of the files below a folder of which this process, which must be stopped, holds a lock."""
        if self._process is None or not self.is_running:
            return []
        wait_until_stopped(self._process.pid)
        return locked_files(self._process.pid, folder)

    def _signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            self._process.send_signal(number)

    def measure(self):
        """Returns the dirty pages of the process in KiB, and remembers the highest figure."""
        if self._process is None or not self.is_running:
            return 0
        dirty = dirty_kb(self._process.pid)
        self.peak_dirty_kb = max(self.peak_dirty_kb, dirty)
        return dirty


def dirty_kb(pid):
    """Returns the dirty pages that belong to a process alone, in KiB; 0 if there is no such process.

    Those are its anonymous pages. `Private_Dirty` would also count mapped pages of files that the system has not yet
    written to the disk, such as those of a voice pack that was just copied, which cost a process nothing.
    """
    try:
        text = pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Anonymous:")), 0)


def wait_until_stopped(pid):
    """Waits until all threads of a process have stopped; returns False after `LONGEST_STOP_SECONDS`.

    A thread that waits for the disk stops only afterwards; it will not release a lock before that.
    """
    end = time.monotonic() + LONGEST_STOP_SECONDS
    while time.monotonic() < end:
        states = {_state(file) for file in pathlib.Path(f"/proc/{pid}/task").glob("*/stat")}
        if states <= set("tTXZ"):
            return True
        time.sleep(0.001)
    return False


def _state(file):
    try:
        # The name of the program stands in parentheses before the state, and may contain some itself.
        return file.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def locked_files(pid, folder):
    """Returns the names of the files below a folder of which a process holds a lock, by flock or fcntl.

    The inodes are compared without the device, because a layered file system shows another device than the kernel.
    """
    inodes = set()
    for line in pathlib.Path("/proc/locks").read_text(encoding="ascii").splitlines():
        fields = line.split()
        # A line with an arrow is of a process that waits for a lock.
        if fields[1] != "->" and fields[4] == str(pid):
            inodes.add(int(fields[5].rpartition(":")[2]))
    if not inodes:
        return []
    found = []
    for path in sorted(folder.rglob("*")):
        with contextlib.suppress(OSError):
            if path.is_file() and path.stat().st_ino in inodes:
                found.append(str(path.relative_to(folder)))
    return found


async def measure_empty(command, log):
    """Starts a process that does nothing, and returns its dirty pages in KiB. Raises `RuntimeError` if it fails."""
    with open(log, "ab") as file:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=file
        )
    try:
        line = await asyncio.wait_for(process.stdout.readline(), 30)
        dirty = dirty_kb(process.pid)
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    if b"ready" not in line or not dirty:
        raise RuntimeError(f"{' '.join(command)} did not begin, so no memory can be compared with it; see {log}.")
    return dirty


def use_quiet_child_watcher():
    """Lets the kernel tell of the end of processes; Python before 3.12 has a thread for each process otherwise."""
    if hasattr(os, "pidfd_open") and hasattr(asyncio, "PidfdChildWatcher"):
        watcher = asyncio.PidfdChildWatcher()
        watcher.attach_loop(asyncio.get_running_loop())
        asyncio.set_child_watcher(watcher)

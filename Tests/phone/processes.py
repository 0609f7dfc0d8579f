# SPDX-License-Identifier: Apache-2.0
"""A real process of the phone: the notification extension, or the app that was opened. It speaks lines of JSON."""

import asyncio
import concurrent.futures
import contextlib
import json
import os
import pathlib
import signal
import time

from meter import dirty_kb
from pipes import StampedLines

# How long the phone waits for a suspended process to stop.
LONGEST_STOP_SECONDS = 0.2

# By default, glibc keeps freed blocks of megabytes as soon as one of their size was freed before (`mallopt`(3)). With a
# fixed threshold, it gives blocks above 128 KiB back at once, as iOS does above 32 KiB (`magazine_large.c` of Apple's
# libmalloc 792; its cache of such blocks is off on iOS).
ALLOCATOR = {"MALLOC_MMAP_THRESHOLD_": "131072"}


class PhoneProcess:
    """A running process. The owner is told by `on_lines()` that there is something to read, and of the end by `on_end`.

    `lines()` reads it: events with the times at which the process wrote them.
    """

    def __init__(self, number, role, command, log, timeline, on_lines, on_end, meter=None, on_memory=None):
        self.number = number
        self.role = role
        self.command = command
        self.log = log
        self.open = {}
        self.is_running = True
        self.is_ready = False
        # Why the process is stopped; it runs if this is empty.
        self.stops = set()
        # Why and when (ms of the timeline) the phone ended the process; None if it ended by itself.
        self.reason = None
        self.ended_at = None
        self.idle_timer = None
        self.sleep_timer = None
        # The task that looks for locks after the process was suspended.
        self.lock_check = None
        self._timeline = timeline
        self._on_lines = on_lines
        self._on_end = on_end
        self._meter = meter
        self._on_memory = on_memory
        self._process = None
        self._unsent = []
        self._closes = False
        self._output = StampedLines(timeline)
        self._has_ended = asyncio.Event()
        self.task = asyncio.ensure_future(self._run())

    async def _run(self):
        # A write to a process that has just been killed fails; its end is told by the end of its output.
        status = None
        loop = asyncio.get_running_loop()
        try:
            with open(self.log, "ab") as log:
                self._process = await asyncio.create_subprocess_exec(
                    *self.command,
                    stdin=asyncio.subprocess.PIPE,
                    stdout=self._output.child,
                    stderr=log,
                    env=os.environ | ALLOCATOR,
                )
            self._output.child.close()
            loop.add_reader(self._output, self._on_lines)
            if self._meter:
                self._meter.watch(self._process.pid, lambda kb, is_at_end: self._on_memory(self, kb, is_at_end))
            if self.reason:
                self._signal(signal.SIGKILL)
            for line in self._unsent:
                self._write(line)
            self._unsent = []
            if self._closes:
                self._process.stdin.close()
            await self._has_ended.wait()
            status = await self._process.wait()
        finally:
            self.is_running = False
            if status is None and self._process is not None:
                self._signal(signal.SIGKILL)
            loop.remove_reader(self._output)
            self._output.close()
            self._on_end(self, status)

    def lines(self):
        """Returns what the process wrote since the last call: pairs of the time (ms of the timeline) and the event."""
        lines = self._output.read()
        if self._output.is_at_end and not self._has_ended.is_set():
            asyncio.get_running_loop().remove_reader(self._output)
            self._has_ended.set()
        return lines

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
        self.reason, self.ended_at = reason, self._timeline.now()
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
            self._set_idle(True)
        self.stops.add(why)

    def resume(self, why):
        was_stopped = bool(self.stops)
        self.stops.discard(why)
        if was_stopped and not self.stops and self.is_running and self._process is not None:
            self._signal(signal.SIGCONT)
            self._set_idle(False)

    def _set_idle(self, is_idle):
        if self._meter:
            self._meter.set_idle(self._process.pid, is_idle)

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
        # `Process.send_signal` would take the exit status of a process that has just ended.
        with contextlib.suppress(ProcessLookupError):
            if self._process.returncode is None:
                os.kill(self._process.pid, number)


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
            *command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=file,
            env=os.environ | ALLOCATOR,
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


class ReapingWatcher(asyncio.AbstractChildWatcher if hasattr(asyncio, "AbstractChildWatcher") else object):
    """Waits for the ends of processes without a thread for each of them, and without delays of the event loop.

    The kernel removes an ended process's folder in `/proc` when its parent takes the exit status, and waits meanwhile
    for all who read there. This took up to 1.6 s on a busy machine, so that a thread does it.
    """

    def __init__(self):
        self._reaper = concurrent.futures.ThreadPoolExecutor(1)
        self._watched = {}

    def add_child_handler(self, pid, callback, *arguments):
        loop, file = asyncio.get_running_loop(), os.pidfd_open(pid)
        self._watched[pid] = loop, file
        loop.add_reader(file, self._take, loop, pid, callback, arguments)

    def _take(self, loop, pid, callback, arguments):
        self.remove_child_handler(pid)
        task = loop.run_in_executor(self._reaper, _exit_status, pid)
        task.add_done_callback(lambda done: callback(pid, done.result(), *arguments))

    def remove_child_handler(self, pid):
        loop, file = self._watched.pop(pid, (None, None))
        if loop is None:
            return False
        loop.remove_reader(file)
        os.close(file)
        return True

    def attach_loop(self, loop):
        pass

    def is_active(self):
        return True

    def close(self):
        for pid in list(self._watched):
            self.remove_child_handler(pid)
        self._reaper.shutdown(wait=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def _exit_status(pid):
    try:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    except ChildProcessError:
        # Other code has already taken the exit status. asyncio uses this number then.
        return 255


def use_quiet_child_watcher():
    """Lets a `ReapingWatcher` wait for processes, where Python (before 3.14) lets a program choose."""
    if hasattr(os, "pidfd_open") and hasattr(asyncio, "set_child_watcher"):
        asyncio.set_child_watcher(ReapingWatcher())

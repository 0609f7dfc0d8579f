# SPDX-License-Identifier: Apache-2.0
"""Measures the memory of processes from outside, every 2 ms while they work. It runs as a program of its own.

Its standard input has lines such as `watch 123`, `idle 123` and `work 123`, and its standard output `123 4567` when a
process had more memory than ever before (its dirty pages in KiB), and `123 4567 end` when it has ended. At the end of
its input, it prints `gaps 2.4 31.0`: the time between two looks in ms, as the 99th percentile and at most.

The figure is the resident pages less those of files (`/proc/PID/statm`), which is the same as `Anonymous` in
`smaps_rollup`, and takes microseconds. To read `smaps_rollup` of many processes took so long that their ends, and with
them the simulation, had to wait for it.
"""

import asyncio
import collections
import contextlib
import os
import select
import sys
import time

INTERVAL_SECONDS = 0.002
# A measurement must not wait for the processes that it measures, if that is allowed.
PRIORITY = -10
# A process that was suspended does nothing, so that it is only looked at every so many rounds.
IDLE_ROUNDS = 50
# A new peak is reported at once if it is above the limit, or higher than the last one by this size.
STEP_KB = 256
LIMIT_KB = 24 * 1024
PAGE_KB = os.sysconf("SC_PAGE_SIZE") // 1024


class Gauge:
    """The memory of one process."""

    def __init__(self, pid):
        self.pid = pid
        self.peak = 0
        self.told = 0
        self.is_idle = False
        self._file = None

    def measure(self):
        """Returns whether the process still runs, after a look at its memory."""
        try:
            if self._file is None:
                self._file = os.open(f"/proc/{self.pid}/statm", os.O_RDONLY | os.O_CLOEXEC)
            _, resident, shared, *_ = os.pread(self._file, 128, 0).split()
        except (OSError, ValueError):
            return False
        self.peak = max(self.peak, (int(resident) - int(shared)) * PAGE_KB)
        return resident != b"0"

    @property
    def is_news(self):
        return self.peak >= self.told + STEP_KB or self.told <= LIMIT_KB < self.peak

    def close(self):
        if self._file is not None:
            os.close(self._file)


def dirty_kb(pid):
    """Returns the dirty pages that belong to a process alone, in KiB; 0 if there is no such process.

    Those are its anonymous pages. `Private_Dirty` would also count mapped pages of files that the system has not yet
    written to the disk, such as those of a voice pack that was just copied, which cost a process nothing.
    """
    gauge = Gauge(pid)
    gauge.measure()
    gauge.close()
    return gauge.peak


def main():
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, PRIORITY)
    gauges, rest, rounds, gaps, looked_at = {}, b"", 0, collections.Counter(), None
    os.write(1, b"ready\n")
    while True:
        wait = INTERVAL_SECONDS if gauges else None
        if select.select([0], [], [], wait)[0]:
            data = os.read(0, 65_536)
            if not data:
                os.write(1, f"gaps {_percentile(gaps, 0.99)} {_percentile(gaps, 1)}\n".encode())
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                what, pid = line.split()
                if what == b"watch":
                    gauges[int(pid)] = Gauge(int(pid))
                elif int(pid) in gauges:
                    gauges[int(pid)].is_idle = what == b"idle"
        rounds += 1
        now = time.monotonic()
        if looked_at is not None:
            gaps[round((now - looked_at) * 1000, 1)] += 1
        looked_at = now if any(not gauge.is_idle for gauge in gauges.values()) else None
        told = []
        for gauge in list(gauges.values()):
            if gauge.is_idle and rounds % IDLE_ROUNDS:
                continue
            if not gauge.measure():
                told.append(f"{gauge.pid} {gauge.peak} end\n")
                gauges.pop(gauge.pid).close()
            elif gauge.is_news:
                gauge.told = gauge.peak
                told.append(f"{gauge.pid} {gauge.peak}\n")
        if told:
            os.write(1, "".join(told).encode())


def _percentile(counts, share):
    """Returns the smallest value so that this share of all is not above it; 0 for no values."""
    left = sum(counts.values()) * share
    for value in sorted(counts):
        left -= counts[value]
        if left <= 1e-9:
            return value
    return 0.0


class Meter:
    """The running program. `watch(pid, tell)` has `tell(kb, is_at_end)` called with each new peak of a process."""

    def __init__(self):
        self._process = None
        self._reader = None
        self._watched = {}
        # The time between two looks in ms, known at the end: the 99th percentile and the maximum.
        self.gaps = None

    async def start(self):
        """Starts the program. Raises `RuntimeError` if it does not begin."""
        pipe = asyncio.subprocess.PIPE
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-S", "-E", __file__, stdin=pipe, stdout=pipe
        )
        if await self._process.stdout.readline() != b"ready\n":
            raise RuntimeError("The program that measures the memory did not begin.")
        self._reader = asyncio.ensure_future(self._read())

    async def _read(self):
        while line := await self._process.stdout.readline():
            pid, peak, *end = line.split()
            if pid == b"gaps":
                self.gaps = float(peak), float(end[0])
                break
            tell = self._watched.get(int(pid))
            if end:
                self._watched.pop(int(pid), None)
            if tell:
                tell(int(peak), bool(end))

    def watch(self, pid, tell):
        self._watched[pid] = tell
        self._say("watch", pid)

    def set_idle(self, pid, is_idle):
        """Says that a process is suspended, or works again."""
        self._say("idle" if is_idle else "work", pid)

    def _say(self, what, pid):
        self._process.stdin.write(f"{what} {pid}\n".encode())

    async def stop(self):
        """Ends the program, after it has told of all processes that have ended."""
        if self._process is not None and self._process.returncode is None:
            for _ in range(200):
                if not self._watched:
                    break
                await asyncio.sleep(0.01)
            self._process.stdin.close()
            await self._reader
            await self._process.wait()


if __name__ == "__main__":
    main()

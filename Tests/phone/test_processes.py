# SPDX-License-Identifier: Apache-2.0
"""What the phone sees of a process from outside: its memory, its locks, and whether it is stopped."""

import asyncio
import collections
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import meter
import pipes
import processes
from timeline import Timeline

# Locks the files that it is told to lock, and waits.
LOCKER = """
import fcntl, sys
kept = []
for how, path in zip(sys.argv[1::2], sys.argv[2::2]):
    kept.append(open(path, "w"))
    (fcntl.flock if how == "flock" else fcntl.lockf)(kept[-1], fcntl.LOCK_EX)
print("ready", flush=True)
sys.stdin.read()
"""


class LockTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.inside = self.folder / "container"
        (self.inside / "Library").mkdir(parents=True)

    def start(self, *arguments, waits=True):
        command = [sys.executable, "-S", "-E", "-c", LOCKER, *map(str, arguments)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        if waits:
            process.stdout.readline()
        return process.pid

    def test_locks_of_both_kinds_are_found_below_the_folder_only(self):
        for how in ("flock", "fcntl"):
            pid = self.start(how, self.inside / "Library" / how, how, self.folder / f"outside-{how}")
            self.assertEqual(processes.locked_files(pid, self.inside), [f"Library/{how}"])

    def test_the_locks_of_another_process_are_not_its_own(self):
        self.start("flock", self.inside / "order.lock")
        self.assertEqual(processes.locked_files(self.start(), self.inside), [])

    def test_a_process_that_waits_for_a_lock_holds_none(self):
        self.start("flock", self.inside / "order.lock")
        pid = self.start("flock", self.inside / "order.lock", waits=False)
        waits = re.compile(rf"-> .* {pid} ")
        while not waits.search(pathlib.Path("/proc/locks").read_text(encoding="ascii")):
            pass
        self.assertEqual(processes.locked_files(pid, self.inside), [])

    def test_a_process_is_stopped_when_all_its_threads_are(self):
        pid = self.start()
        self.assertFalse(processes.wait_until_stopped(pid))
        os.kill(pid, signal.SIGSTOP)
        self.assertTrue(processes.wait_until_stopped(pid))


class MemoryTests(unittest.IsolatedAsyncioTestCase):
    async def measure(self, program):
        with tempfile.NamedTemporaryFile() as log:
            return await processes.measure_empty([sys.executable, "-S", "-E", "-c", program], log.name)

    async def test_the_memory_of_a_process_that_does_nothing_is_measured_when_it_is_ready(self):
        wait = "import sys; print('ready', flush=True); sys.stdin.read()"
        small, large = await self.measure(wait), await self.measure(f"x = bytearray(b'x') * (8 << 20); {wait}")
        self.assertGreater(small, 0)
        self.assertTrue(8 << 10 <= large - small <= 9 << 10, large - small)

    async def test_a_process_that_does_not_begin_is_an_error(self):
        for program in ("raise SystemExit(1)", "print('usage', flush=True)"):
            with self.assertRaisesRegex(RuntimeError, "no memory can be compared"):
                await self.measure(program)

    def test_a_process_that_has_ended_has_no_memory(self):
        process = subprocess.Popen([sys.executable, "-c", ""])
        process.wait()
        self.assertEqual(meter.dirty_kb(process.pid), 0)

    def test_the_figure_is_that_of_the_anonymous_pages_in_the_kernels_own_sum(self):
        text = pathlib.Path("/proc/self/smaps_rollup").read_text(encoding="ascii")
        anonymous = next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Anonymous:"))
        self.assertAlmostEqual(meter.dirty_kb(os.getpid()), anonymous, delta=1024)

    async def test_a_peak_that_is_over_is_told(self):
        peak = "import sys,time; x = bytearray(b'x') * (16 << 20); time.sleep(0.2); del x; print('ready', flush=True)"
        peaks = await self.peaks(f"{peak}; sys.stdin.read()")
        self.assertGreater(peaks[-1], 16 << 10)
        self.assertEqual(peaks, sorted(peaks))

    async def test_a_process_that_was_continued_is_measured_again(self):
        wait = "import sys; print('ready', flush=True); sys.stdin.readline()"
        grow = "x = bytearray(b'x') * (16 << 20); import time; time.sleep(0.2)"
        self.assertGreater((await self.peaks(f"{wait}; {grow}", idles=True))[-1], 16 << 10)

    async def peaks(self, program, idles=False):
        measuring, peaks, ended = meter.Meter(), [], asyncio.Event()
        await measuring.start()
        pipe = asyncio.subprocess.PIPE
        command = [sys.executable, "-S", "-E", "-c", program]
        process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)

        def tell(kb, is_at_end):
            peaks.append(kb)
            if is_at_end:
                ended.set()

        measuring.watch(process.pid, tell)
        await process.stdout.readline()
        if idles:
            measuring.set_idle(process.pid, True)
            measuring.set_idle(process.pid, False)
        process.stdin.close()
        await process.wait()
        await asyncio.wait_for(ended.wait(), 20)
        await measuring.stop()
        typical, most = measuring.gaps
        self.assertTrue(0 < typical <= most, measuring.gaps)
        return peaks


class GapTests(unittest.TestCase):
    def test_a_percentile_is_the_smallest_value_that_covers_the_share(self):
        values = collections.Counter({2.0: 98, 5.0: 1, 30.0: 1})
        self.assertEqual([meter._percentile(values, share) for share in (0.5, 0.98, 0.99, 1)], [2.0, 2.0, 5.0, 30.0])
        self.assertEqual(meter._percentile(collections.Counter(), 0.99), 0.0)


class EndTests(unittest.IsolatedAsyncioTestCase):
    """The ends of processes, which a thread waits for."""

    async def test_the_exit_status_of_each_process_is_told(self):
        processes.use_quiet_child_watcher()
        ends = [await asyncio.create_subprocess_exec(sys.executable, "-c", f"raise SystemExit({n})") for n in range(3)]
        self.assertEqual([await process.wait() for process in ends], [0, 1, 2])

    async def test_a_signal_is_told_as_a_negative_status(self):
        processes.use_quiet_child_watcher()
        process = await asyncio.create_subprocess_exec("sleep", "60")
        process.kill()
        self.assertEqual(await process.wait(), -signal.SIGKILL)


class StampTests(unittest.TestCase):
    """Lines with the times at which they were written."""

    def setUp(self):
        self.timeline = Timeline()
        self.lines = pipes.StampedLines(self.timeline)
        self.addCleanup(self.lines.close)

    def test_a_line_has_the_time_of_its_writing_and_not_of_its_reading(self):
        before = self.timeline.now()
        self.lines.child.send(b'{"event": "ready"}\n')
        after = self.timeline.now()
        time.sleep(0.1)
        ((at, event),) = self.lines.read()
        self.assertTrue(before - 1 <= at <= after + 1, (before, at, after))
        self.assertEqual(event, {"event": "ready"})

    def test_a_line_in_parts_has_the_time_of_its_end(self):
        self.lines.child.send(b'{"a": 1}\n{"a"')
        time.sleep(0.05)
        self.assertEqual([event for _, event in self.lines.read()], [{"a": 1}])
        before = self.timeline.now()
        self.lines.child.send(b": 2}\n")
        ((at, event),) = self.lines.read()
        self.assertGreaterEqual(at, before - 1)
        self.assertEqual(event, {"a": 2})

    def test_an_empty_message_is_not_the_end_and_a_closed_socket_is(self):
        self.lines.child.send(b"")
        self.lines.child.send(b'{"a": 1}\n')
        self.assertEqual([event for _, event in self.lines.read()], [{"a": 1}])
        self.assertFalse(self.lines.is_at_end)
        self.lines.child.close()
        self.assertEqual(self.lines.read(), [])
        self.assertTrue(self.lines.is_at_end)

    def test_what_is_no_object_of_json_is_told_as_such(self):
        self.lines.child.send(b"oh\n[1]\n\xff\n")
        self.assertEqual([event["event"] for _, event in self.lines.read()], ["not-json"] * 3)


if __name__ == "__main__":
    unittest.main()

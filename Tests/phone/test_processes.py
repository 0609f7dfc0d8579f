# SPDX-License-Identifier: Apache-2.0
"""What the phone sees of a process from outside: its memory, its locks, and whether it is stopped."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import processes

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
        self.assertEqual(processes.dirty_kb(process.pid), 0)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The common parts of the service checks: starting and stopping it, observing its processes, and reporting results."""

import contextlib
import dataclasses
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from client import Connection, Lost

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KEY = re.compile(rb"crier_[0-9a-z]{8}_[A-Za-z0-9_-]{43}")
MEBIBYTE = 1 << 20
# The first of the ports that the system gives clients, if nobody has set another range.
CLIENT_PORTS = 32_768


class Unusable(Exception):
    """The check could not be run, for example because a program is missing or the service did not start."""


def progress(text):
    print(text, file=sys.stderr, flush=True)


class Bars:
    """Collects the failures of a check, so that it reports all of them and not only the first."""

    def __init__(self):
        self.figures = {}
        self.missed = []

    def require(self, holds, text):
        if not holds:
            self.missed.append(text)
            progress(f"MISSED: {text}")
        return holds

    def nothing_in(self, faults, text):
        """Requires that a list of failures is empty, and reports the first few."""
        shown = "; ".join(str(fault)[:400] for fault in faults[:5])
        return self.require(not faults, f"{text}: {len(faults)}: {shown}")


@dataclasses.dataclass
class Options:
    crier: str
    scale: float
    seed: int
    keep: bool
    arguments: object = None

    def scaled(self, count, least=1):
        """Returns a number of the full check, multiplied by `--scale`."""
        return max(least, round(count * self.scale))


@contextlib.contextmanager
def work_folder(options):
    folder = pathlib.Path(tempfile.mkdtemp(prefix="crier-check-"))
    try:
        yield folder
    finally:
        if options.keep:
            progress(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def free_port():
    """Returns a port that was free a moment ago.

    The system gives clients none of these ports. A connection could otherwise take the port while the service is
    started again, even one to the service: a connection to a closed port may get the same port and reach itself.
    """
    for _ in range(1_000):
        with contextlib.suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", random.randrange(10_000, CLIENT_PORTS)))
            return probe.getsockname()[1]
    raise Unusable("no free port was found.")


def plain_environment(additions=None):
    """Returns the environment without the user's Crier settings, so that checks give the same result everywhere."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CRIER_") or name == "CRIER_DATA"}
    return kept | (additions or {})


# Limits that no client here reaches, because most checks do not test the rate limit.
UNLIMITED = {
    "CRIER_RATE": "1000000",
    "CRIER_BURST": "1000000",
    "CRIER_CLIPS_AT_ONCE": "1000",
    "CRIER_CLIPS_A_DAY": "1000000000",
    "CRIER_CLIPS_MB_A_DAY": "1000000000",
}


class Service:
    """A home folder, a port, and the service process. The process can be stopped and restarted."""

    def __init__(self, options, home, *, output="null", environment=UNLIMITED, log=None):
        self.options = options
        self.home = pathlib.Path(home)
        self.output = output
        self.environment = environment
        # The log is beside the home folder, so that a full home folder does not stop logging.
        self.log = pathlib.Path(log or self.home.parent / "service.log")
        self.port = free_port()
        self.process = None
        # The number of speakers that did not notice the end of their service.
        self.orphans = 0

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, error, trace):
        if kind is not None and kind is not GeneratorExit:
            self.tell_log()
        self.kill()

    def spawn(self):
        """Starts the process without waiting until it is ready."""
        if not os.access(self.options.crier, os.X_OK):
            raise Unusable(f"{self.options.crier}: no such program; build it, or give its path with --crier.")
        command = [self.options.crier, "serve", "--host", "127.0.0.1", "--port", str(self.port)]
        command += ["--home", str(self.home), "--output", self.output]
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=plain_environment(self.environment),
                start_new_session=True,
            )
        return self

    def start(self, timeout=60):
        self.spawn()
        self.wait_until_ready(timeout)
        return self

    def wait_until_ready(self, timeout=60):
        """Waits until the service is ready, and returns the time in seconds."""
        start = time.monotonic()
        while time.monotonic() < start + timeout:
            if self.process.poll() is not None:
                self.tell_log()
                raise Unusable(f"crier serve ended with status {self.process.returncode} before it became ready.")
            try:
                with self.connect(timeout=5, key=None) as connection:
                    if connection.request("GET", "/readyz").status == 200:
                        return time.monotonic() - start
            except (OSError, Lost):
                pass
            time.sleep(0.005)
        self.tell_log()
        raise Unusable(f"crier serve did not become ready within {timeout} s.")

    @property
    def pid(self):
        return self.process.pid

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    @property
    def key(self):
        found = KEY.search((self.home / "first-key").read_bytes())
        if not found:
            raise Unusable("The file first-key has no key.")
        return found.group().decode()

    def connect(self, timeout=60, key=""):
        """Returns a connection with the first key, or without a key if `key` is None."""
        return Connection(self.port, key=self.key if key == "" else key, timeout=timeout)

    def terminate(self, timeout=60):
        """Sends SIGTERM. Returns the exit status and the seconds until the end, or None if it did not end in time."""
        family = speakers(self.pid)
        start = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None, time.monotonic() - start
        took = time.monotonic() - start
        self.orphans += outliving(family)
        return status, took

    def kill(self):
        """Sends SIGKILL only to the service, as in a crash. Its speakers must notice its end by themselves."""
        if not self.is_running:
            return
        family = speakers(self.pid)
        self.process.kill()
        self.process.wait(30)
        self.orphans += outliving(family)

    def tell_log(self, lines=15):
        with contextlib.suppress(OSError):
            for line in self.log.read_text(errors="replace").splitlines()[-lines:]:
                progress(f"  log: {line[:300]}")


def children(pid):
    """Returns the ids of a process's children. It reads all processes, because not every kernel lists children."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                # The name is in parentheses and may contain spaces and parentheses.
                if int(pathlib.Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1]) == pid:
                    found.append(int(entry))
    return found


def name_of(pid):
    """Returns the name in the process's command line. The kernel's name differs, because a speaker restarts itself."""
    try:
        return os.path.basename(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode())
    except (OSError, UnicodeDecodeError):
        return ""


def speakers(pid, deep=False):
    """Returns the speaker processes of a service; with `deep` also their child processes, one for each utterance."""
    found = direct = [child for child in children(pid) if name_of(child) == "speaker"]
    while deep and direct:
        direct = [child for parent in direct for child in children(parent)]
        found = found + direct
    return found


def outliving(family, seconds=1.0):
    """Waits for these speakers to end, and kills those that do not. Returns how many had to be killed."""
    deadline = time.monotonic() + seconds
    while (left := [pid for pid in family if name_of(pid) == "speaker"]) and time.monotonic() < deadline:
        time.sleep(0.02)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(left)


def memory(pid):
    """Returns the resident memory of a process in bytes, or 0 if the process has ended."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def processor_seconds(pid):
    """Returns the CPU time used by a process so far, in seconds."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def open_files(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


class Sampler:
    """Samples a value once a second in its own thread until it is stopped."""

    def __init__(self, take, interval=1.0):
        self.samples = []
        self._take = take
        self._interval = interval
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        while not self._end.wait(self._interval):
            self.samples.append(self._take())

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join(10)


def percentile(values, share):
    """Returns the value below which a share of the values lies, or 0 if there are no values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def mean(values):
    return sum(values) / len(values) if values else 0.0


def milliseconds(seconds):
    return round(seconds * 1000, 3)


def told(times):
    """Returns the number and the durations for each kind, from lists of seconds by kind."""
    return {
        kind: {
            "count": len(values),
            "p50_ms": milliseconds(percentile(values, 0.5)),
            "p99_ms": milliseconds(percentile(values, 0.99)),
        }
        for kind, values in sorted(times.items())
    }


def problem_fault(answer, status, code=None):
    """Returns the error in a problem document, or None."""
    if answer.status != status:
        return f"status {answer.status} instead of {status}: {answer.body[:200]!r}"
    if answer.headers.get("content-type", "").split(";")[0] != "application/problem+json":
        return f"status {status} with content type {answer.headers.get('content-type')!r}"
    try:
        document = answer.json()
    except ValueError:
        return f"status {status} without JSON: {answer.body[:200]!r}"
    if document.get("status") != status:
        return f"status {status} whose document says {document.get('status')!r}"
    if code is not None and document.get("code") != code:
        return f"status {status} with code {document.get('code')!r} instead of {code!r}"
    return None


def report_fault(expected, actual):
    """Returns the difference between a report that was read and the original one, or None. URLs may be signed again."""
    for name, value in expected.items():
        other = actual.get(name)
        if name == "clip" and isinstance(value, dict) and isinstance(other, dict):
            value = {key: field for key, field in value.items() if key != "url"}
            other = {key: field for key, field in other.items() if key != "url"}
        if other != value:
            return f"{expected.get('id')}: {name} was {json.dumps(value)[:120]} and is {json.dumps(other)[:120]}"
    return None


def end_on_signals():
    """Makes SIGTERM and SIGHUP end the check like Ctrl-C, so that all started processes are stopped."""

    def end(number, _):
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGHUP, end)

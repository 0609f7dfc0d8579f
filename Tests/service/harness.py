# SPDX-License-Identifier: Apache-2.0
"""What the checks of the service share: starting and ending it, looking at its processes, and telling results."""

import contextlib
import dataclasses
import json
import os
import pathlib
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


class Unusable(Exception):
    """The check could not be made at all: a program is missing, the service did not start."""


def progress(text):
    print(text, file=sys.stderr, flush=True)


class Bars:
    """Collects what was missed, so that a check tells everything that is wrong and not only the first."""

    def __init__(self):
        self.figures = {}
        self.missed = []

    def require(self, holds, text):
        if not holds:
            self.missed.append(text)
            progress(f"MISSED: {text}")
        return holds

    def nothing_in(self, faults, text):
        """Requires that a list of faults is empty, and tells the first few of it."""
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
        """A number of the full check, made smaller or larger by `--scale`."""
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
    """A port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def plain_environment(additions=None):
    """The environment without anybody's settings of Crier, so that a check means the same everywhere."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CRIER_") or name == "CRIER_DATA"}
    return kept | (additions or {})


# Above what any client here reaches: most checks are about other things than the rate limit.
UNLIMITED = {
    "CRIER_RATE": "1000000",
    "CRIER_BURST": "1000000",
    "CRIER_CLIPS_AT_ONCE": "1000",
    "CRIER_CLIPS_A_DAY": "1000000000",
    "CRIER_CLIPS_MB_A_DAY": "1000000000",
}


class Service:
    """One home and port, and the process that serves them; it may be ended and started again."""

    def __init__(self, options, home, *, output="null", environment=UNLIMITED, log=None):
        self.options = options
        self.home = pathlib.Path(home)
        self.output = output
        self.environment = environment
        # Beside the home and not in it: a full home must not silence the log.
        self.log = pathlib.Path(log or self.home.parent / "service.log")
        self.port = free_port()
        self.process = None
        # Speakers that did not see that their service was gone.
        self.orphans = 0

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, error, trace):
        if kind is not None and kind is not GeneratorExit:
            self.tell_log()
        self.kill()

    def spawn(self):
        """Starts the process and does not wait until it is ready."""
        if not os.access(self.options.crier, os.X_OK):
            raise Unusable(f"{self.options.crier}: there is no such program; build it, or name it with --crier.")
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
        """Returns the seconds that it took."""
        start = time.monotonic()
        while time.monotonic() < start + timeout:
            if self.process.poll() is not None:
                self.tell_log()
                raise Unusable(f"crier serve ended with status {self.process.returncode} before it was ready.")
            try:
                with self.connect(timeout=5, key=None) as connection:
                    if connection.request("GET", "/readyz").status == 200:
                        return time.monotonic() - start
            except (OSError, Lost):
                pass
            time.sleep(0.005)
        self.tell_log()
        raise Unusable(f"crier serve was not ready within {timeout} s.")

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
            raise Unusable("first-key holds no key.")
        return found.group().decode()

    def connect(self, timeout=60, key=""):
        """A connection with the first key; `key=None` for one without."""
        return Connection(self.port, key=self.key if key == "" else key, timeout=timeout)

    def terminate(self, timeout=60):
        """SIGTERM; returns the exit status and the seconds it took, or None when it did not end in time."""
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
        """SIGKILL to the service alone, as a crash would be; speakers have to see for themselves that it is gone."""
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
    """The ids of a process's children. Every process is looked at: not each kernel lists children."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError, ValueError):
                # The name, in parentheses, may hold spaces and parentheses itself.
                if int(pathlib.Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()[1]) == pid:
                    found.append(int(entry))
    return found


def name_of(pid):
    """By its command line: a speaker starts itself once more, and the system's own name for it is then another."""
    try:
        return os.path.basename(pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode())
    except (OSError, UnicodeDecodeError):
        return ""


def speakers(pid, deep=False):
    """The speaker processes of a service; with `deep` those that they forked too, one an utterance."""
    found = direct = [child for child in children(pid) if name_of(child) == "speaker"]
    while deep and direct:
        direct = [child for parent in direct for child in children(parent)]
        found = found + direct
    return found


def outliving(family, seconds=1.0):
    """Waits until these speakers have ended, and ends those that have not. Returns how many outlived the wait."""
    deadline = time.monotonic() + seconds
    while (left := [pid for pid in family if name_of(pid) == "speaker"]) and time.monotonic() < deadline:
        time.sleep(0.02)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return len(left)


def memory(pid):
    """The resident memory of a process in bytes, 0 when it is gone."""
    try:
        for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def processor_seconds(pid):
    """The processor time that a process has used so far."""
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
    """Takes a figure once a second in a thread of its own until it is stopped."""

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
    """The value below which a share of them lies; 0 of none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0


def mean(values):
    return sum(values) / len(values) if values else 0.0


def milliseconds(seconds):
    return round(seconds * 1000, 3)


def told(times):
    """How many there were of each kind, and how long they took, from lists of seconds by kind."""
    return {
        kind: {
            "count": len(values),
            "p50_ms": milliseconds(percentile(values, 0.5)),
            "p99_ms": milliseconds(percentile(values, 0.99)),
        }
        for kind, values in sorted(times.items())
    }


def problem_fault(answer, status, code=None):
    """What is wrong with a problem document, or None."""
    if answer.status != status:
        return f"status {answer.status} in the place of {status}: {answer.body[:200]!r}"
    if answer.headers.get("content-type", "").split(";")[0] != "application/problem+json":
        return f"{status} with content type {answer.headers.get('content-type')!r}"
    try:
        document = answer.json()
    except ValueError:
        return f"{status} without JSON: {answer.body[:200]!r}"
    if document.get("status") != status:
        return f"{status} whose document says {document.get('status')!r}"
    if code is not None and document.get("code") != code:
        return f"{status} with code {document.get('code')!r} in the place of {code!r}"
    return None


def report_fault(expected, actual):
    """How a report that was read back differs from the one that was answered, or None. The URL may be signed anew."""
    for name, value in expected.items():
        other = actual.get(name)
        if name == "clip" and isinstance(value, dict) and isinstance(other, dict):
            value = {key: field for key, field in value.items() if key != "url"}
            other = {key: field for key, field in other.items() if key != "url"}
        if other != value:
            return f"{expected.get('id')}: {name} was {json.dumps(value)[:120]} and is {json.dumps(other)[:120]}"
    return None


def end_on_signals():
    """SIGTERM and SIGHUP end the check as Ctrl-C does: everything that was started is ended on the way out."""

    def end(number, _):
        raise SystemExit(128 + number)

    signal.signal(signal.SIGTERM, end)
    signal.signal(signal.SIGHUP, end)

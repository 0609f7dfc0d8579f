# SPDX-License-Identifier: Apache-2.0
"""Counts how often an announcement waits for the disk: at most three times from its request to the end of its sound.

The clip is known, and the service does nothing else. strace counts the calls. A checkpoint of SQLite, which copies many
transactions at once, is left out: it writes to the ledger's file itself, and all others to the file's log.
"""

import json
import re
import shutil
import signal
import subprocess
import time

from client import post
from harness import Bars, Service, Unusable, progress, work_folder

ANNOUNCEMENTS = 20
# One write accepts the announcement, one begins it, and one ends it.
MOST = 3
PATIENCE = 30
# 1234 fdatasync(7</home/ledger.sqlite-wal>) = 0
CALL = re.compile(r"\b(?:fsync|fdatasync|msync|sync_file_range)\(\d+<(.*?)>")


def run(options):
    bars = Bars()
    if shutil.which("strace") is None:
        raise Unusable("strace is not installed; apt-get install strace")
    counts, files = [], set()
    with work_folder(options) as folder, Service(options, folder / "home", output="null") as service:
        with service.connect() as connection:
            # Makes the clip, and prepares the statements.
            for number in range(3):
                play(connection, f"first-{number}")
            for number in range(options.scaled(ANNOUNCEMENTS, 5)):
                trace = folder / f"trace-{number}"
                with Trace(service.pid, trace):
                    play(connection, f"counted-{number}")
                    # A write after the end would count too.
                    time.sleep(0.3)
                synchronized = CALL.findall(trace.read_text())
                counts.append(sum(not name.endswith("ledger.sqlite") for name in synchronized))
                files |= {name.rsplit("/", 1)[-1] for name in synchronized}
                progress(f"writes: announcement {number + 1} waited {counts[-1]} times for the disk")
            status, _ = service.terminate()
            bars.require(status == 0, f"the service ended with status {status}")
    bars.require(min(counts) > 0, "strace saw no call, so it counts nothing")
    bars.require(max(counts) <= MOST, f"waits for the disk of one announcement: {max(counts)}; at most {MOST} are allowed")
    bars.figures = {"announcements": len(counts), "most": max(counts), "least": min(counts), "files": sorted(files)}
    return bars


class Trace:
    """Records the calls of a process that wait for the disk."""

    def __init__(self, pid, file):
        calls = "trace=fsync,fdatasync,msync,sync_file_range"
        self.program = subprocess.Popen(
            ["strace", "-f", "-y", "-e", calls, "-o", file, "-p", str(pid)], stderr=subprocess.PIPE, text=True
        )

    def __enter__(self):
        line = self.program.stderr.readline()
        if "attached" not in line:
            self.program.kill()
            raise Unusable(f"strace: {line.strip()}")

    def __exit__(self, *_):
        # strace lets go of the process and writes what it has seen.
        self.program.send_signal(signal.SIGINT)
        self.program.wait(PATIENCE)


def play(connection, identifier):
    """Announces a sum whose clip is known, and waits until it was heard."""
    body = {"id": identifier, "amount": "12.00", "currency": "CNY", "locale": "zh-CN", "rate": 450, "method": "speech"}
    answer = post(connection, json.dumps(body | {"deliver": ["play"]}).encode())
    if answer.status != 201:
        raise Unusable(f"{identifier}: {answer.status} {answer.code}")
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        state = connection.request("GET", f"/v1/announcements/{identifier}").json()["delivery"]["play"]["state"]
        if state == "played":
            return
        time.sleep(0.02)
    raise Unusable(f"{identifier}: was not heard within {PATIENCE} s")

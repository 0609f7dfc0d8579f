# SPDX-License-Identifier: Apache-2.0
"""On a full disk, the service answers 507, still serves known announcements, and recovers without a restart."""

import contextlib
import json
import os
import shutil
import subprocess
import time

import inputs
from client import post
from harness import Bars, Service, Unusable, problem_fault, progress, report_fault, work_folder

SIZE = "256m"
KNOWN = 20
REFUSED = 20
RECOVERS_WITHIN = 15


@contextlib.contextmanager
def small_disk(folder):
    folder.mkdir()
    if os.geteuid() != 0:
        raise Unusable("only root can mount a small disk; run this check as root.")
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=0700", "crier-check", str(folder)],
        capture_output=True,
        text=True,
    )
    if mount.returncode != 0:
        raise Unusable(f"a tmpfs could not be mounted: {mount.stderr.strip()}")
    try:
        yield folder
    finally:
        # A lazy unmount also works while a process still has an open file on the disk.
        subprocess.run(["umount", "--lazy", str(folder)], check=False)


def fill(path):
    """Fills the disk to the last page."""
    with open(path, "ab", buffering=0) as file:
        for size in (1 << 20, 4_096, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue


def run(options):
    bars = Bars()
    with work_folder(options) as folder, small_disk(folder / "disk") as disk:
        with Service(options, disk / "home", log=folder / "service.log") as service, service.connect() as connection:
            check(service, connection, disk, bars)
    return bars


def body_of(index, name):
    return json.dumps(inputs.payment(index, f"{name}-{index}", method="speech")).encode()


def check(service, connection, disk, bars):
    known = {}
    for index in range(KNOWN):
        answer = post(connection, body_of(index, "known"))
        bars.require(answer.status == 201, f"before: {answer.status} {answer.code}")
        known[index] = answer
    ready = connection.request("GET", "/readyz")
    bars.require(ready.json()["checks"]["disk"]["ok"] is True, f"before: /readyz says {ready.body[:300]!r}")
    pid = service.pid
    full_at = time.monotonic()
    fill(disk / "filling")
    progress(f"disk: full, {shutil.disk_usage(disk).free} bytes free")
    refused_statuses = []
    for index in range(1_000, 1_000 + REFUSED):
        answer = post(connection, body_of(index, "new"))
        refused_statuses.append(answer.status)
        fault = problem_fault(answer, 507, "disk_full")
        bars.require(fault is None, f"full: a new announcement: {fault}")
    # The small rest of space that the ledger uses up is a different case from a clip that does not fit.
    same = post(connection, json.dumps(json.loads(body_of(0, "known")) | {"id": "same-clip"}).encode())
    bars.require(
        same.status in (201, 507), f"full: a new announcement with an existing clip: {same.status} {same.code}"
    )
    batch = connection.request(
        "POST", "/v1/batches", body_of(2_000, "row") + b"\n", "Content-Type: application/jsonl\r\n"
    )
    bars.require(batch.status in (202, 507), f"full: a batch: {batch.status} {batch.code}")
    for index, first in known.items():
        again = post(connection, body_of(index, "known"))
        bars.require(
            again.status == 200 and again.body == first.body,
            f"full: a known announcement repeated: {again.status} {again.code}, {'the same' if again.body == first.body else 'another'} body",
        )
        report = first.json()
        read = connection.request("GET", f"/v1/announcements/{report['id']}")
        fault = report_fault(report, read.json()) if read.status == 200 else f"{read.status} {read.code}"
        bars.require(fault is None, f"full: reading a known announcement: {fault}")
        clip = connection.request("GET", f"/v1/clips/{report['clip']['name']}")
        bars.require(clip.status == 200 and len(clip.body) == report["clip"]["bytes"], f"full: its clip: {clip.status}")
    unready, unready_after = until(connection, 503, full_at)
    if bars.require(unready is not None, "full: /readyz does not answer 503"):
        check_ = unready.json()["checks"]["disk"]
        bars.require(check_["ok"] is False and check_.get("code"), f"full: the disk check of /readyz is {check_}")
    bars.require(connection.request("GET", "/healthz").status == 200, "full: /healthz does not answer 200")
    freed_at = time.monotonic()
    (disk / "filling").unlink()
    # An error changes nothing, so the refused ids are still new.
    answer, recovered_after = None, None
    while time.monotonic() < freed_at + RECOVERS_WITHIN:
        answer = post(connection, body_of(1_000, "new"))
        if answer.status == 201:
            recovered_after = time.monotonic() - freed_at
            break
        time.sleep(0.05)
    if bars.require(recovered_after is not None, f"freed: a new announcement: {answer.status} {answer.code}"):
        for index in range(1_001, 1_000 + REFUSED):
            answer = post(connection, body_of(index, "new"))
            bars.require(answer.status == 201, f"freed: a refused announcement repeated: {answer.status} {answer.code}")
    ready, ready_after = until(connection, 200, freed_at)
    bars.require(ready is not None, "freed: /readyz does not answer 200")
    bars.require(service.is_running and service.pid == pid, "the service ended")
    bars.figures = {
        "known": len(known),
        "refused": {str(status): refused_statuses.count(status) for status in sorted(set(refused_statuses))},
        "same_clip": same.status,
        "batch": batch.status,
        "unready_after_s": unready_after and round(unready_after, 2),
        "recovered_after_s": recovered_after and round(recovered_after, 3),
        "ready_after_s": ready_after and round(ready_after, 2),
    }


def until(connection, status, since):
    """Polls /readyz until it has this status. Returns its answer and the seconds since `since`, or nothing."""
    while time.monotonic() < since + RECOVERS_WITHIN + 5:
        answer = connection.request("GET", "/readyz")
        if answer.status == status:
            return answer, time.monotonic() - since
        time.sleep(0.1)
    return None, None

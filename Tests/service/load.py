# SPDX-License-Identifier: Apache-2.0
"""Runs wrk for 60 s and kills a speaker every 200 ms: no answer may be wrong or lost, and memory must not grow."""

import collections
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import threading

import inputs
from client import Lost, post
from harness import (
    MEBIBYTE,
    ROOT,
    Bars,
    Sampler,
    Service,
    Unusable,
    mean,
    memory,
    plain_environment,
    progress,
    report_fault,
    speakers,
    work_folder,
)

SECONDS = 60
KILL_EVERY = 0.2
CLIENTS = 3
# The number of inputs of the recording clients: small enough to repeat many inputs, large enough to need new clips.
POOL = 900
RENDERED_ALONE = 20
# 503 and 429 are correct answers under load. Any other 5xx is a failure.
EXPECTED = {200, 201, 422, 429, 503}
GROWTH = 0.10
GROWTH_BYTES = 8 * MEBIBYTE


class Killer(threading.Thread):
    """Kills a random speaker every 200 ms, mostly one that the service started, sometimes one that is speaking."""

    def __init__(self, pid, seed):
        super().__init__(daemon=True)
        self.pid = pid
        self.random = random.Random(seed)
        self.killed = 0
        self.ends = threading.Event()

    def run(self):
        while not self.ends.wait(KILL_EVERY):
            found = speakers(self.pid, deep=self.random.random() < 0.25)
            if found:
                try:
                    os.kill(self.random.choice(found), signal.SIGKILL)
                    self.killed += 1
                except ProcessLookupError:
                    pass


class Recorder(threading.Thread):
    """Posts inputs from the pool with new ids, and stores each answer."""

    def __init__(self, service, number, pool, seed, ends):
        super().__init__(daemon=True)
        self.connection = service.connect()
        self.number, self.pool, self.ends = number, pool, ends
        self.random = random.Random(seed * 100 + number)
        self.statuses = collections.Counter()
        self.answered = []
        self.faults = []

    def run(self):
        count = 0
        while not self.ends.is_set():
            count += 1
            # Low numbers are chosen often and are cached. High numbers are chosen rarely.
            which = int(len(self.pool) * self.random.random() ** 2)
            body = self.pool[which] | {"id": f"rec-{self.number}-{count}"}
            try:
                answer = post(self.connection, body)
            except (Lost, OSError) as error:
                self.faults.append(f"lost: {error}")
                continue
            self.statuses[answer.status] += 1
            if answer.status == 201:
                self.answered.append((which, answer.json()))
            elif answer.status not in EXPECTED:
                self.faults.append(f"input {which}: {answer.status} {answer.code}")
            elif answer.status == 503:
                self.ends.wait(0.02)
        self.connection.close()


def pool_of(count):
    """Returns payments spoken only by the engine, and texts, including hostile ones."""
    pool = [inputs.payment(index, "", method="speech") for index in range(count)]
    for index, text in enumerate(inputs.hostile_texts().values()):
        pool[index * 7] = {"id": "", "text": text, "locale": "en-US", "method": "speech"}
        pool[index * 7 + 1]["payer"] = text[:80]
    return pool


def run(options):
    bars = Bars()
    if shutil.which("wrk") is None:
        raise Unusable("wrk is missing: apt-get install wrk.")
    seconds = options.scaled(SECONDS, 3)
    pool = pool_of(max(200, options.scaled(POOL)))
    with work_folder(options) as folder, Service(options, folder / "home") as service:
        with service.connect() as connection:
            hit = json.dumps(inputs.payment(1, "hot")).encode()
            answer = post(connection, hit)
            if answer.status not in (200, 201):
                raise Unusable(f"the first request was answered with {answer.status} {answer.code}.")
            hot = answer.json()
        (folder / "hit").write_bytes(hit)
        (folder / "hostile").write_text(
            "".join(
                json.dumps({"id": "@", "text": text, "locale": locale}, ensure_ascii=True) + "\n"
                for text in inputs.hostile_texts().values()
                for locale in ("en-US", "zh-CN")
            )
        )
        ends = threading.Event()
        killer = Killer(service.pid, options.seed)
        recorders = [Recorder(service, number, pool, options.seed, ends) for number in range(CLIENTS)]
        command = [
            "wrk",
            "--threads",
            "2",
            "--connections",
            "16",
            "--duration",
            f"{seconds}s",
            "--timeout",
            "30s",
            "--latency",
            "--script",
            str(ROOT / "Tests" / "service" / "load.lua"),
            f"http://127.0.0.1:{service.port}",
            "--",
            service.key,
            hot["clip"]["name"],
            str(folder / "hit"),
            str(folder / "hostile"),
            str(options.seed),
        ]
        with Sampler(lambda: memory(service.pid)) as resident:
            for thread in [killer, *recorders]:
                thread.start()
            wrk = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            try:
                told, _ = wrk.communicate(timeout=seconds + 60)
            finally:
                wrk.kill()
                ends.set()
                killer.ends.set()
            for thread in [killer, *recorders]:
                thread.join(90)
        progress(f"load: {killer.killed} speakers killed; checking every answer")
        look_at_wrk(told, bars)
        bars.require(service.is_running, "the service ended")
        bars.require(
            killer.killed >= seconds / KILL_EVERY / 3, f"only {killer.killed} speakers were killed in {seconds} s"
        )
        bars.nothing_in([fault for recorder in recorders for fault in recorder.faults], "errors of clients")
        look_at_memory(resident.samples, bars)
        answered = [entry for recorder in recorders for entry in recorder.answered]
        statuses = sum((recorder.statuses for recorder in recorders), collections.Counter())
        bars.figures |= {
            "speakers_killed": killer.killed,
            "recorded": {str(status): count for status, count in sorted(statuses.items())},
        }
        if service.is_running:
            look_at_answers(options, service, folder, pool, answered, bars)
    return bars


def look_at_wrk(told, bars):
    lines = [line for line in told.splitlines() if line.startswith("RESULT ")]
    if not bars.require(lines, f"wrk reported no result: {told[-300:]}"):
        return
    result = json.loads(lines[-1].removeprefix("RESULT "))
    bars.figures["wrk"] = result
    bars.require(
        result["connect"] + result["read"] + result["write"] + result["timeout"] == 0,
        f"wrk had errors: {result['connect']} connecting, {result['read']} reading, {result['write']} writing, "
        f"{result['timeout']} timeouts",
    )
    unexpected = {status: count for status, count in result["statuses"].items() if int(status) not in EXPECTED}
    bars.require(not unexpected, f"wrk received the answers {unexpected}")


def look_at_memory(samples, bars):
    third = len(samples) // 3
    middle, last = mean(samples[third : 2 * third]), mean(samples[2 * third :])
    bars.figures["memory_mib"] = {
        "first": round(mean(samples[:third]) / MEBIBYTE, 1),
        "second": round(middle / MEBIBYTE, 1),
        "last": round(last / MEBIBYTE, 1),
        "most": round(max(samples, default=0) / MEBIBYTE, 1),
    }
    bars.require(
        last <= middle * (1 + GROWTH) + GROWTH_BYTES,
        f"memory grew from {middle / MEBIBYTE:.1f} MiB in the second third to {last / MEBIBYTE:.1f} MiB in the last",
    )


def look_at_answers(options, service, folder, pool, answered, bars):
    """Checks that no answer is wrong or lost: files, stored reports, and the same inputs rendered by the command."""
    wrong, lost = [], []
    clips, made = {}, {}
    for which, report in answered:
        name, digest = report["clip"]["name"], report["clip"]["sha256"]
        if clips.setdefault(name, digest) != digest:
            wrong.append(f"{name} has two digests")
        # A report that was shortened because the engine failed has another clip and says so.
        form = (which, tuple(report["shortened"]))
        if made.setdefault(form, (name, digest)) != (name, digest):
            wrong.append(f"input {which} has two clips")
    with service.connect() as connection:
        for name, digest in clips.items():
            answer = connection.request("GET", f"/v1/clips/{name}")
            if answer.status != 200 or hashlib.sha256(answer.body).hexdigest() != digest:
                wrong.append(f"{name}: {answer.status}, or the bytes differ from the report")
        for _, report in answered:
            answer = connection.request("GET", f"/v1/announcements/{report['id']}")
            fault = report_fault(report, answer.json()) if answer.status == 200 else f"{report['id']}: {answer.status}"
            if fault:
                lost.append(fault)
    checked = compare_with_command(options, folder, pool, made, wrong)
    bars.nothing_in(wrong, "wrong answers")
    bars.nothing_in(lost, "lost answers")
    bars.figures |= {
        "answers_201": len(answered),
        "clips": len(clips),
        "inputs": len({which for which, _ in made}),
        "inputs_made_by_the_command": checked,
        "answers_shortened": sum(1 for _, report in answered if report["shortened"]),
        "wrong": len(wrong),
        "lost": len(lost),
    }


def compare_with_command(options, folder, pool, made, wrong):
    """Renders all inputs with one `crier batch`, and some with `crier render`."""
    environment = plain_environment({"CRIER_HOME": str(folder / "other-home")})
    whole = {which: clip for (which, shortened), clip in made.items() if not shortened}
    lines = "".join(json.dumps(pool[which] | {"id": str(which)}) + "\n" for which in whole)
    batch = subprocess.run(
        [options.crier, "batch", "-", "--json", "--method", "speech"],
        input=lines,
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
    )
    checked = 0
    for line in batch.stdout.splitlines():
        report = json.loads(line)
        if "clip" not in report:
            wrong.append(f"input {report.get('id')} was answered with 201, but crier batch says {report.get('error')}")
        elif not report["shortened"]:
            checked += 1
            if (report["clip"]["name"], report["clip"]["sha256"]) != whole[int(report["id"])]:
                wrong.append(f"input {report['id']}: crier batch makes a different clip")
    if checked < len(whole):
        wrong.append(
            f"crier batch rendered {checked} of {len(whole)} clips (status {batch.returncode}): {batch.stderr[-200:]}"
        )
    # A third home folder ensures that no clip exists already.
    environment = plain_environment({"CRIER_HOME": str(folder / "third-home")})
    for which in random.Random(options.seed).sample(sorted(whole), min(RENDERED_ALONE, len(whole))):
        if "text" in pool[which]:
            command = ["--text", pool[which]["text"], "--locale", pool[which]["locale"]]
        else:
            (folder / "one").write_text(json.dumps(pool[which] | {"id": "one"}))
            command = [str(folder / "one")]
        render = subprocess.run(
            [options.crier, "render", "--json", "--method", "speech", *command],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        if render.returncode != 0 or json.loads(render.stdout)["clip"]["sha256"] != whole[which][1]:
            wrong.append(f"input {which}: crier render (status {render.returncode}) makes a different clip")
    return checked

# SPDX-License-Identifier: Apache-2.0
"""Sends 200,000 mutated bodies. The service must answer each without an internal error and work normally afterwards."""

import base64
import collections
import hashlib
import json
import multiprocessing
import queue
import time

import inputs
from client import JSON, Connection, Lost, post
from harness import MEBIBYTE, ROOT, Bars, Service, memory, problem_fault, progress, work_folder
from mutator import Mutator

BODIES = 200_000
PROCESSES = 4
# One in this many bodies gets a new id. The other valid bodies have the id of an earlier body, so they are read to the
# end and then refused (409) without a render.
FRESH = 100
# One in this many bodies is a batch.
BATCH = 50
# One in this many bodies is sent in chunks, without its length.
CHUNKED = 20
EXPECTED = {200, 201, 202, 400, 409, 413, 415, 422, 429, 503}
GOOD = {"id": "after-mutations", "amount": "12.50", "currency": "CNY", "channel": "alipay", "locale": "zh-CN"}
GOOD_TEXT = "支付宝到账十二元五角"


def send(port, key, seed, count, done, results):
    """Sends bodies from one process over one persistent connection."""
    mutator = Mutator(seed)
    chance = mutator.random
    bodies = inputs.good_bodies() + [
        json.dumps({"id": f"hostile-{name}", "text": text}, ensure_ascii=False).encode()
        for name, text in inputs.hostile_texts().items()
    ]
    batches = inputs.good_batches()
    lists = [body for body, _ in batches]
    statuses = collections.Counter()
    faults = []
    connection = Connection(port, key=key, timeout=60)
    for number in range(count):
        target, kind = "/v1/announcements", JSON
        if chance.randrange(BATCH) == 0:
            body, kind = chance.choice(batches)
            body = mutator.mutate(body, lists)
            target, kind = "/v1/batches", f"Content-Type: {kind}\r\n"
        else:
            body = mutator.mutate(chance.choice(bodies), bodies)
            if chance.randrange(FRESH) == 0:
                for known in (b'"good-', b'"sample-', b'"hostile-'):
                    body = body.replace(known, b'"fresh-%d-%d-' % (seed, number))
        try:
            answer = connection.request("POST", target, body, kind, chunked=chance.randrange(CHUNKED) == 0)
        except (Lost, OSError) as error:
            faults.append((f"lost: {error}", target, base64.b64encode(body).decode()))
        else:
            statuses[(target, answer.status)] += 1
            fault = None
            if answer.status not in EXPECTED:
                fault = f"status {answer.status} {answer.code}"
            elif answer.status >= 400:
                fault = problem_fault(answer, answer.status)
            if fault:
                faults.append((fault, target, base64.b64encode(body).decode()))
        with done.get_lock():
            done.value += 1
        if len(faults) > 100:
            break
    connection.close()
    results.put((statuses, faults))


def run(options):
    bars = Bars()
    count = options.scaled(BODIES, PROCESSES)
    with work_folder(options) as folder, Service(options, folder / "home") as service:
        with service.connect() as connection:
            for body in inputs.good_bodies():
                answer = post(connection, body)
                bars.require(
                    answer.status in (200, 201),
                    f"a valid body was answered with {answer.status} {answer.code}: {body[:120]!r}",
                )
        memory_before = memory(service.pid)
        results, done = multiprocessing.Queue(), multiprocessing.Value("q", 0)
        shares = [count // PROCESSES + (index < count % PROCESSES) for index in range(PROCESSES)]
        start = time.monotonic()
        workers = [
            multiprocessing.Process(
                target=send,
                args=(service.port, service.key, options.seed * 1_000 + index, share, done, results),
                daemon=True,
            )
            for index, share in enumerate(shares)
        ]
        for worker in workers:
            worker.start()
        gathered, told = [], start
        while len(gathered) < len(workers):
            try:
                gathered.append(results.get(timeout=1))
            except queue.Empty:
                dead = [worker for worker in workers if worker.exitcode not in (None, 0)]
                if dead:
                    bars.require(False, f"{len(dead)} client processes ended unexpectedly")
                    break
            if time.monotonic() - told > 10:
                told = time.monotonic()
                progress(f"mutations: {done.value} of {count}, {done.value / (told - start):.0f} a second")
        seconds = time.monotonic() - start
        for worker in workers:
            worker.join(10)
        statuses = sum((part for part, _ in gathered), collections.Counter())
        faults = [fault for _, part in gathered for fault in part]
        lost = [fault for fault in faults if fault[0].startswith("lost")]
        if faults:
            told = ROOT / ".build" / "check-service" / "mutations.jsonl"
            told.parent.mkdir(parents=True, exist_ok=True)
            told.write_text(
                "".join(
                    json.dumps({"fault": fault, "target": target, "body_base64": body}) + "\n"
                    for fault, target, body in faults
                )
            )
            progress(f"bodies that caused failures: {told}")
        bars.nothing_in([fault for fault, _, _ in lost], "connections lost")
        bars.nothing_in([fault for fault, _, _ in faults if not fault.startswith("lost")], "forbidden answers")
        bars.require(sum(statuses.values()) == count, f"{sum(statuses.values())} of {count} bodies were answered")
        bars.require(service.is_running, "the service ended")
        bars.figures = {
            "bodies": sum(statuses.values()),
            "seconds": round(seconds, 1),
            "bodies_a_second": round(sum(statuses.values()) / seconds),
            "lost": len(lost),
            "faults": len(faults) - len(lost),
            "accepted": sum(number for (_, status), number in statuses.items() if status in (200, 201, 202)),
            "announcements": {
                str(status): number for (target, status), number in sorted(statuses.items()) if "batch" not in target
            },
            "batches": {
                str(status): number for (target, status), number in sorted(statuses.items()) if "batch" in target
            },
            "memory_mib_before": round(memory_before / MEBIBYTE, 1),
            "memory_mib_after": round(memory(service.pid) / MEBIBYTE, 1),
        }
        if service.is_running:
            is_well_after(service, bars)
    return bars


def is_well_after(service, bars):
    with service.connect() as connection:
        answer = post(connection, GOOD)
        # Accepted batches may still be using the engine.
        deadline = time.monotonic() + 60
        while answer.status in (429, 503) and time.monotonic() < deadline:
            time.sleep(float(answer.headers.get("retry-after", "1")))
            answer = post(connection, GOOD)
        if not bars.require(answer.status == 201, f"a valid request after the test: {answer.status} {answer.code}"):
            return
        report = answer.json()
        bars.require(report["text"] == GOOD_TEXT, f"a valid request after the test says {report['text']!r}")
        clip = connection.request("GET", f"/v1/clips/{report['clip']['name']}")
        bars.require(
            clip.status == 200 and hashlib.sha256(clip.body).hexdigest() == report["clip"]["sha256"],
            "the clip of a valid request after the test differs from its report",
        )
        bars.require(connection.request("GET", "/readyz").status == 200, "the service is not ready after the test")

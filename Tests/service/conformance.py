# SPDX-License-Identifier: Apache-2.0
"""Runs schemathesis against /openapi.json. The endless event stream is checked separately here."""

import collections
import json
import os
import subprocess
import time

from client import post
from harness import ROOT, Bars, Service, Unusable, plain_environment, problem_fault, progress, work_folder

CASES = 2_000
HERE = ROOT / "Tests" / "service"
PROGRAM = ROOT / ".build" / "schemathesis" / "bin" / "schemathesis"
# schemathesis adds the cases of the examples, the coverage phase and the stateful phase to those of the fuzzing phase.
WORKERS = 2


def run(options):
    bars = Bars()
    if not os.access(PROGRAM, os.X_OK):
        raise Unusable("schemathesis is missing: scripts/check-service installs it.")
    with work_folder(options) as folder, Service(options, folder / "home") as service:
        look_at_events(service, bars)
        look_at_calls(options, service, folder, bars)
        bars.require(service.is_running, "the service ended")
        with service.connect() as connection:
            ready = connection.request("GET", "/readyz").status
            bars.require(ready == 200, f"/readyz answers {ready} after the test")
    return bars


def look_at_calls(options, service, folder, bars):
    with service.connect(key=None) as connection:
        described = connection.request("GET", "/openapi.json")
    if described.status != 200:
        raise Unusable(f"/openapi.json: {described.status}.")
    calls = {
        f"{method.upper()} {path}"
        for path, item in described.json()["paths"].items()
        for method in item
        if method in ("get", "head", "post", "put", "patch", "delete", "options")
    } - {"GET /v1/events", "GET /openapi.json"}
    # schemathesis does not test the document itself, so it is requested separately.
    cases = options.scaled(CASES, 5)
    command = [
        str(PROGRAM),
        "--config-file",
        str(HERE / "schemathesis.toml"),
        "run",
        f"http://127.0.0.1:{service.port}/openapi.json",
        "--checks",
        "all",
        "--max-examples",
        str(cases),
        "--workers",
        str(WORKERS),
        "--seed",
        str(options.seed),
        "--exclude-path",
        "/v1/events",
        "--report",
        "json",
        "--report-json-path",
        str(folder / "report.json"),
        "--no-color",
    ]
    environment = plain_environment(
        {
            "CRIER_CHECK_KEY": service.key,
            "CRIER_CHECK_COUNTS": str(folder / "counts.json"),
            "PYTHONPATH": str(HERE),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
    )
    start = time.monotonic()
    told = ROOT / ".build" / "check-service" / "schemathesis.txt"
    told.parent.mkdir(parents=True, exist_ok=True)
    with open(told, "w", encoding="utf-8") as output:
        # schemathesis runs in the work folder, so that it reads no configuration of the user and leaves no files
        # behind.
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            while process.poll() is None:
                try:
                    process.wait(30)
                except subprocess.TimeoutExpired:
                    progress(f"schemathesis: {time.monotonic() - start:.0f} s; its output: {told}")
                if not service.is_running:
                    break
        finally:
            process.kill()
            process.wait(10)
    seconds = time.monotonic() - start
    text = told.read_text(encoding="utf-8", errors="replace")
    try:
        report = json.loads((folder / "report.json").read_text())
        counts = json.loads((folder / "counts.json").read_text())
    except (OSError, ValueError):
        bars.require(False, f"schemathesis reported no result (status {process.returncode}): {text[-1500:]}")
        return
    bars.nothing_in(
        [
            f"{failure['title']} ({failure['count']}): {', '.join(failure['operations'])}"
            for failure in report["failures"]
        ],
        "failures",
    )
    bars.nothing_in([f"{error['title']} ({error['count']})" for error in report["errors"]], "errors")
    bars.require(process.returncode == 0, f"schemathesis ended with status {process.returncode}; see {told}")
    untested = sorted(calls - counts.keys())
    bars.require(not untested, f"calls that were not tested: {untested}")
    statuses = collections.Counter()
    for phases in counts.values():
        for name, count in phases.items():
            statuses[name.split(" ")[1]] += count
    by_call = {call: sum(phases.values()) for call, phases in sorted(counts.items())}
    fuzzed = {
        call: sum(count for name, count in phases.items() if name.startswith("fuzzing"))
        for call, phases in counts.items()
    }
    bars.figures |= {
        "answers_5xx": {
            call: found
            for call, phases in counts.items()
            if (found := {name: count for name, count in phases.items() if name.split(" ")[1].startswith("5")})
        },
        "calls": len(by_call),
        "cases": sum(by_call.values()),
        "seconds": round(seconds),
        "cases_by_call": by_call,
        "fuzzing_cases_least": min(fuzzed.values(), default=0),
        "statuses": dict(sorted(statuses.items())),
        "warnings": {name: len(found) for name, found in (report.get("warnings") or {}).items() if found},
        "version": report["schemathesis_version"],
    }
    few = {call: count for call, count in fuzzed.items() if count < cases}
    # A call without parameters has fewer different cases. That is not a failure, but it is reported.
    bars.figures["fewer_than_asked"] = few


class Events:
    """An open event stream."""

    def __init__(self, service, headers=""):
        self.connection = service.connect(timeout=30)
        self.connection.send("GET", "/v1/events", headers="Accept: text/event-stream\r\n" + headers)
        self.status, self.headers = self.connection.head()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def read(self, seconds, enough=lambda events, comments: False):
        """Returns the events (as fields) and comments until there are enough or the time is over."""
        events, comments, fields = [], 0, {}
        for line in self.connection.lines(time.monotonic() + seconds):
            if line.startswith(":"):
                comments += 1
            elif line == "":
                # The end of an event or of a chunk.
                if "data" in fields:
                    events.append(fields)
                    fields = {}
            elif ": " in line:
                name, _, value = line.partition(": ")
                fields[name] = value
            if enough(events, comments):
                break
        return events, comments


def look_at_events(service, bars):
    """Checks the headers, the access, the order of a played announcement's events, and continuing after an event."""
    with service.connect(key=None) as connection:
        fault = problem_fault(answer := connection.request("GET", "/v1/events"), 401, "key_missing")
        bars.require(fault is None, f"events without a key: {fault}")
        bars.require("www-authenticate" in answer.headers, "events without a key: no WWW-Authenticate")
    with service.connect() as connection:
        fault = problem_fault(
            connection.request("GET", "/v1/events", headers="Accept: application/json\r\n"), 406, "not_acceptable"
        )
        bars.require(fault is None, f"events as JSON: {fault}")
        answer = connection.request("POST", "/v1/events", b"")
        fault = problem_fault(answer, 405, "method_not_allowed")
        bars.require(fault is None and "allow" in answer.headers, f"POST to events: {fault or 'no Allow'}")
    with Events(service) as stream, service.connect() as connection:
        kind = stream.headers.get("content-type", "")
        bars.require(stream.status == 200 and kind.startswith("text/event-stream"), f"events: {stream.status} {kind}")
        bars.require("no-" in stream.headers.get("cache-control", ""), "events: Cache-Control allows caching")
        for name in ("ev-1", "ev-2"):
            body = {
                "id": name,
                "amount": "1.00",
                "currency": "CNY",
                "locale": "zh-CN",
                "deliver": ["clip", "play"],
                "rate": 450,
            }
            answer = post(connection, body)
            bars.require(answer.status == 201, f"an announcement to be played: {answer.status} {answer.code}")
        is_played = lambda events, _: any('"played"' in event["data"] and '"ev-2"' in event["data"] for event in events)
        events, _ = stream.read(30, is_played)
    parsed = []
    for event in events:
        try:
            parsed.append((event, json.loads(event["data"])))
        except ValueError:
            bars.require(False, f"events: data is not JSON: {event['data'][:200]!r}")
    for event, data in parsed:
        bars.require(
            event.get("event") == data.get("kind"), f"events: {event.get('event')!r} with kind {data.get('kind')!r}"
        )
        if "id" in event:
            whole = {"position", "at", "kind", "id", "number", "detail"} <= data.keys()
            bars.require(whole and event["id"] == str(data["position"]), f"events: fields {sorted(data)}")
    positions = [int(event["id"]) for event, _ in parsed if "id" in event]
    bars.require(positions == sorted(set(positions)), f"events: positions are not ascending: {positions}")
    kinds = [data["kind"] for _, data in parsed if data.get("id") == "ev-1" and data["kind"] != "rendered"]
    bars.require(
        [kind for kind in kinds if kind in ("accepted", "playing", "played")] == ["accepted", "playing", "played"],
        f"events: one announcement has the events {kinds}",
    )
    if len(positions) > 2:
        with Events(service, f"Last-Event-ID: {positions[1]}\r\n") as stream:
            again, _ = stream.read(10, lambda events, _: sum("id" in event for event in events) >= len(positions) - 2)
        again = [int(event["id"]) for event in again if "id" in event]
        bars.require(again == positions[2:], f"events after {positions[1]}: {again} instead of {positions[2:]}")
    start = time.monotonic()
    with Events(service) as stream:
        _, comments = stream.read(20, lambda _, comments: comments > 0)
    bars.require(comments > 0, "events: no comment line arrived within 20 s")
    bars.figures["events"] = {"seen": len(parsed), "first_comment_s": round(time.monotonic() - start, 1)}

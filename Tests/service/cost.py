# SPDX-License-Identifier: Apache-2.0
"""Asks every route that makes no sound for its costliest valid answer, on a ledger of 100,000 announcements.

Each may use at most ten times as much processor time as the median of all, except a list of 200 announcements. Then 16
clients ask for the costliest of them at once, and the new announcements of another account may take at most three times
as long as before.
"""

import collections
import dataclasses
import json
import multiprocessing
import secrets
import shutil
import sqlite3
import subprocess
import threading
import time

import inputs
from client import JSON, Connection, Lost, post
from harness import (
    ROOT,
    Bars,
    Service,
    Unusable,
    milliseconds,
    percentile,
    plain_environment,
    progress,
    told,
    work_folder,
)
from measuring import measure_calls

ROWS = 100_000
# The most that a route may cost, as a multiple of the median.
FACTOR = 10
# A call is repeated until it has used this much processor time or was sent this often.
SECONDS, MOST_CALLS, LEAST_CALLS = 0.4, 1_000, 20
# The number of calls of which each needs something of its own, such as an announcement to cancel.
SINGLE_USE = 60
PUSHES = 300
LOCALES = ("zh-CN", "en-US", "hi-IN")
CLIENTS, PROCESSES = 16, 4
MEASURED_SECONDS = 30
# The most that the 99th percentile of others' new announcements may grow beside the clients.
SLOWER = 3

# The calls that make a sound, and are charged to their account or need the scope `admin`.
MAKE_SOUND = {
    "POST /v1/announcements": "makes a clip, and is charged to the account",
    "POST /v1/previews": "makes a clip, and is charged to the account",
    "POST /v1/audio/speech": "speaks a text, and is charged to the account",
    "POST /v1/batches": "makes clips, and is charged to the account",
    "POST /v1/playback/replay": "the player speaks again; at most six replays in quick succession",
    "PUT /v1/playback/chime": "measures and converts a sound; needs the scope admin",
    "PUT /v1/playback/chime/{kind}": "measures and converts a sound; needs the scope admin",
    "PUT /v1/packs/{id}/clips/{file}": "measures and compares a recording; needs the scope admin",
}
# Calls whose answer has so many parts that ten times the median is not enough: the most that they may cost, as a
# multiple of the median. A list of 200 announcements costs 17 times the median (54 µs each, 2026-11-27). That is less
# than a tenth of the median for each announcement. The service makes one such answer at a time.
PARTS = {"GET /v1/announcements": (20, "has up to 200 announcements, and fewer with many pushes")}
# An endless answer has no cost of its own. An account has a limited number of streams.
STREAMS = {"GET /v1/events"}


@dataclasses.dataclass
class Call:
    """A valid request. The texts of `target` and `body` may contain `{n}`, the number of the call."""

    target: str
    body: object = None
    headers: str = ""
    most: int = MOST_CALLS
    # The refusal that a valid call gets here, such as the cancellation of a batch that has ended.
    refusal: int = 0

    def send(self, connection, method, number):
        body = self.body
        if body is not None:
            body = json.dumps(body).replace("{n}", str(number)).encode()
        headers = self.headers or (JSON if body is not None else "")
        answer = connection.request(method, self.target.replace("{n}", str(number)), body, headers)
        if not 200 <= answer.status < 300 and answer.status != self.refusal:
            raise Unusable(f"{method} {self.target}: {answer.status} {answer.body[:300]!r}")
        return answer


def calls(facts):
    """Returns the costliest valid calls of each route, by method and path. Several are tried where it is not obvious."""
    announcements, device = "/v1/announcements", {"bundle_id": "com.example.shop", "environment": "production"}
    device |= {"tokens": {"alert": "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"}}
    marks = "a" + "%CC%81" * 99
    hook = {"url": "https://shop.example/hooks/{n}", "description": "Till"}
    own = f"/v1/webhook-endpoints/{facts['hook']}"
    named = Call("/v1/devices/phone-1/enumerators/folder-{n}", most=SINGLE_USE)
    once = {"most": SINGLE_USE}
    return {
        "GET /v1/announcements": [
            Call(f"{announcements}?limit=200"),
            Call(f"{announcements}?limit=200&search=zzzzzz"),
            Call(f"{announcements}?limit=200&search={marks}"),
            Call(f"{announcements}?limit=200&search=o"),
            Call(f"{announcements}?limit=200&state=failed,rendered"),
        ],
        "GET /v1/announcements/{id}": [Call(f"{announcements}/pushed"), Call(f"{announcements}/row-7")],
        "DELETE /v1/announcements/{id}": [Call(f"{announcements}/row-{{n}}", **once)],
        "GET /v1/clips/{name}": [Call(f"/v1/clips/{facts['clip']}")],
        "GET /v1/playback": [Call("/v1/playback")],
        "POST /v1/playback/pause": [Call("/v1/playback/pause")],
        "DELETE /v1/playback/{id}": [Call("/v1/playback/waiting-{n}", **once)],
        "POST /v1/playback/restore": [Call("/v1/playback/restore", {"id": "waiting-{n}"}, **once)],
        "DELETE /v1/playback/replays/{number}": [Call("/v1/playback/replays/{replay}")],
        "PUT /v1/playback/volume": [Call("/v1/playback/volume", {"volume": 40})],
        "DELETE /v1/playback/chime": [Call("/v1/playback/chime")],
        "DELETE /v1/playback/chime/{kind}": [Call("/v1/playback/chime/refunded")],
        "GET /v1/batches": [Call("/v1/batches?limit=200")],
        "GET /v1/batches/{id}": [Call(f"/v1/batches/{facts['batch']}")],
        "DELETE /v1/batches/{id}": [Call(f"/v1/batches/{facts['batch']}", refusal=409)],
        "GET /v1/keys": [Call("/v1/keys")],
        "POST /v1/keys": [Call("/v1/keys", {"scopes": ["read"], "name": "Display", "expires": "90d"}, **once)],
        "DELETE /v1/keys/{id}": [Call("/v1/keys/{key}")],
        "GET /v1/devices": [Call("/v1/devices?limit=200")],
        "PUT /v1/devices/{id}": [Call("/v1/devices/more-{n}", device | {"device_group": "counter"}, **once)],
        "GET /v1/devices/{id}": [Call("/v1/devices/phone-1")],
        "DELETE /v1/devices/{id}": [Call("/v1/devices/more-{n}", **once)],
        "GET /v1/devices/{id}/announcements": [Call("/v1/devices/phone-1/announcements?after=0&limit=200")],
        "GET /v1/devices/{id}/enumerators": [Call("/v1/devices/phone-1/enumerators")],
        "POST /v1/devices/{id}/handed_over": [
            Call(
                "/v1/devices/phone-1/handed_over",
                {"announcements": [{"id": f"none-{n}", "at": "2026-11-20T20:23:59Z"} for n in range(200)]})
        ],
        "PUT /v1/devices/{id}/enumerators/{container}": [named],
        "DELETE /v1/devices/{id}/enumerators/{container}": [named],
        "GET /v1/webhook-endpoints": [Call("/v1/webhook-endpoints")],
        "POST /v1/webhook-endpoints": [Call("/v1/webhook-endpoints", hook, most=10)],
        "GET /v1/webhook-endpoints/{id}": [Call(own)],
        "DELETE /v1/webhook-endpoints/{id}": [Call("/v1/webhook-endpoints/{hook}")],
        "POST /v1/webhook-endpoints/{id}/test": [Call(f"{own}/test", most=5, refusal=429)],
        "POST /v1/webhook-endpoints/{id}/enable": [Call(f"{own}/enable", refusal=409)],
        "GET /v1/library/changes": [Call("/v1/library/changes?limit=1000")],
        "GET /v1/library/files/{sha256}": [Call(f"/v1/library/files/{facts['sha256']}")],
        "GET /v1/locales": [Call("/v1/locales")],
        "GET /v1/voices": [Call("/v1/voices")],
        "GET /v1/packs": [Call("/v1/packs")],
        "GET /v1/packs/{id}/clips": [Call(f"/v1/packs/{pack}/clips") for pack in facts["packs"]],
        "GET /v1/packs/{id}/clips/{file}": [Call(f"/v1/packs/{facts['packs'][0]}/clips/{facts['file']}")],
        "PUT /v1/packs/{id}/marks/{file}": [
            Call(f"/v1/packs/{facts['packs'][0]}/marks/{facts['file']}", {"is_marked": True})
        ],
        "GET /healthz": [Call("/healthz")],
        "GET /readyz": [Call("/readyz")],
        "GET /metrics": [Call("/metrics")],
        "GET /openapi.json": [Call("/openapi.json")],
        "GET /": [Call("/")],
        "GET /console.css": [Call("/console.css")],
        "GET /console.js": [Call("/console.js")],
        "GET /console/{name}": [Call("/console/recent.js")],
        "GET /languages/{name}": [Call("/languages/hi-IN.json")],
        "POST /v1/playback/resume": [Call("/v1/playback/resume")],
    }


def processor_time(pid):
    """Returns the processor time of a process with all its threads, in seconds, to the nanosecond (clock_getcpuclockid)."""
    return time.clock_gettime((~pid << 3) | 2)


class Meter:
    """Measures the processor time of calls, without what the service uses while nobody asks it anything."""

    def __init__(self, service, key, options):
        self.service = service
        self.connection = service.connect(key=key, timeout=120)
        self.numbers = {}
        self.share = min(1.0, max(0.1, options.scale))
        start, used = time.monotonic(), processor_time(service.pid)
        time.sleep(3)
        self.idle = (processor_time(service.pid) - used) / (time.monotonic() - start)

    def cost(self, method, call, ids):
        """Returns the processor time of a call in seconds. `ids` are taken one after the other for names in braces."""
        if method == "GET" and not ids:
            # A value that is computed once for each digest of a voice pack is not part of the cost of a call.
            call.send(self.connection, method, 0)
        start, used, count = time.monotonic(), processor_time(self.service.pid), 0
        enough = max(0.05, SECONDS * self.share)
        # Calls that make or use up things are all sent, so that the next call finds all of these things.
        least = call.most if call.most <= SINGLE_USE else LEAST_CALLS
        while count < call.most and (count < least or self.used(start, used) < enough):
            sent = call
            if ids:
                name, value = next(iter(ids)), None
                if not ids[name]:
                    break
                value = ids[name].pop()
                sent = dataclasses.replace(call, target=call.target.replace("{" + name + "}", str(value)))
            sent.send(self.connection, method, count)
            count += 1
        if count == 0:
            raise Unusable(f"{method} {call.target}: nothing is left to ask for")
        return self.used(start, used) / count, count

    def used(self, start, used):
        return processor_time(self.service.pid) - used - self.idle * (time.monotonic() - start)


# Preparation


def key_of(options, home, account, scopes):
    command = [options.crier, "keys", "create", "--account", account, "--json"]
    for scope in scopes:
        command += ["--scope", scope]
    made = subprocess.run(
        command, env=plain_environment({"CRIER_HOME": str(home)}), capture_output=True, text=True, timeout=60
    )
    if made.returncode != 0:
        raise Unusable(f"a key of {account} could not be created: {made.stderr[-200:]}")
    return json.loads(made.stdout)["key"]


def build_packs(options, home):
    """Builds the packs of the default languages with the engine, or copies those that were built before."""
    voices = home / "Voices"
    for locale in LOCALES:
        found = sorted((ROOT / "Voices").glob(f"{locale}-*/manifest.json"))
        if found:
            shutil.copytree(found[0].parent, voices / found[0].parent.name)
            continue
        command = [options.crier, "voices", "build", "--data", str(ROOT), "--voices", str(voices), "--quiet"]
        built = subprocess.run(
            [*command, "--locale", locale], env=plain_environment(), capture_output=True, text=True, timeout=1_200
        )
        if built.returncode != 0:
            raise Unusable(f"the voice pack of {locale} could not be built: {built.stderr[-300:]}")
    return sorted(path.parent.name for path in voices.glob("*/manifest.json"))


def copy_row(database, table, seed, count, **changes):
    """Copies a row many times. `changes` are expressions for columns, in which `n` is the number of the copy."""
    columns = [name for _, name, *_, key in database.execute(f"PRAGMA table_info({table})") if not key]
    values = ", ".join(changes.get(name, name) for name in columns)
    database.execute(
        f"""WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})
            INSERT INTO {table} ({", ".join(columns)}) SELECT {values} FROM {table}, numbers WHERE {seed}"""
    )


def fill(home, rows):
    """Copies the announcement `seed` with its answer and its events, and gives `pushed` many pushes."""
    database = sqlite3.connect(home / "ledger.sqlite", isolation_level=None)
    database.execute("BEGIN")
    seed = "id = 'seed'"
    number = database.execute("SELECT number FROM announcements WHERE id = 'seed'").fetchone()[0]
    copy_row(database, "announcements", seed, rows, id="'row-' || (n - 1)", accepted_at="accepted_at - n")
    copy_row(
        database, "answers", seed, rows, key="'id:row-' || (n - 1)", id="'row-' || (n - 1)", created_at="created_at - n"
    )
    copy_row(database, "events", f"announcement = {number}", rows // 3)
    # Pushes that ended long ago would be pruned at the start.
    now = int(time.time() * 1000)
    account = database.execute("SELECT account FROM announcements WHERE id = 'seed'").fetchone()[0]
    clip = database.execute("SELECT clip FROM answers WHERE id = 'seed'").fetchone()[0]
    database.execute(
        """WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
           INSERT INTO pushes (apns_id, account, device, announcement, kind, app, environment, sequence, priority, body,
             clip, state, created_at, expires_at, finished_at)
           SELECT printf('%08X-0000-4000-8000-000000000000', n), ?, 'phone-' || n, 'pushed', 'alert', 'com.example.shop',
             'production', 1, 10, x'7B7D', ?, 'delivered', ?, ?, ? FROM numbers""",
        (PUSHES, account, clip, now, now, now),
    )
    for count in range(200):
        database.execute(
            """INSERT INTO pushes (apns_id, account, device, announcement, kind, app, environment, sequence, priority,
                 body, clip, state, created_at, expires_at, finished_at)
               VALUES (?, ?, 'phone-1', ?, 'alert', 'com.example.shop', 'production', ?, 10, x'7B7D', ?, 'delivered', ?,
                 ?, ?)""",
            (f"{count:08X}-1111-4000-8000-000000000000", account, f"row-{count + 1000}", count + 2, clip, now, now, now),
        )
    database.execute("COMMIT")
    database.close()
    for suffix in ("", "-wal", "-shm"):
        path = home / f"ledger.sqlite{suffix}"
        if path.exists():
            path.chmod(0o600)


def prepare(options, service, key):
    """Fills the home folder, and returns what the calls need to know."""
    facts = {"packs": build_packs(options, service.home)}
    with service.connect(key=key) as connection:
        longest = " ".join(["The shop closes at nine in the evening"] * 8)
        made = post(connection, {"id": "long", "text": longest, "locale": "en-US", "rate": 175}).json()["clip"]
        (facts["clip"], facts["sha256"]) = (made["name"], made["sha256"])
        device = {"bundle_id": "com.example.shop", "environment": "production", "device_group": "till"}
        for number in range(1, 201):
            body = device | {"tokens": {"alert": secrets.token_hex(32)}}
            connection.request("PUT", f"/v1/devices/phone-{number}", json.dumps(body).encode(), JSON)
        payment = inputs.payment(1, "seed", payer="Zhang Wei", deliver=["clip", "play"])
        for identifier in ("seed", "pushed"):
            answer = post(connection, payment | {"id": identifier})
            if answer.status != 201:
                raise Unusable(f"{identifier}: {answer.status} {answer.body[:300]!r}")
        while connection.request("GET", "/v1/announcements/pushed").json()["delivery"]["play"]["state"] != "played":
            time.sleep(0.05)
        rows = b"".join(json.dumps(inputs.payment(index, f"b-{index}")).encode() + b"\n" for index in range(200))
        batch = connection.request("POST", "/v1/batches", rows, "Content-Type: application/jsonl\r\n")
        facts["batch"] = batch.json()["id"]
        while connection.request("GET", f"/v1/batches/{facts['batch']}").json()["state"] == "running":
            time.sleep(0.1)
        hook = connection.request(
            "POST", "/v1/webhook-endpoints", json.dumps({"url": "https://shop.example/"}).encode(), JSON
        )
        facts["hook"] = hook.json()["id"]
    service.terminate()
    fill(service.home, options.scaled(ROWS, 2_000))
    service.start()
    with service.connect(key=key) as connection:
        listed = connection.request("GET", f"/v1/packs/{facts['packs'][0]}/clips").json()
        facts["file"] = listed["clips"][0]["file"]
        connection.request("POST", "/v1/playback/pause")
        for number in range(200):
            post(connection, inputs.payment(1, f"waiting-{number}", payer="Zhang Wei", deliver=["play"]))
    return facts


# The two checks


def look_at_costs(service, key, facts, options, bars):
    """Measures all routes, and returns the costliest call of those that a key with the scope `read` may send."""
    known = calls(facts)
    with service.connect(key=None) as connection:
        paths = connection.request("GET", "/openapi.json").json()["paths"]
    described = [
        f"{method.upper()} {path}"
        for path, item in paths.items()
        for method in item
        if method in ("get", "put", "post", "delete", "patch")
    ]
    unknown = [name for name in described if name not in {*known, *MAKE_SOUND, *STREAMS}]
    bars.nothing_in(unknown, "routes of /openapi.json whose costliest call this check does not know")
    bars.nothing_in([name for name in known if name not in described], "calls that /openapi.json does not have")
    meter = Meter(service, key, options)
    costs, costliest = {}, None
    lists = {"replay": [], "key": [], "hook": []}
    for name, variants in known.items():
        method = name.split()[0]
        ids = {part: values for part, values in lists.items() if any(f"{{{part}}}" in call.target for call in variants)}
        if ids:
            fill_ids(meter.connection, ids)
        best = (0.0, 0, variants[0])
        for call in variants:
            cost, count = meter.cost(method, call, ids)
            best = max(best, (cost, count, call), key=lambda entry: entry[0])
        costs[name] = best
        if method == "GET" and name != "GET /v1/keys" and (costliest is None or best[0] > costs[costliest][0]):
            costliest = name
    median = percentile([cost for cost, _, _ in costs.values()], 0.5)
    progress(f"cost: the median is {median * 1000:.3f} ms, and the idle service uses {meter.idle * 100:.1f} % of a core")
    for name, (cost, count, call) in sorted(costs.items(), key=lambda entry: -entry[1][0]):
        most, reason = PARTS.get(name, (FACTOR, ""))
        progress(f"  {cost * 1000:9.3f} ms {cost / median:6.1f} x  {count:5}  {name}  {reason}")
        bars.require(
            cost <= most * median,
            f"{name} ({call.target[:80]}) costs {cost * 1000:.2f} ms, {cost / median:.1f} times the median of "
            f"{median * 1000:.2f} ms; {most} times are allowed",
        )
    bars.figures["median_ms"] = milliseconds(median)
    bars.figures["costs_ms"] = {name: milliseconds(cost) for name, (cost, _, _) in costs.items()}
    return costs[costliest][2].target


def fill_ids(connection, ids):
    """Makes things of which each call needs one of its own."""
    for name, values in ids.items():
        values.clear()
        if name == "key":
            keys = connection.request("GET", "/v1/keys").json()["keys"]
            values += [key["id"] for key in keys if key.get("name") == "Display" and not key.get("revoked_at")]
        elif name == "hook":
            hooks = connection.request("GET", "/v1/webhook-endpoints").json()["webhook_endpoints"]
            values += [hook["id"] for hook in hooks if hook.get("description") == "Till"]
        else:
            for _ in range(3):
                answer = post(connection, {"id": "seed"}, target="/v1/playback/replay")
                if answer.status in (200, 201, 202):
                    values.append(answer.json()["number"])


def ask(port, key, target, threads, pipe):
    """Runs as its own process. Sends one request after the other on several connections until it is told to end."""
    statuses, ends = collections.Counter(), threading.Event()

    def run():
        with Connection(port, key=key, timeout=120) as connection:
            while not ends.is_set():
                try:
                    statuses[str(connection.request("GET", target).status)] += 1
                except (Lost, OSError):
                    statuses["lost"] += 1

    running = [threading.Thread(target=run, daemon=True) for _ in range(threads)]
    for thread in running:
        thread.start()
    pipe.poll(None)
    ends.set()
    for thread in running:
        thread.join(60)
    pipe.send(dict(statuses))


def look_at_others(service, key, target, seconds, bars):
    """Measures the new announcements of another account, without and with 16 clients of the costliest call."""
    # Each payment has a sum of its own, so none has a clip yet.
    new = {"new": lambda connection, number: post(connection, inputs.payment(number, f"new-{number}", method="speech"))}

    def measure(seconds, number):
        return measure_calls(service, seconds, lambda _: "new", new, number, (201,))

    _, _, number = measure(seconds / 5, 0)
    before, errors_before, number = measure(seconds, number)
    askers = []
    for _ in range(PROCESSES):
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.Process(
            target=ask, args=(service.port, key, target, CLIENTS // PROCESSES, theirs), daemon=True
        )
        process.start()
        askers.append((ours, process))
    try:
        _, _, number = measure(seconds / 5, number)
        beside, errors_beside, number = measure(seconds, number)
        statuses = collections.Counter()
        for pipe, _ in askers:
            pipe.send("end")
        for pipe, process in askers:
            if not pipe.poll(120):
                raise Unusable("a client did not stop.")
            statuses.update(pipe.recv())
            process.join(30)
    finally:
        for _, process in askers:
            process.kill()
    old, new_p99 = percentile(before["new"], 0.99), percentile(beside["new"], 0.99)
    bars.figures |= {"asked": target, "before": told(before), "beside": told(beside), "answers": dict(statuses)}
    bars.nothing_in(errors_before + errors_beside, "errors of the other account")
    bars.require(set(statuses) == {"200"}, f"the 16 clients received {dict(statuses)}")
    bars.require(
        new_p99 <= SLOWER * old,
        f"the p99 of another account's new announcements was {old * 1000:.1f} ms, and is {new_p99 * 1000:.1f} ms beside "
        f"16 clients of {target}",
    )


def run(options):
    bars = Bars()
    with work_folder(options) as folder, Service(options, folder / "home") as service:
        key = key_of(options, service.home, "askers", ("announce", "read", "play", "admin"))
        facts = prepare(options, service, key)
        target = look_at_costs(service, key, facts, options, bars)
        look_at_others(service, key, target, max(5.0, MEASURED_SECONDS * min(1.0, options.scale)), bars)
        bars.require(service.is_running, "the service ended")
    return bars

# SPDX-License-Identifier: Apache-2.0
"""Attacks by one key holder and by strangers must not affect the requests and batches of other clients.

The attackers have a key of another account, or only a key's id, or no key. They do all of this at once:

- send payloads that take long to read: a name with 30,000 combining marks, texts without a word, 4,000 unknown keys;
- use a new app group in each request, and request clips that do not exist;
- send batches with a known key's id and an invalid signature, whose bodies stop half-way;
- announce a clip that exists already, and remove the announcement, repeatedly;
- send requests with well-formed but unknown keys, and open and close event streams.
"""

import json
import multiprocessing
import secrets
import socket
import subprocess
import time

import inputs
from client import Connection, Lost, post
from harness import Bars, Service, Unusable, percentile, plain_environment, progress, told, work_folder
from measuring import get_on_new_connection, measure_calls

MEASURED_SECONDS = 20
# The limits for the others' 99th percentile during the attack: a factor of the value without it, and an allowance for a
# short stall of the machine.
FACTOR, MORE_MS = 2, 5
# The maximum number of requests an attacking process sends in a second. An attack that overloads the machine itself
# would say nothing about the service.
RATE = 60
HALF_SENT = 4
KINDS = ("costly", "groups", "half-sent", "removals", "keyless", "streams")


def attack(kind, port, key, pipe):
    """Runs as its own process. Sends requests until it is told to end, and then reports the answers."""
    number, statuses = 0, {}
    held = []
    connection = Connection(port, key=None if kind == "keyless" else key, timeout=30)
    while not pipe.poll(1 / RATE):
        number += 1
        try:
            status = ATTACKS[kind](connection, key, number, held)
        except (Lost, OSError):
            status = "closed"
        statuses[str(status)] = statuses.get(str(status), 0) + 1
    for connected in held:
        connected.close()
    connection.close()
    pipe.send(statuses)


def costly(connection, key, number, held):
    body = {"id": f"costly-{number}-{secrets.token_hex(4)}", "amount": "12.50", "currency": "USD", "locale": "en-US"}
    turn = number % 4
    if turn == 0:
        body["payer"] = "e" + "\u0301" * 30_000
    elif turn == 1:
        body["note"] = "\u0f71\u0f72\u0f73" * 66
    elif turn == 2:
        body |= {f"key{index}": index for index in range(4_000)}
    else:
        body = {"id": body["id"], "text": "1,2.3-" * 300, "locale": "en-US"}
    return post(connection, body).status


def groups(connection, key, number, held):
    if number % 2:
        body = inputs.payment(1, secrets.token_hex(8), group=f"group.{secrets.token_hex(6)}")
        return post(connection, body).status
    return connection.request("GET", f"/v1/clips/{secrets.token_hex(32)}.wav").status


def half_sent(connection, key, number, held):
    """Keeps four incomplete uploads open."""
    for connected in list(held):
        connected.setblocking(False)
        try:
            if connected.recv(4_096) == b"":
                raise ConnectionError
        except BlockingIOError:
            pass
        except OSError:
            connected.close()
            held.remove(connected)
    if len(held) >= HALF_SENT:
        return "held"
    connected = socket.create_connection(connection.address, timeout=5)
    head = (
        f"POST /v1/batches HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Crier {key.split('_')[1]}\r\n"
        f"Crier-Timestamp: {int(time.time())}\r\nCrier-Signature: v2={'0' * 64}\r\n"
        "Content-Type: application/jsonl\r\nContent-Length: 1000000\r\n\r\n"
    )
    connected.sendall(head.encode() + b'{"id": "never"' * 100)
    held.append(connected)
    return "opened"


def removals(connection, key, number, held):
    """Makes an announcement whose clip exists already, and removes it."""
    identifier = f"removal-{secrets.token_hex(4)}"
    status = post(connection, inputs.payment(1, identifier)).status
    if status != 201:
        return status
    return connection.request("DELETE", f"/v1/announcements/{identifier}").status


def keyless(connection, key, number, held):
    """Sends well-formed unknown keys from one address behind a proxy on the loopback address."""
    unknown = f"crier_{secrets.token_hex(4)}_{secrets.token_urlsafe(32)}"
    headers = f"Authorization: Bearer {unknown}\r\nX-Forwarded-For: 203.0.113.7\r\n"
    return connection.request("GET", "/v1/announcements", headers=headers).status


def streams(connection, key, number, held):
    with Connection(connection.address[1], key=key, timeout=5) as stream:
        stream.send("GET", "/v1/events")
        status, _ = stream.head()
        return status


ATTACKS = {
    "costly": costly,
    "groups": groups,
    "half-sent": half_sent,
    "removals": removals,
    "keyless": keyless,
    "streams": streams,
}


def measure(service, clip, hit, seconds, start_number):
    """Measures the calls of other clients: cached and new clips, and sometimes a batch and a new connection."""
    target = f"/v1/clips/{clip}"
    batch = json.dumps(inputs.payment(2, "row")).encode()

    def new_clip(connection, number):
        body = inputs.payment(number, f"new-{number}", method="speech") | {"minor": 100_000 + number}
        return post(connection, body)

    def finish(connection, kind, answer):
        if kind == "batch":
            wait_for_batch(connection, answer.json()["id"])

    calls = {
        "get": lambda connection, _: connection.request("GET", target),
        "post": lambda connection, _: post(connection, hit),
        "new_clip": new_clip,
        "batch": lambda connection, _: connection.request(
            "POST", "/v1/batches", batch, "Content-Type: application/jsonl\r\n", chunked=True
        ),
        "new_connection": lambda *_: get_on_new_connection(service, target),
    }

    def kind_of(number):
        return {0: "batch", 10: "new_connection"}.get(number % 20, ("get", "post", "new_clip")[number % 3])

    return measure_calls(service, seconds, kind_of, calls, start_number, (200, 201, 202), finish)


def wait_for_batch(connection, batch):
    """Waits until a batch has ended. Only one runs at a time, so a refused batch was refused because of others."""
    while connection.request("GET", f"/v1/batches/{batch}").json()["state"] == "running":
        time.sleep(0.005)


def attackers_key(options, service):
    made = subprocess.run(
        [options.crier, "keys", "create", "--account", "attackers", "--scope", "announce", "--scope", "read", "--json"],
        env=plain_environment({"CRIER_HOME": str(service.home)}),
        capture_output=True,
        text=True,
        timeout=60,
    )
    if made.returncode != 0:
        raise Unusable(f"the key for the attackers could not be created: {made.stderr[-200:]}")
    return json.loads(made.stdout)["key"]


def run(options):
    bars = Bars()
    seconds = max(3.0, MEASURED_SECONDS * min(1.0, options.scale))
    with work_folder(options) as folder, Service(options, folder / "home") as service:
        with service.connect() as connection:
            hit = json.dumps(inputs.payment(1, "hot")).encode()
            answer = post(connection, hit)
            if answer.status != 201:
                raise Unusable(f"the first request was answered with {answer.status} {answer.code}.")
            clip = answer.json()["clip"]["name"]
        key = attackers_key(options, service)
        _, _, number = measure(service, clip, hit, seconds / 5, 0)
        before, errors_before, number = measure(service, clip, hit, seconds, number)
        progress("attack: measuring again during the attack")
        attackers = []
        for kind in KINDS:
            ours, theirs = multiprocessing.Pipe()
            process = multiprocessing.Process(target=attack, args=(kind, service.port, key, theirs), daemon=True)
            process.start()
            attackers.append((kind, ours, process))
        try:
            # Wait until every attacker has started.
            _, _, number = measure(service, clip, hit, seconds / 5, number)
            during, errors_during, number = measure(service, clip, hit, seconds, number)
            for _, pipe, _ in attackers:
                pipe.send("end")
            answered = {}
            for kind, pipe, process in attackers:
                if not pipe.poll(60):
                    raise Unusable(f"the attacker {kind} did not stop.")
                answered[kind] = pipe.recv()
                process.join(30)
        finally:
            for _, _, process in attackers:
                process.kill()
        bars.figures = {"before": told(before), "during": told(during), "attackers": answered}
        bars.nothing_in(errors_before + errors_during, "errors of other clients")
        for kind in KINDS:
            bars.require(sum(answered[kind].values()) >= seconds, f"{kind}: too few requests: {answered[kind]}")
        for kind, values in before.items():
            old, new = percentile(values, 0.99) * 1000, percentile(during.get(kind, []), 0.99) * 1000
            bars.require(len(during.get(kind, [])) >= len(values) / 4, f"{kind}: far fewer requests than before")
            bars.require(
                new <= FACTOR * old + MORE_MS, f"{kind}: p99 was {old:.2f} ms and is {new:.2f} ms during the attack"
            )
        unserved = {status for statuses in answered.values() for status in statuses if status.startswith("5")}
        bars.require(not unserved - {"503"}, f"attackers received the answers {sorted(unserved)}")
        bars.require(service.is_running, "the service ended")
    return bars

# SPDX-License-Identifier: Apache-2.0
"""Sends SIGTERM under load: complete requests are answered, the service ends within 10 s, and every 201 is stored."""

import collections
import json
import random
import socket
import threading
import time

import inputs
from client import Lost, post
from harness import Bars, Service, mean, progress, report_fault, work_folder

ROUNDS = 8
CLIENTS = 12
STOPS_WITHIN = 10
# The load before the signal, in seconds.
LONGEST_LOAD = 1.5
EXPECTED = {200, 201, 202, 503}


class Client(threading.Thread):
    """Sends requests over a persistent connection until one is refused or the service is gone."""

    def __init__(self, service, round_number, number):
        super().__init__(daemon=True)
        self.service, self.round, self.number = service, round_number, number
        self.connection = service.connect(timeout=30)
        self.told, self.faults, self.lost = [], [], []
        self.statuses = collections.Counter()
        self.closed = 0

    def run(self):
        count = 0
        while True:
            count += 1
            index = self.round * 1_000_000 + self.number * 50_000 + count
            if self.number % 4 == 0:
                body = json.dumps(inputs.payment(1, "hot")).encode()
            else:
                body = json.dumps(
                    inputs.payment(index, f"stop-{self.round}-{self.number}-{count}", method="speech")
                ).encode()
            sent_at, served = None, 0
            try:
                self.connection.open()
                served = self.connection.requests
                self.connection.send("POST", "/v1/announcements", body, "Content-Type: application/json\r\n")
                # The last byte was sent, so a request counted as sent before the signal was completely sent.
                sent_at = time.monotonic()
                answer = self.connection.receive()
            except Lost as error:
                if error.sent:
                    self.lost.append((sent_at, served, error.received, str(error)))
                else:
                    self.closed += 1
                return
            except OSError:
                # The service no longer accepts connections.
                self.closed += 1
                return
            self.statuses[answer.status] += 1
            if answer.status == 201:
                self.told.append((json.loads(body)["id"], body, answer.body))
            elif answer.status == 503 and answer.code == "stopping":
                return
            elif answer.status not in EXPECTED:
                self.faults.append(f"{answer.status} {answer.code}")


def bystanders(service):
    """Opens connections that must not delay the end: an unused one, half a request, and an event stream."""
    found = []
    for text in (
        "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
        f"POST /v1/announcements HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.key}\r\nContent-Type: application/json\r\n"
        "Content-Length: 100\r\n\r\n{",
        f"GET /v1/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer {service.key}\r\n\r\n",
    ):
        connected = socket.create_connection(("127.0.0.1", service.port), timeout=10)
        connected.sendall(text.encode())
        found.append(connected)
    return found


def run(options):
    bars = Bars()
    rounds = options.scaled(ROUNDS, 2)
    chance = random.Random(options.seed)
    told, before, after, fresh, torn, faults, missing, statuses, seconds = (
        [],
        [],
        [],
        [],
        [],
        [],
        [],
        collections.Counter(),
        [],
    )
    ends = []
    with work_folder(options) as folder:
        service = Service(options, folder / "home")
        with service:
            for number in range(1, rounds + 1):
                clients = [Client(service, number, index) for index in range(CLIENTS)]
                with service.connect() as connection:
                    post(connection, json.dumps(inputs.payment(1, "hot")).encode())
                held = bystanders(service)
                for client in clients:
                    client.start()
                time.sleep(chance.uniform(0.2, LONGEST_LOAD))
                signalled = time.monotonic()
                status, took = service.terminate(timeout=STOPS_WITHIN + 20)
                ends.append(status)
                seconds.append(took)
                for client in clients:
                    client.join(40)
                    told += client.told
                    faults += client.faults
                    statuses += client.statuses
                    for sent_at, served, received, text in client.lost:
                        # For the second kind, the server has only seen a connection in its queue.
                        kind = torn if received else before if sent_at < signalled else after if served else fresh
                        kind.append(f"round {number}: {text}")
                for connected in held:
                    connected.close()
                service.kill()
                service.start()
                missing += look_at(service, [entry for entry in told if entry[0].startswith(f"stop-{number}-")])
                progress(
                    f"stop: {number} of {rounds}: status {status} after {took:.2f} s; {len(told)} answered 201, {len(missing)} missing"
                )
            missing += look_at(service, told)
    bars.nothing_in(before, "requests sent before the signal without an answer")
    bars.nothing_in(torn, "truncated answers")
    bars.nothing_in(after, "requests sent after the signal on a connection in use, without an answer")
    bars.nothing_in(faults, "other answers")
    bars.nothing_in(missing, "lost answers")
    bars.require(all(status == 0 for status in ends), f"exit statuses {ends} (None means that it did not end)")
    bars.require(max(seconds) <= STOPS_WITHIN, f"the service took up to {max(seconds):.1f} s to end")
    bars.figures = {
        "stops": rounds,
        "answers": {str(status): count for status, count in sorted(statuses.items())},
        "told_201": len(told),
        "unanswered_sent_before": len(before),
        "unanswered_sent_after": len(after),
        "unanswered_on_new_connections": len(fresh),
        "cut_short": len(torn),
        "lost": len(missing),
        "end_s_mean": round(mean(seconds), 2),
        "end_s_most": round(max(seconds), 2),
        "speakers_that_outlived_it": service.orphans,
    }
    return bars


def look_at(service, entries):
    missing = []
    with service.connect() as connection:
        for identifier, data, body in entries:
            read = connection.request("GET", f"/v1/announcements/{identifier}")
            fault = (
                report_fault(json.loads(body), read.json()) if read.status == 200 else f"{identifier}: {read.status}"
            )
            if fault is None:
                again = post(connection, data)
                if (again.status, again.body) != (200, body):
                    fault = f"{identifier}: repeated POST {again.status}, {'the same' if again.body == body else 'another'} body"
            if fault:
                missing.append(fault)
    return missing

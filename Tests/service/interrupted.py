# SPDX-License-Identifier: Apache-2.0
"""Kills the service with kill -9 in every state of a delivery, 200 times, and with messages that end it by themselves.

A message ends the service by itself when its receiver kills the service before it answers. After two such ends in a
row, the message is set aside: the service stays up, and everything else is delivered and heard.
"""

import contextlib
import http.server
import json
import random
import threading
import time

from client import Lost, post
from harness import Bars, Service, Unusable, progress, work_folder

ROUNDS = 200
# The states of a delivery in which the service is killed.
STATES = ("accepted", "connected", "sent", "answered", "playing", "any")
# The messages that end the service by themselves, and those beside them.
DEADLY, OTHERS = 3, 30
PATIENCE = 60


class Receiver:
    """A receiver of webhooks that can kill the service at a moment of a delivery."""

    def __init__(self):
        self.lock = threading.Lock()
        self.counts = {}
        self.deadly = set()
        self.killed_by_deadly = 0
        # The state in which the next delivery kills the service, and how.
        self.trap = None
        self.kill = lambda: None
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                receiver.spring("connected")

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                key = (json.loads(body)["data"].get("id", ""), json.loads(body)["type"])
                if key in receiver.deadly:
                    with receiver.lock:
                        receiver.killed_by_deadly += 1
                    receiver.kill()
                    return
                if receiver.spring("sent"):
                    return
                with receiver.lock:
                    receiver.counts[key] = receiver.counts.get(key, 0) + 1
                self.send_response(204)
                # Each message then has a connection of its own, so that each can be met when it connects.
                self.send_header("connection", "close")
                self.end_headers()
                self.wfile.flush()
                receiver.spring("answered")

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """A service that is killed closes its connections."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def spring(self, state):
        """Kills the service if it is to be killed in this state. Returns whether it was."""
        with self.lock:
            if self.trap != state:
                return False
            self.trap = None
        self.kill()
        return True

    def has(self, key):
        with self.lock:
            return key in self.counts


def run(options):
    bars = Bars()
    rounds = options.scaled(ROUNDS, len(STATES))
    chance = random.Random(options.seed)
    receiver = Receiver()
    with work_folder(options) as folder:
        (folder / "home").mkdir(mode=0o700)
        (folder / "home" / "crier.yaml").write_text("webhook_private_addresses: true\n")
        log = folder / "heard.jsonl"
        service = Service(options, folder / "home", output=f"file:{log}")
        receiver.kill = lambda: service.process.kill()
        with service:
            register(service, receiver.url)
            ids, undelivered, unheard = [], [], []
            for number in range(rounds):
                state = STATES[number % len(STATES)]
                identifier = f"round-{number}"
                one_round(service, receiver, state, identifier, log, chance)
                ids.append(identifier)
                # Everything is delivered before the next kill, so that no message is under way at two ends in a row.
                undelivered += wait_until(receiver, [identifier])
                progress(f"interrupted: {number + 1} of {rounds}, killed when {state}, {len(undelivered)} undelivered")
            figures = deadly_messages(service, receiver, bars)
            lines = [json.loads(line) for line in log.read_text().splitlines()]
            heard = {line["label"] for line in lines if line.get("outcome") == "heard"}
            bars.require(len(heard) >= len(ids) + OTHERS, f"sounds heard to their end: {len(heard)}")
            service.terminate()
    bars.nothing_in(undelivered, "messages that were not delivered after a kill")
    bars.figures = {"kills": rounds, "undelivered": len(undelivered), "heard": len(heard)} | figures
    return bars


def register(service, url):
    body = {"url": url, "events": ["announcement.rendered", "announcement.played", "announcement.failed"]}
    with service.connect() as connection:
        answer = connection.request(
            "POST", "/v1/webhook-endpoints", json.dumps(body).encode(), "Content-Type: application/json\r\n"
        )
        if answer.status != 201:
            raise Unusable(f"registering the endpoint: {answer.status} {answer.code}")


def announce(service, identifier):
    """Announces something, or does so again: a repeated request is answered with 200."""
    body = {"id": identifier, "amount": "12.00", "currency": "CNY", "locale": "zh-CN", "rate": 450, "method": "speech"}
    with service.connect() as connection:
        answer = post(connection, json.dumps(body | {"deliver": ["clip", "play"]}).encode())
    if answer.status not in (200, 201):
        raise Unusable(f"{identifier}: {answer.status} {answer.code}")


def one_round(service, receiver, state, identifier, log, chance):
    """Announces something, kills the service in a state of its deliveries, and starts it again."""
    size = log.stat().st_size if log.exists() else 0
    receiver.trap = state if state in ("connected", "sent", "answered") else None
    if receiver.trap is None:
        announce(service, identifier)
    else:
        # The service may be killed before it has answered the request.
        with contextlib.suppress(Lost, OSError):
            announce(service, identifier)
    if state == "accepted":
        service.kill()
    elif state == "any":
        time.sleep(chance.uniform(0, 1))
        service.kill()
    elif state == "playing":
        until(lambda: log.exists() and log.stat().st_size > size, "the sound has not begun")
        service.kill()
    else:
        until(lambda: not service.is_running, f"no delivery reached the state {state}")
    service.spawn()
    service.wait_until_ready()
    announce(service, identifier)


def wait_until(receiver, identifiers, patience=PATIENCE):
    """Waits until both messages of each announcement have arrived. Returns those that have not."""
    wanted = [(one, kind) for one in identifiers for kind in ("announcement.rendered", "announcement.played")]
    end = time.monotonic() + patience
    while time.monotonic() < end and not all(receiver.has(key) for key in wanted):
        time.sleep(0.01)
    return [key for key in wanted if not receiver.has(key)]


def until(holds, text, patience=PATIENCE):
    end = time.monotonic() + patience
    while not holds():
        if time.monotonic() > end:
            raise Unusable(text)
        time.sleep(0.002)


def deadly_messages(service, receiver, bars):
    """Lets messages end the service, starts it again as systemd does, and counts the ends."""
    deadly = [f"deadly-{number}" for number in range(DEADLY)]
    others = [f"other-{number}" for number in range(OTHERS)]
    receiver.deadly = {(identifier, "announcement.rendered") for identifier in deadly}
    stop = threading.Event()

    def supervise():
        while not stop.is_set():
            if not service.is_running:
                service.spawn()
            time.sleep(0.05)

    supervisor = threading.Thread(target=supervise, daemon=True)
    supervisor.start()
    try:
        for identifier in deadly + others:
            persist(service, identifier)
        missing = wait_until(receiver, others)
        bars.nothing_in(missing, "messages beside deadly ones that were not delivered")
        ends = receiver.killed_by_deadly
        # The first end may interrupt several of them, and then each of them ends the service once.
        bars.require(DEADLY < ends <= 2 * DEADLY, f"ends by {DEADLY} deadly messages: {ends}")
        time.sleep(10)
        bars.require(receiver.killed_by_deadly == ends, f"ends after everything was delivered: {receiver.killed_by_deadly}")
        until(lambda: service.is_running, "the service is not running")
        service.wait_until_ready()
        with service.connect(key=None) as connection:
            check = connection.request("GET", "/readyz").json()
        aside = check["checks"]["set_aside"]
        told = check["status"] == "degraded" and aside["code"] == "set_aside" and aside["waiting"] == DEADLY
        bars.require(told, f"readyz: {json.dumps(check)}")
        bars.require("ended twice in a row" in service.log.read_text(errors="replace"), "the log tells what is set aside")
        return {"deadly": DEADLY, "ends_by_deadly": ends, "set_aside": aside["waiting"]}
    finally:
        stop.set()
        supervisor.join()


def persist(service, identifier):
    """Announces something although the service may end at any moment."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return announce(service, identifier)
        except (Lost, OSError, Unusable):
            if time.monotonic() > end:
                raise
            time.sleep(0.05)

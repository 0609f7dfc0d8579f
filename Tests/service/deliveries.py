# SPDX-License-Identifier: Apache-2.0
"""What the checks of interrupted deliveries share: the receivers, which can kill the service, and the requests."""

import contextlib
import http.server
import json
import shutil
import socket
import sqlite3
import ssl
import subprocess
import threading
import time

from client import JSON, Lost, post
from harness import UNLIMITED, Service, Unusable

APP, KEY_ID, TEAM = "com.example.shop", "ABC123DEFG", "DEF123GHIJ"
PATIENCE = 60
# The shortest clips: "12 yuan", fast.
SHORT = {"amount": "12.00", "currency": "CNY", "locale": "zh-CN", "rate": 450, "method": "speech"}


class Trap:
    """Kills the service at a moment of a delivery: once in a chosen state, and whenever it does deadly work."""

    def __init__(self):
        self.lock = threading.Lock()
        # The state in which the next delivery kills the service.
        self.state = None
        self.deadly = set()
        # How often each deadly work was begun.
        self.met = {}
        self.kill = lambda: None

    def spring(self, state):
        """Kills the service if it is to be killed in this state. Returns whether it was."""
        with self.lock:
            if self.state != state:
                return False
            self.state = None
        self.kill()
        return True

    def meet(self, work):
        """Kills the service if this work is deadly. Returns whether it is."""
        with self.lock:
            if work not in self.deadly:
                return False
            self.met[work] = self.met.get(work, 0) + 1
        self.kill()
        return True


class Counts:
    """Counts what has arrived."""

    def __init__(self):
        self.lock = threading.Lock()
        self.counts = {}

    def add(self, key):
        with self.lock:
            self.counts[key] = self.counts.get(key, 0) + 1

    def has(self, key):
        with self.lock:
            return key in self.counts


class Receiver:
    """A receiver of webhooks. Its deadly work is a message: the announcement's id and the type."""

    def __init__(self, trap):
        self.arrived = arrived = Counts()

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                trap.spring("connected")

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
                key = (body["data"].get("id", ""), body["type"])
                if trap.meet(key) or trap.spring("sent"):
                    return
                arrived.add(key)
                self.send_response(204)
                # Each message then has a connection of its own, so that each can be met when it connects.
                self.send_header("connection", "close")
                self.end_headers()
                self.wfile.flush()
                trap.spring("answered")

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                """A service that is killed closes its connections."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class PushServer:
    """A stand-in for APNs that accepts every push. Its deadly work is a push: the announcement's id.

    It reads only the bodies, which name the announcement, and no header fields. HTTP/2 then needs no library, and each
    frame can be met: a push is known when its header fields arrive, and answered when its body is complete.
    """

    PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    DATA, HEADERS, SETTINGS, PING, WINDOW_UPDATE = 0, 1, 4, 6, 8
    END_STREAM, ACKNOWLEDGED, END_HEADERS = 1, 1, 4
    # The header field ":status: 200" of the static table (RFC 7541).
    OK = b"\x88"

    def __init__(self, trap, folder):
        self.trap, self.arrived = trap, Counts()
        key, self.authority = folder / "server-key.pem", folder / "server.pem"
        openssl(
            *"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost".split(),
            *("-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", self.authority),
        )
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.authority, key)
        self.context.set_alpn_protocols(["h2"])
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://localhost:{self.listener.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        while True:
            connected, _ = self.listener.accept()
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connected,), daemon=True).start()

    def _serve(self, connected):
        # A service that is killed closes its connections.
        with contextlib.suppress(OSError), self.context.wrap_socket(connected, server_side=True) as stream:
            reader = stream.makefile("rb")
            if reader.read(len(self.PREFACE)) == self.PREFACE:
                stream.sendall(self._frame(self.SETTINGS, 0, 0))
                self._answer(reader, stream)

    def _answer(self, reader, stream):
        bodies = {}
        while len(head := reader.read(9)) == 9:
            kind, flags, number = head[3], head[4], int.from_bytes(head[5:], "big") & 0x7FFF_FFFF
            payload = reader.read(int.from_bytes(head[:3], "big"))
            if kind in (self.SETTINGS, self.PING) and not flags & self.ACKNOWLEDGED:
                stream.sendall(self._frame(kind, self.ACKNOWLEDGED, 0, payload if kind == self.PING else b""))
            elif kind == self.HEADERS:
                bodies[number] = b""
                if self.trap.spring("pushing"):
                    return
            elif kind == self.DATA and number in bodies:
                bodies[number] += payload
                if payload:
                    stream.sendall(self._frame(self.WINDOW_UPDATE, 0, 0, len(payload).to_bytes(4, "big")))
            if kind in (self.HEADERS, self.DATA) and flags & self.END_STREAM and number in bodies:
                # Pushes that only prepare the phone name no announcement.
                identifier = json.loads(bodies.pop(number)).get("crier", {}).get("id")
                if self.trap.meet(identifier):
                    return
                self.arrived.add(identifier)
                stream.sendall(self._frame(self.HEADERS, self.END_STREAM | self.END_HEADERS, number, self.OK))

    @staticmethod
    def _frame(kind, flags, number, payload=b""):
        return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + number.to_bytes(4, "big") + payload


def openssl(*arguments):
    if shutil.which("openssl") is None:
        raise Unusable("There is no openssl; install it with scripts/setup openssl.")
    subprocess.run(["openssl", *arguments], check=True, capture_output=True, timeout=60)


def make_provider_key(home):
    """Makes a key for provider tokens in a home folder. Returns its file."""
    key = home / "AuthKey.p8"
    openssl(*"genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out".split(), key)
    key.chmod(0o600)
    return key


def push_settings(key, server, authority):
    """Returns the settings that let the service push to a stand-in for APNs."""
    return (
        f"apns:\n  - app: {APP}\n    key: {key.name}\n    key_id: {KEY_ID}\n    team: {TEAM}\n"
        f"    server: {server}\n    ca: {authority}\n"
    )


class Site:
    """The service with a receiver of webhooks and a stand-in for APNs."""

    def __init__(self, options, folder):
        folder.mkdir(exist_ok=True)
        self.trap = Trap()
        self.receiver = Receiver(self.trap)
        self.pushes = PushServer(self.trap, folder)
        home = folder / "home"
        home.mkdir(mode=0o700)
        settings = push_settings(make_provider_key(home), self.pushes.url, self.pushes.authority)
        (home / "crier.yaml").write_text(f"webhook_private_addresses: true\n{settings}")
        self.log = folder / "heard.jsonl"
        # No limit is reached, also not that of waiting lists. A pause of one round ends with the service.
        environment = UNLIMITED | {"CRIER_BATCHES": "16", "CRIER_RESUME_AT_START": "true"}
        self.service = Service(options, home, output=f"file:{self.log}", environment=environment)
        self.trap.kill = lambda: self.service.process.kill()

    def missing(self, identifier):
        """Returns which deliveries of an announcement have not arrived."""
        kinds = ("announcement.rendered", "announcement.played")
        missing = [kind for kind in kinds if not self.receiver.arrived.has((identifier, kind))]
        return missing + ([] if self.pushes.arrived.has(identifier) else ["push"])

    def is_settled(self, identifier):
        """Whether the service knows of the end of all deliveries, so that none is under way."""
        told = get(self.service, f"/v1/announcements/{identifier}")
        endpoints = get(self.service, "/v1/webhook-endpoints")
        if told is None or endpoints is None:
            return False
        delivery = told["delivery"]
        states = [delivery["play"]["state"], *(push["state"] for push in delivery["push"])]
        waiting = sum(one["messages"]["waiting"] for one in endpoints["webhook_endpoints"])
        return states == ["played", "delivered"] and waiting == 0


# Requests


def register(service, url):
    """Registers a receiver of webhooks."""
    body = {"url": url, "events": ["announcement.rendered", "announcement.played", "announcement.failed"]}
    with service.connect() as connection:
        answer = post(connection, body, target="/v1/webhook-endpoints")
    if answer.status != 201:
        raise Unusable(f"registering the endpoint: {answer.status} {answer.code}")


def register_device(service, name, number):
    body = {"bundle_id": APP, "environment": "production", "tokens": {"alert": f"{number:064x}"}}
    with service.connect() as connection:
        answer = connection.request("PUT", f"/v1/devices/{name}", json.dumps(body).encode(), JSON)
    if answer.status != 201:
        raise Unusable(f"registering the device {name}: {answer.status} {answer.code}")


def announce(service, identifier, content=SHORT, **more):
    """Announces something, or does so again: a repeated request is answered with 200. Returns the report."""
    with service.connect() as connection:
        answer = post(connection, content | {"id": identifier} | more)
    if answer.status not in (200, 201):
        raise Unusable(f"{identifier}: {answer.status} {answer.code}")
    return answer.json()


def send_batch(service, identifier, first, count):
    """Sends a list of payments with the amounts from `first` on. Returns the id of the batch."""
    rows = [
        {"id": f"{identifier}-{number}", "minor": first + number, "currency": "CNY", "locale": "zh-CN"}
        for number in range(count)
    ]
    body = "".join(json.dumps(row) + "\n" for row in rows).encode()
    with service.connect() as connection:
        answer = connection.request(
            "POST", "/v1/batches?method=speech&rate=450", body, "Content-Type: application/jsonl\r\n"
        )
    if answer.status != 202:
        raise Unusable(f"the batch {identifier}: {answer.status} {answer.code}")
    return answer.json()["id"]


def get(service, target):
    """Returns the JSON of an answer, or None if the service does not answer now."""
    try:
        with service.connect(timeout=5) as connection:
            answer = connection.request("GET", target)
        return answer.json() if answer.status == 200 else None
    except (Lost, OSError):
        return None


def metric(service, name):
    """Returns a value of /metrics as a number, or None if the service does not answer now, or has no such value."""
    try:
        with service.connect(timeout=5) as connection:
            answer = connection.request("GET", "/metrics")
    except (Lost, OSError):
        return None
    lines = answer.body.decode().splitlines() if answer.status == 200 else []
    return next((float(line.rpartition(" ")[2]) for line in lines if line.startswith(f"{name} ")), None)


def persist(act):
    """Does something although the service may end at any moment. Returns its result."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return act()
        except (Lost, OSError, Unusable) as error:
            if time.monotonic() > end:
                raise Unusable(f"for {PATIENCE} s: {error}") from error
            time.sleep(0.05)


# Looks


def entry(service, identifier):
    """Returns number, state and starts of an announcement from the ledger, or None if they cannot be read now.

    Unlike a request, this also sees what a service does before it listens.
    """
    try:
        file = f"file:{service.home}/ledger.sqlite?mode=ro"
        with contextlib.closing(sqlite3.connect(file, uri=True, timeout=1)) as ledger:
            return ledger.execute(
                "SELECT number, state, starts FROM announcements WHERE id = ?", (identifier,)
            ).fetchone()
    except sqlite3.Error:
        return None


def until(holds, text, patience=PATIENCE):
    """Waits until something holds, and returns it."""
    end = time.monotonic() + patience
    while not (found := holds()):
        if time.monotonic() > end:
            raise Unusable(text)
        time.sleep(0.002)
    return found

# SPDX-License-Identifier: Apache-2.0
"""What the nodes send to: a stand-in for APNs on Python's h2, and a receiver of webhooks. Both note all that arrives."""

import collections
import contextlib
import dataclasses
import http.server
import json
import socket
import ssl
import threading
import time

from harness import Unusable

try:
    import h2.config
    import h2.connection
    import h2.events
except ImportError:
    raise Unusable("Python has no h2; install it with scripts/setup python3-h2, and run /usr/bin/python3.") from None


@dataclasses.dataclass(frozen=True)
class Push:
    """A push that APNs has accepted."""

    at: float
    device: str
    apns_id: str
    sequence: int
    announcement: str


@dataclasses.dataclass(frozen=True)
class Message:
    """A webhook message. `subject` is what it is about: type, announcement, delivery and device."""

    at: float
    webhook_id: str
    subject: tuple


class PushService:
    """A stand-in for APNs that accepts every push. `known` has the device and the payment of each."""

    def __init__(self, authority):
        self.arrived, self.known = [], set()
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(authority.certificate, authority.key)
        self._context.set_alpn_protocols(["h2"])
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://localhost:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        while True:
            connected, _ = self._listener.accept()
            connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connected,), daemon=True).start()

    def _serve(self, connected):
        # A node that is killed closes its connections.
        with contextlib.suppress(OSError), self._context.wrap_socket(connected, server_side=True) as stream:
            self._answer(stream)

    def _answer(self, stream):
        connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        connection.initiate_connection()
        requests = {}
        while True:
            if data := connection.data_to_send():
                stream.sendall(data)
            if not (data := stream.recv(65_536)):
                return
            for event in connection.receive_data(data):
                if isinstance(event, h2.events.RequestReceived):
                    requests[event.stream_id] = dict(event.headers), bytearray()
                elif isinstance(event, h2.events.DataReceived):
                    requests[event.stream_id][1].extend(event.data)
                    connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, h2.events.StreamEnded):
                    fields, body = requests.pop(event.stream_id)
                    self._note(fields, json.loads(body))
                    answer = [(":status", "200"), ("apns-id", fields["apns-id"])]
                    connection.send_headers(event.stream_id, answer, end_stream=True)

    def _note(self, fields, body):
        # Pushes that only prepare the phone name no announcement.
        if found := body.get("crier"):
            if "id" in found:
                device = fields[":path"].rpartition("/")[2]
                self.arrived.append(Push(time.monotonic(), device, fields["apns-id"], found["sequence"], found["id"]))
                self.known.add((device, found["id"]))


class Receiver:
    """A receiver of webhooks that answers each message with 204. `counts` has the different messages by type and id."""

    def __init__(self):
        self.arrived, self.counts = [], collections.Counter()
        self._known, self._lock = set(), threading.Lock()
        note = self._note

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                data = body["data"]
                subject = (body["type"], data.get("id"), data.get("delivery"), data.get("detail", {}).get("device"))
                note(Message(time.monotonic(), self.headers["webhook-id"], subject))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, *_):
                """A node that is killed closes its connections."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def _note(self, message):
        with self._lock:
            self.arrived.append(message)
            if message.subject not in self._known:
                self._known.add(message.subject)
                self.counts[message.subject[:2]] += 1

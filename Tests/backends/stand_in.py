# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the service that answers as a test plans it, and hears each payment once."""
import contextlib
import http.server
import json
import threading
import time

KEY = "crier_0a1b2c3d_secret"


class StandIn(http.server.ThreadingHTTPServer):
    """Answers each request with the next step of `plan`, and with the service's own answer when the plan has ended.

    A step is a function that gets the handler and the request's body.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.plan = []
        self.requests = []
        self.heard = {}
        self.lock = threading.Lock()

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"

    def own_answer(self, body):
        """Returns the status and the document with which the service answers a payment."""
        payment = json.loads(body)
        known = self.heard.setdefault(payment["id"], body)
        if known != body:
            return 409, {"status": 409, "code": "id_conflict", "detail": "id: another payment has this id."}
        answered_before = sum(request.body == body and request.accepted for request in self.requests) > 0
        return 200 if answered_before else 201, {
            "id": payment["id"], "text": "Received twelve dollars", "clip": {"url": self.address + "/v1/clips/a.wav"}}


class Received:
    """A request as it came, and when."""

    def __init__(self, path, headers, body):
        self.path, self.headers, self.body = path, headers, body
        self.at = time.monotonic()
        self.accepted = False


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self):
        # The answer is a list of announcements. A client that takes it for a report has followed a redirect.
        with self.server.lock:
            self.server.requests.append(Received(self.path, self.headers, b""))
        self.send(200, {"text": "redirected", "clip": {"url": ""}})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with self.server.lock:
            self.server.requests.append(Received(self.path, self.headers, body))
            step = self.server.plan.pop(0) if self.server.plan else accept
        step(self, body)

    def accept(self, body):
        with self.server.lock:
            status, document = self.server.own_answer(body)
            for request in self.server.requests:
                request.accepted = request.accepted or (status < 300 and request.body == body)
        return status, document

    def send(self, status, document, headers=()):
        data = json.dumps(document).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def accept(handler, body):
    """Accepts the payment and answers."""
    handler.send(*handler.accept(body))


def lose_the_answer(handler, body):
    """Accepts the payment, and closes the connection without an answer."""
    handler.accept(body)
    handler.close_connection = True


def cut_the_answer(handler, body):
    """Accepts the payment, and closes the connection in the middle of the answer."""
    status, document = handler.accept(body)
    data = json.dumps(document).encode()
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data[:10])
    handler.close_connection = True


def refuse(status, *headers):
    """Returns a step that does nothing with the payment, and answers with a problem document."""
    problem = {"status": status, "code": "some_code", "detail": f"some detail of {status}"}
    return lambda handler, _: handler.send(status, problem, headers)


@contextlib.contextmanager
def stand_in(*plan):
    server = StandIn()
    server.plan = list(plan)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()

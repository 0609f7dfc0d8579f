# SPDX-License-Identifier: Apache-2.0
"""A stand-in in front of the service: it answers some calls as the check wants, and passes all others on.

The checks need answers that a service without an account at Apple, without a sound card and without a voice does not
give. An answer is a status and a document, or a function of the request's document that returns them.
"""

import http.client
import http.server
import json
import re
import threading


class StandIn:
    """`answers` are the answers by method and path, such as `"POST /v1/packs"`; `asked` are the calls that got one."""

    def __init__(self, service):
        self.service, self.answers, self.asked = service, {}, []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def handle_any(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length)
                answer = outer.answer(self.command, self.path, body)
                try:
                    if answer is None:
                        outer.forward(self, body)
                    else:
                        outer.send(self, *answer)
                except (BrokenPipeError, ConnectionResetError):
                    pass

            do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = handle_any

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def base(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def answer(self, method, target, body):
        path = target.split("?")[0]
        for pattern, found in self.answers.items():
            if re.fullmatch(pattern, f"{method} {path}"):
                document = json.loads(body) if body[:1] in (b"{", b"[") else None
                self.asked.append((method, target, document))
                return found(method, target, document) if callable(found) else found
        return None

    @staticmethod
    def send(handler, status, document, media="application/json"):
        data = document if isinstance(document, bytes) else json.dumps(document).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", media)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def forward(self, handler, body):
        """Passes a request to the service and streams its answer, so that event streams work."""
        connection = http.client.HTTPConnection("127.0.0.1", self.service.port, timeout=120)
        headers = {name: value for name, value in handler.headers.items() if name.lower() not in ("host", "connection", "accept-encoding", "origin", "referer")}
        connection.request(handler.command, handler.path, body or None, headers)
        answer = connection.getresponse()
        handler.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "keep-alive"):
                handler.send_header(name, value)
        handler.end_headers()
        while chunk := answer.read1(65536):
            handler.wfile.write(chunk)
            handler.wfile.flush()
        connection.close()


def problem(status, code, detail):
    """Returns a problem document as an answer."""
    return status, {"type": "about:blank", "title": "", "status": status, "code": code, "detail": detail, "request_id": "0"}

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A receiver of webhooks for tests. It shares no code with Crier, and checks signatures by itself.

usage: receiver.py SECRET [CERTIFICATE KEY]

It listens on a free port of 127.0.0.1, with TLS if it has a certificate, and prints one line of JSON with the port. For
each request it prints another line before it answers. The path of a request says what it does:

- /status/503 answers with the status: 3xx with a Location, 503 with a Retry-After
- /stall reads the request and never answers
- /close reads the request and closes the connection
- /nonsense answers with something that is not HTTP
- /raw/TEXT answers with the text, in which %0D%0A ends a line, and closes the connection
- /big answers 200 with a body of 8 MiB
- /drip answers 200 with a body that has no end, a byte at a time
- /first/500 and /first/stall do so with the first request, and answer 204 to all others
"""

import base64
import hashlib
import hmac
import http.server
import json
import ssl
import sys
import threading
import time
import urllib.parse

SECRET = base64.b64decode(sys.argv[1].removeprefix("whsec_"))
OUTPUT = threading.Lock()
SEEN = set()


def is_genuine(headers, body):
    message = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    code = base64.b64encode(hmac.new(SECRET, message, hashlib.sha256).digest()).decode()
    return f"v1,{code}" in headers.get("webhook-signature", "").split(" ")


class Receiver(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.tell(b"")
        self.answer(204)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.tell(body)
        parts = self.path.partition("?")[0].strip("/").split("/")
        if parts[0] == "first":
            with OUTPUT:
                is_first = self.path not in SEEN
                SEEN.add(self.path)
            parts = (["stall"] if parts[1] == "stall" else ["status", parts[1]]) if is_first else ["status", "204"]
        if parts[0] == "status":
            self.answer(int(parts[1]))
        elif parts[0] == "stall":
            # The read ends when the sender closes the connection.
            self.rfile.read(1)
            self.close_connection = True
        elif parts[0] == "nonsense":
            self.wfile.write(b"SSH-2.0-OpenSSH_9.2\r\n\r\n")
            self.close_connection = True
        elif parts[0] == "raw":
            self.wfile.write(urllib.parse.unquote(parts[1]).encode())
            self.close_connection = True
        elif parts[0] == "big":
            self.send_response(200)
            self.send_header("content-length", str(8 << 20))
            self.end_headers()
            self.wfile.write(b"x" * (8 << 20))
        elif parts[0] == "drip":
            self.send_response(200)
            self.send_header("content-length", "4096")
            self.end_headers()
            # The loop ends when the sender closes the connection.
            while True:
                self.wfile.write(b"x")
                time.sleep(0.05)
        else:
            self.close_connection = True

    def tell(self, body):
        with OUTPUT:
            print(
                json.dumps({
                    "path": self.path, "host": self.headers.get("host"), "id": self.headers.get("webhook-id"),
                    "timestamp": self.headers.get("webhook-timestamp"), "type": self.headers.get("content-type"),
                    "body": body.decode(), "genuine": is_genuine(self.headers, body),
                    "client": self.client_address[1],
                }), flush=True)

    def answer(self, status):
        self.send_response(status)
        if 300 <= status < 400:
            self.send_header("location", "/status/204")
        if status == 503:
            self.send_header("retry-after", "600")
        if status != 204:
            self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A sender that closes the connection is no error."""


server = Server(("127.0.0.1", 0), Receiver)
if len(sys.argv) > 2:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[3])
    server.socket = context.wrap_socket(server.socket, server_side=True)
print(json.dumps({"port": server.server_address[1]}), flush=True)
server.serve_forever()

# SPDX-License-Identifier: Apache-2.0
"""An HTTP/1.1 client over one persistent connection, which reports exactly how much of a lost request was sent."""

import hashlib
import hmac
import json
import select
import socket
import time


class Lost(Exception):
    """The connection ended or timed out before the answer was complete."""

    def __init__(self, text, sent, received):
        super().__init__(f"{text} ({'whole' if sent else 'part of the'} request sent, {received} bytes received)")
        self.sent = sent
        self.received = received


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers
        self.body = body

    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        """Returns the code of the problem document, or None."""
        try:
            return json.loads(self.body).get("code")
        except (ValueError, AttributeError):
            return None


class Connection:
    """A connection that is opened at the first request, and again after an answer that closes it."""

    def __init__(self, port, host="127.0.0.1", key=None, timeout=60):
        self.address = (host, port)
        self.timeout = timeout
        self.authorization = f"Authorization: Bearer {key}\r\n" if key else ""
        self.requests = 0
        self._socket = None
        self._buffer = bytearray()
        self._received = 0
        self._used_at = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def open(self):
        if self._socket is None:
            self._socket = socket.create_connection(self.address, timeout=self.timeout)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._buffer.clear()
            self.requests = 0
        return self._socket

    def request(self, method, target, body=None, headers="", chunked=False):
        """Sends a request and reads its answer.

        `headers` are complete lines with line breaks. Raises `Lost`, or `OSError` if the connection cannot be opened.
        """
        self.send(method, target, body, headers, chunked)
        return self.receive(method)

    def send(self, method, target, body=None, headers="", chunked=False):
        if self._socket is not None and time.monotonic() - self._used_at > 0.5:
            self._close_if_ended()
        connected = self.open()
        head = (
            f"{method} {target} HTTP/1.1\r\nHost: {self.address[0]}:{self.address[1]}\r\n{self.authorization}{headers}"
        )
        payload = b""
        if body is not None and chunked:
            head += "Transfer-Encoding: chunked\r\n"
            middle = len(body) // 2
            parts = [part for part in (body[:middle], body[middle:]) if part]
            payload = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
        elif body is not None:
            head += f"Content-Length: {len(body)}\r\n"
            payload = body
        self._received = 0
        try:
            connected.sendall(f"{head}\r\n".encode() + payload)
        except OSError as error:
            # The service may answer before it has read the whole body, for example if the body is too large.
            if not self._is_readable(connected):
                self.close()
                raise Lost(str(error), sent=False, received=0) from error

    def receive(self, method="GET"):
        try:
            while True:
                status, headers = self._head()
                if status >= 200:
                    break
            body = self._body(method, status, headers)
        except OSError as error:
            self.close()
            raise Lost(str(error) or type(error).__name__, sent=True, received=self._received) from error
        self.requests += 1
        self._used_at = time.monotonic()
        if "close" in headers.get("connection", "").lower():
            self.close()
        return Answer(status, headers, body)

    @staticmethod
    def _is_readable(connected):
        return bool(select.select([connected], [], [], 0)[0])

    def _close_if_ended(self):
        """Closes the connection if the server has closed it, as servers may do with an idle connection."""
        if self._is_readable(self._socket):
            self.close()

    def _more(self):
        data = self._socket.recv(65_536)
        if not data:
            raise ConnectionError("the connection was closed")
        self._received += len(data)
        self._buffer += data

    def _line_end(self, end):
        while (found := self._buffer.find(end)) < 0:
            self._more()
        return found

    def _take(self, count):
        while len(self._buffer) < count:
            self._more()
        data = bytes(self._buffer[:count])
        del self._buffer[:count]
        return data

    def _head(self):
        end = self._line_end(b"\r\n\r\n")
        lines = self._take(end + 4)[:-4].decode("latin-1").split("\r\n")
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.strip().lower()] = value.strip()
        try:
            return int(lines[0].split(" ")[1]), headers
        except (IndexError, ValueError):
            raise ConnectionError(f"no status line: {lines[0][:80]!r}") from None

    def _body(self, method, status, headers):
        if method == "HEAD" or status in (204, 304):
            return b""
        if "chunked" in headers.get("transfer-encoding", "").lower():
            parts = []
            while True:
                size = int(self._take(self._line_end(b"\r\n") + 2).split(b";")[0], 16)
                if size == 0:
                    while self._take(self._line_end(b"\r\n") + 2) != b"\r\n":
                        pass
                    return b"".join(parts)
                parts.append(self._take(size + 2)[:-2])
        if "content-length" in headers:
            return self._take(int(headers["content-length"]))
        # Without a length, the body ends with the connection.
        headers["connection"] = "close"
        try:
            while True:
                self._more()
        except ConnectionError:
            return self._take(len(self._buffer))

    # Streams

    def lines(self, until):
        """Reads an event stream's lines after `send` and `head`, until a time of `time.monotonic()` or the end."""
        while True:
            found = self._buffer.find(b"\n")
            if found >= 0:
                yield self._take(found + 1).rstrip(b"\r\n").decode()
                continue
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._socket], [], [], left)[0]:
                return
            data = self._socket.recv(65_536)
            if not data:
                return
            self._buffer += data

    def head(self):
        """Returns the answer without its body, which is a stream. Chunk sizes remain among the stream's lines."""
        return self._head()


JSON = "Content-Type: application/json\r\n"


def post(connection, body, headers="", target="/v1/announcements"):
    """Posts a dictionary as JSON, or bytes unchanged."""
    data = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
    return connection.request("POST", target, data, JSON + headers)


def signed(key, method, target, body, content_type, timestamp):
    """Returns the header lines of a signed request (docs/service.md), for a connection without a key."""
    lines = ["v2", str(timestamp), method, target, "", content_type, ""]
    secret = hashlib.sha256(key.encode()).digest()
    signature = hmac.new(secret, "\n".join(lines).encode() + body, hashlib.sha256).hexdigest()
    return (
        f"Authorization: Crier {key.split('_')[1]}\r\nCrier-Timestamp: {timestamp}\r\n"
        f"Crier-Signature: v2={signature}\r\n"
    )

#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A server that answers as APNs does, on Python's h2. It shares no code with Crier or with its simulator.

    h2_server.py FOLDER MODE

FOLDER has the provider key (key.p8). The server writes the certificate to trust to FOLDER/server.pem, and prints one
line of JSON: {"port": 12345}. Each request that it finds wrong is one more line: {"fault": "..."}.

The modes: apns checks each request by itself and answers as APNs. The others are servers with faults:
deaf: reads nothing after its settings; drop: closes after the handshake; early: informational answers, and trailers;
endless: a body without an end; headers: an answer without an end; http1: TLS with HTTP/1.1; lengths: answers with a wrong
content-length; mute: HTTP/2 without any frame; narrow: windows of few bytes; noalpn: TLS without ALPN; one: one stream at
a time, and no answers; plain: no TLS; shrink: settings that change; stray: an answer on a stream that the client has not
opened; wordy: refusals with long bodies; zero: no streams allowed.
"""

import base64
import datetime
import ipaddress
import json
import pathlib
import re
import socket
import ssl
import sys
import threading
import time

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions
import h2.settings
import hyperframe.frame
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

FOLDER, MODE = pathlib.Path(sys.argv[1]), sys.argv[2]
KEY_ID, TEAM, APP = "ABC123DEFG", "DEF123GHIJ", "com.example.shop"
OUTPUT = threading.Lock()


def say(**values):
    with OUTPUT:
        print(json.dumps(values), flush=True)


def make_certificate():
    """Writes a self-signed certificate for localhost, and returns the path of certificate and key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.utcnow()
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=30))
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
        .sign(key, hashes.SHA256())
    )
    text = certificate.public_bytes(serialization.Encoding.PEM)
    (FOLDER / "server.pem").write_bytes(text)
    both = FOLDER / "server-key.pem"
    both.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()) + text)
    return both


class Refusal(Exception):
    def __init__(self, status, reason, **more):
        super().__init__(reason)
        self.status, self.body = status, {"reason": reason, **more}


def decode(text):
    if re.search(r"[^A-Za-z0-9_-]", text):
        raise Refusal(403, "InvalidProviderToken")
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def check_provider_token(authorization):
    """Checks a provider token by the rules of RFC 7515 and of Apple."""
    match = re.fullmatch(r"bearer ([^.]+)\.([^.]+)\.([^.]+)", authorization or "")
    if not match:
        raise Refusal(403, "MissingProviderToken")
    header, claims = json.loads(decode(match[1])), json.loads(decode(match[2]))
    signature = decode(match[3])
    if header != {"alg": "ES256", "kid": KEY_ID} or claims.keys() != {"iss", "iat"} or claims["iss"] != TEAM:
        raise Refusal(403, "InvalidProviderToken")
    if len(signature) != 64:
        raise Refusal(403, "InvalidProviderToken")
    whole = encode_dss_signature(int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big"))
    try:
        PUBLIC_KEY.verify(whole, f"{match[1]}.{match[2]}".encode(), ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise Refusal(403, "InvalidProviderToken") from None
    if not -60 <= time.time() - claims["iat"] <= 3600:
        raise Refusal(403, "ExpiredProviderToken")


def check(fields, body):
    """Checks a request as APNs documents it. Raises a Refusal."""
    names = [name for name, _ in fields]
    if len(set(names)) != len(names):
        raise Refusal(400, "DuplicateHeaders")
    headers = dict(fields)
    allowed = {
        ":method", ":scheme", ":path", ":authority", "authorization", "apns-topic", "apns-push-type", "apns-id",
        "apns-priority", "apns-expiration", "apns-collapse-id", "content-type", "content-length"}
    if set(names) - allowed:
        raise Refusal(400, "UnknownHeader")
    if headers[":method"] != "POST":
        raise Refusal(405, "MethodNotAllowed")
    match = re.fullmatch(r"/3/device/([0-9a-f]*)", headers[":path"])
    if not match:
        raise Refusal(404, "BadPath")
    if not re.fullmatch(r"localhost:\d+", headers[":authority"]) or headers[":scheme"] != "https":
        raise Refusal(400, "BadAuthority")
    check_provider_token(headers.get("authorization"))
    if not re.fullmatch(r"([0-9a-f]{2}){32,100}", match[1]):
        raise Refusal(400, "BadDeviceToken")
    if headers.get("apns-topic") != APP:
        raise Refusal(400, "TopicDisallowed" if headers.get("apns-topic") else "MissingTopic")
    if headers.get("apns-push-type") not in ("alert", "background"):
        raise Refusal(400, "InvalidPushType")
    if not re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", headers.get("apns-id", "")):
        raise Refusal(400, "BadMessageId")
    if headers.get("apns-priority") not in ("10", "5", "1"):
        raise Refusal(400, "BadPriority")
    if not re.fullmatch(r"\d{1,12}", headers.get("apns-expiration", "")):
        raise Refusal(400, "BadExpirationDate")
    if headers.get("content-length", str(len(body))) != str(len(body)):
        raise Refusal(400, "BadLength")
    if not body:
        raise Refusal(400, "PayloadEmpty")
    if len(body) > 4096:
        raise Refusal(413, "PayloadTooLarge")
    if "aps" not in json.loads(body):
        raise Refusal(400, "BadPayload")
    if match[1].endswith("dead"):
        raise Refusal(410, "Unregistered", timestamp=1_700_000_000_000)
    return headers


class Connection:
    def __init__(self, stream):
        self.stream = stream
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.requests = {}
        self.count = 0
        self.allowed = 100
        self.endless = []
        self.wordy = []

    def flush(self):
        data = self.h2.data_to_send()
        if data:
            self.stream.sendall(data)

    def serve(self):
        if MODE == "zero":
            self.allowed = 0
        if MODE == "one":
            self.allowed = 1
        self.h2.local_settings = h2.settings.Settings(
            client=False,
            initial_values={h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: self.allowed,
                            h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 16 if MODE == "narrow" else 65_535,
                            h2.settings.SettingCodes.ENABLE_PUSH: 0})
        self.h2.initiate_connection()
        if MODE == "deaf":
            self.h2.increment_flow_control_window(1 << 24)
            self.h2.receive_data(self.stream.recv(65536))
            self.flush()
            time.sleep(600)
            return
        self.flush()
        while data := self.stream.recv(65536):
            for event in self.h2.receive_data(data):
                self.handle(event)
            self.send_endless()
            self.send_wordy()
            self.flush()

    def handle(self, event):
        if isinstance(event, h2.events.RequestReceived):
            self.requests[event.stream_id] = (event.headers, bytearray())
            if event.stream_ended:
                self.complete(event.stream_id)
        elif isinstance(event, h2.events.DataReceived):
            self.requests[event.stream_id][1].extend(event.data)
            if MODE == "narrow":
                # The client may send as few bytes at a time as possible.
                self.h2.increment_flow_control_window(event.flow_controlled_length, event.stream_id)
                self.h2.increment_flow_control_window(event.flow_controlled_length)
            else:
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            self.complete(event.stream_id)
        elif isinstance(event, h2.events.StreamReset):
            self.requests.pop(event.stream_id, None)
            self.endless = [stream for stream in self.endless if stream != event.stream_id]

    def complete(self, stream):
        if stream not in self.requests:
            return
        fields, body = self.requests.pop(stream)
        self.count += 1
        if MODE == "endless":
            self.h2.send_headers(stream, [(":status", "200")])
            self.endless.append(stream)
            return
        if MODE == "one":
            return
        if MODE == "lengths" and self.count % 2 == 0:
            self.h2.send_headers(stream, [(":status", "400"), ("content-length", "1000")])
            self.h2.send_data(stream, b'{"reason":"Short"}', end_stream=True)
            return
        if MODE == "headers":
            self.h2.send_headers(stream, [(":status", "200")])
            return
        if MODE == "stray":
            self.flush()
            self.stream.sendall(hyperframe.frame.DataFrame(stream + 10_000, b"x").serialize())
            return
        if MODE == "wordy":
            body = json.dumps({"reason": "Wordy", "more": "x" * 2_000}).encode()
            self.h2.send_headers(stream, [(":status", "400")])
            self.wordy.append((stream, body))
            return
        if MODE == "shrink" and self.count in (10, 50):
            limit = 1 if self.count == 10 else 20
            self.h2.update_settings({h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: limit})
        if MODE == "early":
            self.h2.send_headers(stream, [(":status", "103"), ("link", "</nothing>")])
        try:
            headers = check(fields, bytes(body))
            answer = [(":status", "200"), ("apns-id", headers["apns-id"])]
            if MODE == "early":
                self.h2.send_headers(stream, answer)
                self.h2.send_headers(stream, [("x-sum", "1")], end_stream=True)
            else:
                self.h2.send_headers(stream, answer, end_stream=True)
        except Refusal as refusal:
            say(fault=refusal.body["reason"])
            self.h2.send_headers(stream, [(":status", str(refusal.status)), ("content-type", "application/json")])
            self.h2.send_data(stream, json.dumps(refusal.body).encode(), end_stream=True)

    def send_endless(self):
        for stream in list(self.endless):
            window = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
            while window > 0:
                self.h2.send_data(stream, b"x" * window)
                self.flush()
                window = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)

    def send_wordy(self):
        while self.wordy and self.h2.local_flow_control_window(self.wordy[0][0]) >= len(self.wordy[0][1]):
            self.h2.send_data(*self.wordy.pop(0), end_stream=True)


def serve(plain, context):
    try:
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if MODE == "plain":
            plain.recv(4096)
            plain.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            plain.close()
            return
        with context.wrap_socket(plain, server_side=True) as stream:
            if MODE == "drop":
                return
            if MODE in ("mute", "http1", "noalpn"):
                while stream.recv(4096):
                    pass
                return
            Connection(stream).serve()
    except (OSError, ssl.SSLError):
        pass
    except h2.exceptions.ProtocolError as error:
        say(fault=f"protocol: {error!r}")


def main():
    global PUBLIC_KEY
    PUBLIC_KEY = serialization.load_pem_private_key((FOLDER / "key.p8").read_bytes(), None).public_key()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(make_certificate())
    if MODE != "noalpn":
        context.set_alpn_protocols(["http/1.1"] if MODE == "http1" else ["h2"])
    server = socket.create_server(("127.0.0.1", 0))
    if MODE == "deaf":
        server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    say(port=server.getsockname()[1])
    while True:
        plain, _ = server.accept()
        threading.Thread(target=serve, args=(plain, context), daemon=True).start()


main()

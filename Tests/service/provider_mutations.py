# SPDX-License-Identifier: Apache-2.0
"""Sends 100,000 changed requests to each endpoint of payment providers, with bodies, headers, queries and keys that are
not the provider's. None of them may be announced, unless it repeats a genuine payment.

Changed bodies are also signed anew, with the right key, to reach what reads them. They go to endpoints that take only
the payments of an account that does not exist.
"""

import base64
import collections
import json
import multiprocessing
import queue
import random
import re
import socket
import time
import urllib.parse

from harness import MEBIBYTE, ROOT, Service, memory, progress
from mutator import Mutator
from provider_requests import Event, Request, major, write_settings
from provider_senders import endpoints

REQUESTS = 100_000
PROCESSES = 3
CONNECTIONS = 12
# Signed times are valid for five minutes.
LIFE = 60
NOBODY = "-nobody"
WELL = {200, 204, 400, 401, 404, 405, 413, 431}
LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
PARTS = [
    b"",
    b" ",
    b",",
    b"v1=",
    b"v1,",
    b"v0=",
    b"t=0,",
    b"sha256=",
    b"=",
    b"==",
    b"%00",
    b"\t",
    b"-1",
    b"0",
    b"9" * 30,
    b"\xff\xfe",
    "支".encode(),
    b"AAAA" * 90,
    b"WECHATPAY/SIGNTEST/",
    b"d41d8cd98f00b204",
    b"1e9",
    b"a" * 5_000,
]


class Changer:
    """Makes changed requests of the genuine ones of an endpoint."""

    def __init__(self, endpoint, stranger, events, seed):
        self.endpoint, self.stranger, self.events = endpoint, stranger, events
        self.chance = random.Random(seed)
        # The larger bodies take most of the time, and are like each other.
        self.mutator = Mutator(seed, largest=16_384)
        self.made_at = None

    def renew(self):
        """Signs everything anew when the signed times are about to be too old."""
        if self.made_at is not None and time.monotonic() - self.made_at < LIFE:
            return
        self.made_at = time.monotonic()
        self.genuine = [self.endpoint.request(event) for event in self.events]
        bodies = [Event(self.stranger.signed_body(event.body), None, event.headers) for event in self.events]
        self.foreign = [self.stranger.request(event, id=self.endpoint.id) for event in bodies]
        self.bodies = [request.body for request in self.genuine]

    def request(self):
        """Returns a request, and whether the status 500 is meant for it."""
        self.renew()
        chance = self.chance.random()
        base = self.chance.choice(self.genuine)
        if chance < 0.35:
            changed = Request(base.target, base.headers, self.changed_body(base.body))
            return self.without_token(changed), False
        if chance < 0.65:
            return self.with_headers(base)
        if chance < 0.75:
            return Request(self.changed_target(base.target), base.headers, base.body), False
        if chance < 0.83:
            return self.chance.choice(self.foreign), False
        if chance < 0.88:
            # The signature of another request.
            return self.without_token(Request(base.target, base.headers, self.chance.choice(self.bodies) + b" ")), False
        body = self.endpoint.signed_body(self.changed_body(base.body))
        event = Event(body, None, tuple(header for header in base.headers if header[0].startswith("X-Shopify-T")))
        # The provider has to send a notice again that could not be decrypted.
        return self.endpoint.request(event, id=self.endpoint.id + NOBODY), self.endpoint.provider == "wechatpay"

    def without_token(self, request):
        """Returns a request whose body nobody vouches for. The secret in a URL vouches for any body."""
        if not self.endpoint.query:
            return request
        query = self.chance.choice(["", "?", "?token=", "?token=x", f"{self.stranger.query}", "?token"])
        return Request(request.target.partition("?")[0] + query, request.headers, request.body)

    def changed_body(self, body):
        if self.endpoint.provider != "alipay" or self.chance.random() < 0.3:
            return self.mutator.mutate(body, self.bodies)
        pairs = body.split(b"&")
        for _ in range(self.chance.choice((1, 1, 2, 3))):
            index = self.chance.randrange(len(pairs))
            key, _, value = pairs[index].partition(b"=")
            pairs[index] = self.chance.choice(
                (
                    pairs[index] + b"&" + pairs[index],
                    key + b"=",
                    value,
                    key + b"2=" + value,
                    key + b"=" + self.chance.choice(PARTS) + value,
                    key + b"=" + value[1:],
                    key + b"=" + value + b"%" + self.chance.choice((b"", b"2", b"zz", b"00", b"ff")),
                    urllib.parse.quote(key.swapcase()).encode() + b"=" + value,
                    b"alipay_cert_sn=" + value[:16],
                    self.chance.choice(self.bodies),
                )
            )
            self.chance.shuffle(pairs)
        return b"&".join(pairs)

    def with_headers(self, base):
        """Returns a request with changed headers, and whether its key may be unknown."""
        headers = [(name.encode(), value.encode("utf-8")) for name, value in base.headers]
        for _ in range(self.chance.choice((1, 1, 2))):
            index = self.chance.randrange(len(headers)) if headers else 0
            if not headers:
                break
            name, value = headers[index]
            way = self.chance.randrange(9)
            if way == 0:
                del headers[index]
            elif way == 1:
                headers.append((self.chance.choice((name, name.lower(), name.upper())), value))
            elif way == 2:
                headers[index] = (name + b"-X", value)
            elif way == 3:
                other = self.chance.choice(self.genuine).headers
                headers[index] = (name, self.chance.choice(other)[1].encode())
            elif way == 4:
                headers.append((name, self.chance.choice(PARTS)))
            else:
                headers[index] = (name, self.changed_text(value))
        names = [name.lower() for name, _ in headers]
        serials = [value.decode("latin-1") for name, value in headers if name.lower() == b"wechatpay-serial"]
        is_unknown = len(serials) == 1 and names.count(b"wechatpay-serial") == 1
        is_unknown = is_unknown and serials[0].strip() not in getattr(self.endpoint, "keys", {})
        return Request(base.target, headers, base.body), is_unknown

    def changed_text(self, text):
        place = self.chance.randrange(len(text) + 1)
        way = self.chance.randrange(6)
        if way == 0 and text:
            place = self.chance.randrange(len(text))
            return text[:place] + bytes([self.chance.choice(b"0123456789abcdefXYZ+/=,.:;-")]) + text[place + 1 :]
        if way == 1:
            return text[:place]
        if way == 2:
            return text + self.chance.choice((b"", b",", b" ", b", ")) + text
        if way == 3:
            return text.swapcase()
        if way == 4:
            return self.chance.choice(PARTS)
        return text[:place] + self.chance.choice(PARTS) + text[place:]

    def changed_target(self, target):
        path, mark, query = target.partition("?")
        return self.chance.choice(
            (
                path + "?token=" + query.partition("=")[2][::-1],
                path + "?" + query + "&" + query,
                path + "?" + query + "&x=%zz&%ff=1&sign=a",
                path + "?x=1&" + query,
                path + "?%74oken=" + query.partition("=")[2],
                path + "/pix" + mark + query,
                path + "/" + mark + query,
                path.replace("/pix", "") + "?" + query + "/pix",
                path.replace(self.endpoint.id, "another") + mark + query,
                path.replace(self.endpoint.provider, "stripe") + mark + query,
                path.replace("/v1", "/v1//") + mark + query,
                path + "%2e%2e" + mark + query,
                path + "?" + "a=b&" * 300 + query,
            )
        )


class Pipe:
    """A connection over which one request at a time goes, and is opened again when the service closes it."""

    def __init__(self, port):
        self.port, self.socket, self.rest = port, None, b""

    def send(self, request):
        lines = []
        for name, value in request.headers:
            name = name if isinstance(name, bytes) else name.encode()
            value = value if isinstance(value, bytes) else value.encode()
            lines.append(name + b": " + value + b"\r\n")
        head = f"POST {request.target} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(request.body)}\r\n".encode()
        if self.socket is None:
            self.socket = socket.create_connection(("127.0.0.1", self.port), timeout=60)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.rest = b""
        try:
            self.socket.sendall(b"".join([head, *lines, b"\r\n", request.body]))
        except (BrokenPipeError, ConnectionResetError):
            # The answer may have come before the whole body was read.
            pass

    def receive(self):
        """Returns the status and the body. Raises `OSError` if the connection ends without an answer."""
        data = self.rest
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self.more()
        found = LENGTH.search(data, 0, end)
        whole = end + 4 + (int(found.group(1)) if found else 0)
        while len(data) < whole:
            data += self.more()
        self.rest = data[whole:]
        if b"\r\nconnection: close" in data[:end].lower():
            self.close()
        return int(data[9:12]), data[end + 4 : whole]

    def more(self):
        data = self.socket.recv(65_536)
        if not data:
            raise ConnectionError("the connection was closed")
        return data

    def close(self):
        self.socket.close()
        self.socket = None


def send(port, changers, count, done, results):
    """Sends this many requests to each endpoint, over several connections at once."""
    pipes = [Pipe(port) for _ in range(CONNECTIONS)]
    statuses, faults = collections.Counter(), []
    turns = (changer for _ in range(count) for changer in changers)
    while group := [(pipe, changer, *changer.request()) for pipe, changer in zip(pipes, turns)]:
        for pipe, _, request, _ in group:
            pipe.send(request)
        for pipe, changer, request, fails in group:
            fault = None
            try:
                status, body = pipe.receive()
            except OSError as error:
                fault = f"lost: {error}"
                pipe.close()
            else:
                statuses[(changer.endpoint.id, status)] += 1
                if changer.endpoint.provider == "alipay":
                    fails = b"alipay_cert_sn" in urllib.parse.unquote_to_bytes(request.body)
                if status not in WELL and not (status == 500 and fails):
                    fault = f"status {status} {body[:120]!r}"
            if fault:
                faults.append((fault, request.target, request.headers, request.body))
        with done.get_lock():
            done.value += len(group)
        if len(faults) > 100:
            break
    results.put((statuses, faults))


def text(value):
    return value if isinstance(value, str) else value.decode("latin-1")


def keep(faults):
    """Writes what caused failures to a file."""
    file = ROOT / ".build" / "check-service" / "providers.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "w") as lines:
        for fault, target, headers, body in faults:
            fields = [[text(name), text(value)] for name, value in headers]
            entry = {"fault": fault, "target": target, "headers": fields}
            lines.write(json.dumps(entry | {"body_base64": base64.b64encode(body).decode()}) + "\n")
    progress(f"requests that caused failures: {file}")


def genuine_events(endpoint, first):
    """Returns the events of two payments and a refund, and what they must lead to."""
    at = int(time.time())
    events = [event for number in range(2) for event in endpoint.bought(f"g{first + number}", 1_250 + number, at)]
    return events + endpoint.refunded(f"g{first + 2}", 1_300, at)


def announce(service, known, first, bars):
    """Sends genuine events, and returns what they must lead to, by endpoint."""
    events, expected = {}, {}
    for endpoint in known:
        events[endpoint.id] = genuine_events(endpoint, first)
        with service.connect(key=None) as connection:
            for event in events[endpoint.id]:
                request = endpoint.request(event)
                lines = "".join(f"{name}: {value}\r\n" for name, value in request.headers)
                answer = connection.request("POST", request.target, request.body, lines)
                bars.require(answer.status in (200, 204), f"a genuine event to {endpoint.id}: {answer.status}")
                if event.effect:
                    sum = (event.effect.kind, major(event.effect.minor), endpoint.currency)
                    expected[f"{endpoint.id}:{event.effect.id}"] = sum
    return events, expected


def send_mutated(options, folder, bars, await_announcements):
    """Sends the requests. Returns the figures."""
    known, strangers = endpoints(), endpoints()
    entries = [endpoint.full_settings() for endpoint in known]
    # None of these requests is about money that was withdrawn.
    entries += [endpoint.full_settings(endpoint.id + NOBODY, kinds=["withdrawn"]) for endpoint in known]
    home = folder / "home"
    write_settings(home, entries)
    count = options.scaled(REQUESTS, PROCESSES)
    with Service(options, home) as service:
        events, expected = announce(service, known, 1, bars)
        await_announcements(service, bars, expected)
        before = memory(service.pid)
        # The keys are handed over by the fork.
        fork = multiprocessing.get_context("fork")
        results, done = fork.Queue(), fork.Value("q", 0)
        workers = []
        for index in range(PROCESSES):
            changers = [
                Changer(endpoint, stranger, events[endpoint.id], options.seed * 1_000 + 100 * index + number)
                for number, (endpoint, stranger) in enumerate(zip(known, strangers))
            ]
            share = count // PROCESSES + (index < count % PROCESSES)
            workers.append(fork.Process(target=send, args=(service.port, changers, share, done, results), daemon=True))
        start = told = time.monotonic()
        for worker in workers:
            worker.start()
        gathered = []
        while len(gathered) < len(workers):
            try:
                gathered.append(results.get(timeout=1))
            except queue.Empty:
                dead = [worker for worker in workers if worker.exitcode not in (None, 0)]
                if not bars.require(not dead, f"{len(dead)} client processes ended unexpectedly"):
                    break
            if time.monotonic() - told > 10:
                told = time.monotonic()
                progress(f"providers: {done.value} of {count * len(known)}, {done.value / (told - start):.0f} a second")
        seconds = time.monotonic() - start
        statuses = sum((part for part, _ in gathered), collections.Counter())
        faults = [fault for _, part in gathered for fault in part]
        if faults:
            keep(faults)
        bars.nothing_in([f"{fault} {target}" for fault, target, _, _ in faults], "forbidden answers")
        answered = sum(statuses.values())
        bars.require(answered == count * len(known), f"{answered} of {count * len(known)} requests were answered")
        if not bars.require(service.is_running, "the service ended"):
            return {}
        await_announcements(service, bars, expected)
        # The service works as before.
        _, more = announce(service, known, 11, bars)
        announced = await_announcements(service, bars, expected | more)
        return {
            "requests": answered,
            "requests_an_endpoint": count,
            "seconds": round(seconds, 1),
            "requests_a_second": round(answered / seconds),
            "faults": len(faults),
            "announced": announced,
            "statuses": {
                endpoint.id: {
                    str(status): number for (id, status), number in sorted(statuses.items()) if id == endpoint.id
                }
                for endpoint in known
            },
            "memory_mib_before": round(before / MEBIBYTE, 1),
            "memory_mib_after": round(memory(service.pid) / MEBIBYTE, 1),
        }

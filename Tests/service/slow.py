# SPDX-License-Identifier: Apache-2.0
"""Opens 1,000 slow connections (slow headers, bodies that stop, idle readers). Other clients must not notice."""

import collections
import json
import multiprocessing
import resource
import selectors
import socket
import time

from client import post
from harness import (
    MEBIBYTE,
    Bars,
    Sampler,
    Service,
    Unusable,
    memory,
    open_files,
    percentile,
    processor_seconds,
    progress,
    told,
    work_folder,
)
from measuring import get_on_new_connection, measure_calls

CONNECTIONS = 1_000
MEASURED_SECONDS = 10
# docs/service.md: the time in seconds for a request to arrive completely. The allowance is for the interval of the
# check.
WHOLE_WITHIN = 30
ALLOWANCE = 15
# The limits for other clients: a factor of the percentile before, and an allowance in ms.
FACTOR, MORE = 2, 5
# A clip of more than 1 MB for every third connection must not be stored in memory a thousand times.
GROWTH_BYTES = 128 * MEBIBYTE
# The number of clips that a reader requests at once without reading them. The system's buffers of a connection alone
# hold several MB.
ASKED_AT_ONCE = 16
KINDS = ("headers", "bodies", "readers")


def hang(port, key, clip, count, pipe):
    """Runs as its own process, so that it does not slow down the measuring client. Reports the end of each connection.

    It reports to `pipe` when all are connected. It ends when it is told to or when all connections are closed.
    """
    heads = {
        "headers": f"GET /v1/clips/{clip} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\nX-Filling: {'x' * 2_000}\r\n\r\n",
        "bodies": "POST /v1/announcements HTTP/1.1\r\nHost: x\r\n"
        f"Authorization: Bearer {key}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
        '{"id": "never", "amount": "1',
        "readers": f"GET /v1/clips/{clip} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {key}\r\n\r\n" * ASKED_AT_ONCE,
    }
    selector = selectors.DefaultSelector()
    start = time.monotonic()
    states = []
    failed = 0
    for number in range(count):
        kind = KINDS[number % 3]
        connected = socket.socket()
        connected.settimeout(20)
        if kind == "readers":
            connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        try:
            connected.connect(("127.0.0.1", port))
            head = heads[kind].encode()
            connected.sendall(head[:1] if kind == "headers" else head)
        except OSError:
            failed += 1
            continue
        connected.setblocking(False)
        state = {
            "kind": kind,
            "socket": connected,
            "rest": head[1:] if kind == "headers" else b"",
            "since": time.monotonic(),
            "answer": b"",
            "ended": None,
        }
        states.append(state)
        if kind != "readers":
            selector.register(connected, selectors.EVENT_READ, state)
    pipe.send({"connected": len(states), "failed": failed, "seconds": time.monotonic() - start})
    drip_at = time.monotonic() + 1
    while not pipe.poll(0):
        for key_, _ in selector.select(max(0.0, min(1.0, drip_at - time.monotonic()))):
            state = key_.data
            try:
                data = state["socket"].recv(65_536)
            except BlockingIOError:
                continue
            except OSError:
                data = b""
            state["answer"] += data
            if not data:
                state["ended"] = time.monotonic() - state["since"]
                selector.unregister(state["socket"])
                state["socket"].close()
        if time.monotonic() >= drip_at:
            drip_at += 1
            for state in states:
                if state["kind"] == "headers" and state["ended"] is None:
                    try:
                        state["socket"].send(state["rest"][:1])
                        state["rest"] = state["rest"][1:]
                    except OSError:
                        # The end of the connection is read above.
                        pass
        if not selector.get_map():
            break
    told = {}
    for kind in KINDS[:2]:
        own = [state for state in states if state["kind"] == kind]
        ended = [state["ended"] for state in own if state["ended"] is not None]
        told[kind] = {
            "connections": len(own),
            "closed": len(ended),
            "closed_after_s_least": round(min(ended, default=0), 1),
            "closed_after_s_most": round(max(ended, default=0), 1),
            "answers": dict(
                collections.Counter(state["answer"].split(b"\r\n")[0].decode("latin-1")[:40] for state in own)
            ),
        }
    told["readers"] = {"connections": len([state for state in states if state["kind"] == "readers"])}
    pipe.send(told)
    # The readers stay connected until the parent process has measured memory and open files.
    pipe.recv()


def measure(service, clip, hit, seconds):
    """Measures in turn: a cached clip, a repeated request, and sometimes the clip on a new connection."""
    target = f"/v1/clips/{clip}"
    calls = {
        "get": lambda connection, _: connection.request("GET", target),
        "post": lambda connection, _: post(connection, hit),
        "new_connection": lambda *_: get_on_new_connection(service, target),
    }
    times, errors, _ = measure_calls(
        service, seconds, lambda number: "new_connection" if number % 20 == 0 else ("get", "post")[number % 2], calls
    )
    return times, errors


def wait_until_quiet(pid, most=10.0):
    """Waits until the service has filled the buffers of idle readers, which is normal work. Returns the seconds."""
    start = time.monotonic()
    before = processor_seconds(pid)
    while time.monotonic() < start + most:
        time.sleep(0.25)
        now = processor_seconds(pid)
        if now - before < 0.05:
            break
        before = now
    return time.monotonic() - start


def raise_limit(least):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < least:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (least, max(hard, least)))
        except (ValueError, OSError) as error:
            raise Unusable(f"{least} open files are needed, but the limit is {hard}: {error}") from error


def run(options):
    bars = Bars()
    count = options.scaled(CONNECTIONS, 9)
    seconds = max(2.0, min(MEASURED_SECONDS, MEASURED_SECONDS * options.scale))
    # The service inherits the limit.
    raise_limit(2 * count + 512)
    with work_folder(options) as folder, Service(options, folder / "home") as service:
        with service.connect() as connection:
            hit = json.dumps(
                {"id": "hot", "amount": "12.50", "currency": "CNY", "channel": "alipay", "locale": "zh-CN"}
            ).encode()
            # About 20 s of speech: 1 MB.
            words = " ".join(["The shop closes at nine in the evening"] * 8)
            hot, big = (
                post(connection, body) for body in (hit, {"id": "big", "text": words, "locale": "en-US", "rate": 175})
            )
            if (hot.status, big.status) != (201, 201):
                raise Unusable(f"the first requests were answered with {hot.status} {hot.code} and {big.status} {big.code}.")
            clip, big_clip = hot.json()["clip"]["name"], big.json()["clip"]
        progress(f"slow: the unread clip has {big_clip['bytes']} bytes")
        measure(service, clip, hit, seconds / 5)
        before, errors_before = measure(service, clip, hit, seconds)
        memory_before, files_before = memory(service.pid), open_files(service.pid)
        ours, theirs = multiprocessing.Pipe()
        process = multiprocessing.Process(
            target=hang, args=(service.port, service.key, big_clip["name"], count, theirs), daemon=True
        )
        process.start()
        try:
            with Sampler(lambda: (memory(service.pid), open_files(service.pid)), interval=0.5) as samples:
                connected = receive(ours, 60)
                progress(f"slow: {connected['connected']} connected in {connected['seconds']:.1f} s")
                quiet_after = wait_until_quiet(service.pid)
                during, errors_during = measure(service, clip, hit, seconds)
                became = wait_for_end(ours)
                after, errors_after = measure(service, clip, hit, seconds / 2)
                files_with_readers = open_files(service.pid)
            ours.send("end")
            process.join(30)
        finally:
            process.kill()
        deadline = time.monotonic() + 30
        while open_files(service.pid) > files_before + 20 and time.monotonic() < deadline:
            time.sleep(0.1)
        files_after = open_files(service.pid)
        most = max(sample[0] for sample in samples.samples)
        bars.figures = {
            "connections": connected["connected"],
            "before": told(before),
            "during": told(during),
            "after": told(after),
            "slow": became,
            "quiet_after_s": round(quiet_after, 2),
            "memory_mib_before": round(memory_before / MEBIBYTE, 1),
            "memory_mib_most": round(most / MEBIBYTE, 1),
            "memory_mib_after": round(memory(service.pid) / MEBIBYTE, 1),
            "open_files_before": files_before,
            "open_files_most": max(sample[1] for sample in samples.samples),
            "open_files_with_readers_alone": files_with_readers,
            "open_files_after": files_after,
        }
        bars.require(connected["failed"] == 0, f"{connected['failed']} slow connections were not accepted")
        bars.nothing_in(errors_before + errors_during + errors_after, "errors of other clients")
        for kind, values in before.items():
            # The percentile of a few values means nothing, and there are few values if the clients mostly waited.
            enough = len(during[kind]) >= len(values) / 4
            bars.require(enough, f"{kind}: only {len(during[kind])} requests instead of {len(values)} before")
            old, new = percentile(values, 0.99) * 1000, percentile(during[kind], 0.99) * 1000
            bars.require(
                new <= FACTOR * old + MORE, f"{kind}: p99 was {old:.2f} ms and is {new:.2f} ms with slow connections"
            )
        for kind in KINDS[:2]:
            bars.require(
                became[kind]["closed"] == became[kind]["connections"],
                f"{kind}: {became[kind]['closed']} of {became[kind]['connections']} were closed within {WHOLE_WITHIN + ALLOWANCE} s",
            )
        bars.require(
            most - memory_before <= GROWTH_BYTES, f"memory grew by {(most - memory_before) / MEBIBYTE:.0f} MiB"
        )
        bars.require(files_after <= files_before + 20, f"{files_after - files_before} more open files after the test")
        bars.require(service.is_running, "the service ended")
    return bars


def receive(pipe, seconds):
    if not pipe.poll(seconds):
        raise Unusable("the slow clients did not connect in time.")
    return pipe.recv()


def wait_for_end(pipe):
    """Waits until all incomplete requests were closed, or the time is over."""
    if not pipe.poll(WHOLE_WITHIN + ALLOWANCE):
        pipe.send("tell")
    return receive(pipe, 30)

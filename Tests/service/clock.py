# SPDX-License-Identifier: Apache-2.0
"""Sets the clock of a running service by 5 s, an hour and a day, both ways, while a webhook waits for another attempt.

The clock is that of the service alone: shifted_clock.c, which is loaded before the C library, shifts it.
"""

import http.server
import json
import pathlib
import struct
import subprocess
import threading
import time

from client import post
from harness import UNLIMITED, Bars, Service, Unusable, progress, work_folder

STEPS = (-86_400, 86_400, -3_600, 3_600, -5, 5)
# The second attempt comes 5 to 5.5 s after the first (docs/webhooks.md), and a busy machine needs a moment.
LATEST = 12


class Receiver:
    """Refuses each message once, and accepts it then."""

    def __init__(self):
        self.arrivals = {}
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                times = receiver.arrivals.setdefault(body["data"]["id"], [])
                times.append((time.monotonic(), int(self.headers["webhook-timestamp"])))
                self.send_response(503 if len(times) == 1 else 204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def run(options):
    bars = Bars()
    receiver = Receiver()
    steps = STEPS[: options.scaled(len(STEPS), 2)]
    delays = []
    with work_folder(options) as folder:
        library, shift = folder / "shifted_clock.so", folder / "shift"
        source = pathlib.Path(__file__).with_name("shifted_clock.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
        shift.write_bytes(struct.pack("q", 0))
        (folder / "home").mkdir(mode=0o700)
        (folder / "home" / "crier.yaml").write_text("webhook_private_addresses: true\n")
        environment = UNLIMITED | {"LD_PRELOAD": str(library), "SHIFTED_CLOCK": str(shift)}
        log = folder / "heard.jsonl"
        with Service(options, folder / "home", output=f"file:{log}", environment=environment) as service:
            url = f"http://127.0.0.1:{receiver.server.server_address[1]}/"
            body = json.dumps({"url": url, "events": ["announcement.played"]}).encode()
            with service.connect() as connection:
                answer = connection.request("POST", "/v1/webhook-endpoints", body, "Content-Type: application/json\r\n")
                if answer.status != 201:
                    raise Unusable(f"registering the endpoint: {answer.status} {answer.code}")
                for number, step in enumerate(steps):
                    delays.append(one_step(number, step, connection, receiver, shift, bars))
                    progress(f"clock: a step of {step} s, the next attempt after {delays[-1]:.1f} s")
            status, _ = service.terminate()
            bars.require(status == 0, f"the service ended with status {status}")
    bars.figures = {"steps": list(steps), "seconds_until_the_second_attempt": [round(delay, 1) for delay in delays]}
    return bars


def one_step(number, step, connection, receiver, shift, bars):
    """Sets the clock between two attempts of a message. Returns the time between them."""
    identifier = f"step-{number}"
    overwrite(shift, 0)
    announce(connection, identifier, bars)
    until(lambda: receiver.arrivals.get(identifier), f"{identifier}: no first attempt")
    overwrite(shift, step)
    # What is accepted now is heard at once, and the same key is valid.
    announce(connection, f"{identifier}-after", bars)
    until(lambda: len(receiver.arrivals[identifier]) > 1, f"{identifier}: no second attempt", LATEST)
    until(lambda: receiver.arrivals.get(f"{identifier}-after"), f"{identifier}-after: not played", LATEST)
    (first, _), (second, told) = receiver.arrivals[identifier][:2]
    bars.require(4 < second - first < LATEST, f"{step} s: the second attempt came after {second - first:.1f} s")
    bars.require(abs(told - time.time() - step) < LATEST, f"{step} s: the message has another time of day")
    return second - first


def overwrite(file, step):
    """Changes the bytes of the file, and not the file: the service has it mapped."""
    with open(file, "r+b") as shift:
        shift.write(struct.pack("q", step))


def announce(connection, identifier, bars):
    body = {"id": identifier, "amount": "12.00", "currency": "CNY", "locale": "zh-CN", "rate": 450, "method": "speech"}
    answer = post(connection, json.dumps(body | {"deliver": ["play"]}).encode())
    bars.require(answer.status == 201, f"{identifier}: {answer.status} {answer.code}")


def until(holds, text, patience=30):
    end = time.monotonic() + patience
    while not holds():
        if time.monotonic() > end:
            raise Unusable(text)
        time.sleep(0.01)

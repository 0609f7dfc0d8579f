# SPDX-License-Identifier: Apache-2.0
"""Sets the clock of a running service by seconds to a day, both ways, while a webhook waits for another attempt.

After each step, webhooks, pushes and sounds come as before, and the same key is valid. A request that is signed with
the right time is accepted while the service's clock is wrong by less than 300 s, and again when it is right.

The clock is that of the service alone: shifted_clock.c, which is loaded before the C library, shifts it. The stand-in
for APNs has the right time, and so refuses a provider token whose time is wrong.
"""

import contextlib
import http.server
import json
import pathlib
import re
import struct
import subprocess
import threading
import time

from client import post, signed
from deliveries import APP, KEY_ID, TEAM, make_provider_key, push_settings, register_device, until
from harness import UNLIMITED, Bars, Service, Unusable, progress, work_folder

STEPS = (-86_400, 86_400, -290, 290, -3_600, 3_600, -310, 310, -5, 5)
# The largest difference of the clocks with which a signed request is accepted (docs/service.md).
WINDOW = 300
# The second attempt comes 5 to 5.5 s after the first, and 5 s later if another message to the failing endpoint comes
# before it (docs/webhooks.md). A busy machine needs a moment.
LATEST = 12
# In s. A push does not wait for anything.
LATEST_PUSH = 5
DEVICE = "phone"


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


class Simulator:
    """Crier's stand-in for APNs, with the times at which it accepted the pushes of announcements."""

    def __init__(self, options, folder, key):
        self.authority = folder / "authority.pem"
        self.arrivals = {}
        command = [options.crier, "apns-simulator", "--ca", str(self.authority), "--topic", APP]
        command += ["--key", str(key), "--key-id", KEY_ID, "--team", TEAM]
        try:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        except OSError as error:
            raise Unusable(f"{options.crier}: {error}") from error
        # Other lines, such as that of a new authority, may come before the address. There is none if the simulator ended.
        found = (re.search(r"https://\S+$", line.strip()) for line in self.process.stderr)
        self.url = next((match.group() for match in found if match), "")
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self.arrivals.setdefault(json.loads(line)["payload"].get("crier", {}).get("id"), time.monotonic())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(30)


class Stage:
    """What each step needs."""

    def __init__(self, service, receiver, simulator, shift, bars):
        self.service, self.receiver, self.simulator, self.bars = service, receiver, simulator, bars
        self.shift = shift
        self.signed_answers = []
        self.push_seconds = []

    def set(self, step):
        """Changes the bytes of the file, and not the file: the service has it mapped."""
        with open(self.shift, "r+b") as shift:
            shift.write(struct.pack("q", step))

    def announce(self, identifier, *deliver):
        """Announces something with the service's key, which must be valid."""
        with self.service.connect() as connection:
            answer = post(connection, content(identifier, *deliver))
        self.bars.require(answer.status == 201, f"{identifier}: {answer.status} {answer.code}")

    def announce_signed(self, identifier):
        """Announces something with a signature of now, by this check's clock. Returns status and code."""
        body = json.dumps(content(identifier, "clip")).encode()
        target = "/v1/announcements"
        headers = signed(self.service.key, "POST", target, body, "application/json", int(time.time()))
        with self.service.connect(key=None) as connection:
            answer = post(connection, body, headers)
        return answer.status, answer.code

    def await_push(self, identifier, step):
        """Waits until a push has arrived."""
        start = time.monotonic()
        with contextlib.suppress(Unusable):
            until(lambda: identifier in self.simulator.arrivals, "no push", LATEST_PUSH)
        seconds = time.monotonic() - start
        self.push_seconds.append(seconds)
        arrived = identifier in self.simulator.arrivals
        self.bars.require(arrived, f"{step} s: the push {identifier} did not arrive within {LATEST_PUSH} s")


def content(identifier, *deliver):
    body = {"id": identifier, "amount": "12.00", "currency": "CNY", "locale": "zh-CN", "rate": 450, "method": "speech"}
    return body | {"deliver": list(deliver)} | ({"device": DEVICE} if "push" in deliver else {})


def run(options):
    bars = Bars()
    receiver = Receiver()
    # Even a few steps include one within the window.
    steps = STEPS[: options.scaled(len(STEPS), 3)]
    delays = []
    with work_folder(options) as folder:
        library, shift, home = folder / "shifted_clock.so", folder / "shift", folder / "home"
        source = pathlib.Path(__file__).with_name("shifted_clock.c")
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
        shift.write_bytes(struct.pack("q", 0))
        home.mkdir(mode=0o700)
        key = make_provider_key(home)
        environment = UNLIMITED | {"LD_PRELOAD": str(library), "SHIFTED_CLOCK": str(shift)}
        log = folder / "heard.jsonl"
        with Simulator(options, folder, key) as simulator:
            settings = push_settings(key, simulator.url, simulator.authority)
            (home / "crier.yaml").write_text(f"webhook_private_addresses: true\n{settings}")
            with Service(options, home, output=f"file:{log}", environment=environment) as service:
                url = f"http://127.0.0.1:{receiver.server.server_address[1]}/"
                with service.connect() as connection:
                    body = {"url": url, "events": ["announcement.played"]}
                    answer = post(connection, body, target="/v1/webhook-endpoints")
                if answer.status != 201:
                    raise Unusable(f"registering the endpoint: {answer.status} {answer.code}")
                register_device(service, DEVICE, 1)
                stage = Stage(service, receiver, simulator, shift, bars)
                for number, step in enumerate(steps):
                    delays.append(one_step(number, step, stage))
                    progress(f"clock: a step of {step} s, the next attempt after {delays[-1]:.1f} s")
                status, _ = service.terminate()
                bars.require(status == 0, f"the service ended with status {status}")
    bars.figures = {
        "steps": list(steps),
        "seconds_until_the_second_attempt": [round(delay, 1) for delay in delays],
        "signed_answers": stage.signed_answers,
        "seconds_until_the_push_most": round(max(stage.push_seconds), 2),
    }
    return bars


def one_step(number, step, stage):
    """Sets the clock between two attempts of a message. Returns the time between them."""
    identifier = f"step-{number}"
    arrivals, bars = stage.receiver.arrivals, stage.bars
    stage.set(0)
    # This is a step back from the former difference. The clock is right again, so a normal signed request is accepted.
    answer = stage.announce_signed(f"{identifier}-signed-before")
    bars.require(answer == (201, None), f"before {step} s: a signed request was answered with {answer}")
    stage.announce(identifier, "play", "push")
    stage.await_push(identifier, step)
    until(lambda: arrivals.get(identifier), f"{identifier}: no first attempt")
    stage.set(step)
    # The sender's clock is right, and the service's is wrong. No answer may depend on more than their difference.
    answer = stage.announce_signed(f"{identifier}-signed-after")
    expected = (201, None) if abs(step) < WINDOW else (401, "timestamp_outside_window")
    bars.require(answer == expected, f"{step} s: a signed request was answered with {answer} instead of {expected}")
    stage.signed_answers.append(answer[0])
    # An announcement that is accepted now is heard and pushed at once, and the same key is valid.
    stage.announce(f"{identifier}-after", "play", "push")
    stage.await_push(f"{identifier}-after", step)
    until(lambda: len(arrivals[identifier]) > 1, f"{identifier}: no second attempt", LATEST)
    until(lambda: arrivals.get(f"{identifier}-after"), f"{identifier}-after: not played", LATEST)
    (first, _), (second, told) = arrivals[identifier][:2]
    bars.require(4 < second - first < LATEST, f"{step} s: the second attempt came after {second - first:.1f} s")
    bars.require(abs(told - time.time() - step) < LATEST, f"{step} s: the message has another time of day")
    stage.set(0)
    answer = stage.announce_signed(f"{identifier}-signed-again")
    bars.require(answer == (201, None), f"after {step} s and back: a signed request was answered with {answer}")
    # A request with the key itself does not depend on the clock at all.
    with stage.service.connect() as connection:
        answer = connection.request("GET", f"/v1/announcements/{identifier}")
    bars.require(
        answer.status == 200, f"after {step} s and back: the key was answered with {answer.status} {answer.code}"
    )
    return second - first

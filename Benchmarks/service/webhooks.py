# SPDX-License-Identifier: Apache-2.0
"""Measures how many webhooks of payment providers a second `crier serve` accepts durably, beside the bare check of
their signatures and the bare acceptances of a ledger, in turns on the same cores. Prints the tables of
docs/benchmarks.md.

Half of the webhooks are signed with RSA (WeChat Pay), and half with an HMAC (Stripe). Each is about a new payment.
"""

import argparse
import base64
import concurrent.futures
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "service"))
sys.dont_write_bytecode = True

from harness import Options, Service, Unusable, end_on_signals, percentile, progress, work_folder  # noqa: E402
from provider_requests import write_settings  # noqa: E402
from provider_senders import Stripe, WeChatPay  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
CONNECTIONS = 64
# The number of webhooks per second while the times of the answers are measured, and the number of connections that send
# them.
RATE, SENDERS = 500, 20
# The rate that the service must reach, as a share of the rate that the check and the acceptance allow one after the
# other.
BAR = 0.5


def fields(text):
    words = text.split()
    return {name: float(value) for name, value in zip(words, words[1:]) if re.fullmatch(r"\d+(\.\d+)?", value)}


def program(*command):
    ended = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    if ended.returncode != 0:
        raise Unusable(f"{command[0]} ended with {ended.returncode}: {ended.stderr[-300:]}")
    return ended.stdout


class Bench:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.build = pathlib.Path(arguments.build).resolve()
        self.options = Options(str(self.build / "crier"), 1, 1, False)
        self.endpoints = [Stripe("stripe"), WeChatPay("wechat")]
        self.number = 0
        self.rounds = []
        self.answers = []

    def requests(self, count):
        """Returns signed requests about new payments, both kinds in turns. Their times are valid for five minutes."""
        signed = []
        for index in range(count):
            self.number += 1
            endpoint = self.endpoints[index % 2]
            # All payments have the same sum and so the same clip, so that making clips takes little processor time.
            event = endpoint.bought(f"b{self.number:09}", 1_250, int(time.time()))[0]
            signed.append((endpoint.id, endpoint.request(event)))
        return signed

    def service(self, name):
        home = self.folder / name
        write_settings(home, [endpoint.full_settings() for endpoint in self.endpoints])
        return Service(self.options, home)

    def write(self, requests):
        """Writes the requests for provider-bench and for wrk."""
        with open(self.folder / "lines", "w") as lines, open(self.folder / "raw", "wb") as raw:
            for id, request in requests:
                body = base64.b64encode(request.body).decode()
                lines.write(json.dumps({"endpoint": id, "headers": request.headers, "body": body}) + "\n")
                head = "".join(f"{name}: {value}\r\n" for name, value in request.headers)
                head = f"POST {request.target} HTTP/1.1\r\nHost: shop.example\r\n{head}"
                whole = f"{head}Content-Length: {len(request.body)}\r\n\r\n".encode() + request.body
                raw.write(b"%d\n" % len(whole) + whole)

    def run(self):
        for number in range(self.arguments.rounds):
            progress(f"webhooks, round {number + 1} of {self.arguments.rounds}: signing")
            self.write(self.requests(self.arguments.requests))
            measures = [("check", self.check), ("acceptance", self.acceptance), ("service", self.saturated)]
            # The order alternates, because a machine may slow down under load.
            found = {name: measure(number) for name, measure in (measures if number % 2 == 0 else measures[::-1])}
            found["limit"] = 1 / (1 / found["check"] + 1 / found["acceptance"])
            self.rounds.append(found | {"ratio": found["service"] / found["limit"]})
            progress(json.dumps({name: round(value, 3) for name, value in self.rounds[-1].items()}))
            self.answers.append(self.paced(number))

    def bench(self, kind, *more):
        settings = self.folder / "settings" / "providers.yaml"
        write_settings(settings.parent, [endpoint.full_settings() for endpoint in self.endpoints])
        seconds = str(self.arguments.seconds)
        command = [self.build / "provider-bench", kind, settings, self.folder / "lines", seconds, *more]
        return fields(program(*map(str, command)))["rate"]

    def check(self, _):
        return self.bench("check")

    def acceptance(self, number):
        folder = self.folder / f"ledger-{number}"
        folder.mkdir()
        rate = self.bench("accept", str(folder))
        shutil.rmtree(folder)
        return rate

    def saturated(self, number):
        with self.service(f"saturated-{number}") as service:
            self.warm_up(service)
            command = ["wrk", "-d", f"{self.arguments.seconds}s", "-c", str(CONNECTIONS), "-t", "1", "-s", str(HERE / "webhooks.lua")]
            told = program(*command, f"http://127.0.0.1:{service.port}/", "--", str(self.folder / "raw"))
            accepted, refused, seconds = re.search(r"ACCEPTED (\d+) REFUSED (\d+) SECONDS ([\d.]+)", told).groups()
            counts = re.findall(r'crier_provider_events_total{outcome="(\w+)"} (\d+)', self.metrics(service))
            counts = {outcome: int(count) for outcome, count in counts}
            if int(accepted) + CONNECTIONS > self.arguments.requests:
                raise Unusable("all webhooks were sent before the time was over: sign more of them with --requests")
            if int(refused) or counts["accepted"] < int(accepted) - CONNECTIONS:
                raise Unusable(f"{refused} webhooks were refused, and the outcomes were {counts}")
        shutil.rmtree(service.home)
        return int(accepted) / float(seconds)

    def metrics(self, service):
        with service.connect() as connection:
            return connection.request("GET", "/metrics").body.decode()

    def warm_up(self, service):
        """Has the clip made, and the start's work ended."""
        with service.connect(key=None) as connection:
            for id, request in self.requests(20):
                if self.send(connection, request) not in (200, 204):
                    raise Unusable(f"a webhook to {id} was refused")
        time.sleep(1)

    def send(self, connection, request):
        lines = "".join(f"{name}: {value}\r\n" for name, value in request.headers)
        return connection.request("POST", request.target, request.body, lines).status

    def paced(self, number):
        """Sends webhooks at a fixed rate. Returns the times of the answers, counted from when each was due."""
        requests = self.requests(RATE * self.arguments.paced)
        with self.service(f"paced-{number}") as service:
            self.warm_up(service)
            start = time.monotonic() + 0.2

            def sender(index):
                times = []
                with service.connect(key=None) as connection:
                    connection.open()
                    for turn, (_, request) in enumerate(requests[index::SENDERS]):
                        due = start + (turn * SENDERS + index) / RATE
                        time.sleep(max(0, due - time.monotonic()))
                        if self.send(connection, request) not in (200, 204):
                            raise Unusable("a webhook was refused")
                        times.append(time.monotonic() - due)
                return times

            with concurrent.futures.ThreadPoolExecutor(SENDERS) as pool:
                times = [time for part in pool.map(sender, range(SENDERS)) for time in part]
        shutil.rmtree(service.home)
        return times

    def tell(self):
        def median(name):
            return statistics.median(found[name] for found in self.rounds)

        print("| webhooks, half with RSA and half with an HMAC | per second |")
        print("|---|---|")
        print(f"| `crier serve`, accepted durably, {CONNECTIONS} connections | {median('service'):,.0f} |")
        print(f"| the signatures checked and the payments read, on all cores | {median('check'):,.0f} |")
        print(f"| the payments accepted by a ledger, 64 at a time | {median('acceptance'):,.0f} |")
        print(f"| checking and then accepting each payment, computed from the two rows above | {median('limit'):,.0f} |")
        print()
        ratios = ", ".join(f"{found['ratio']:.2f}" for found in self.rounds)
        print(f"The service reaches {median('ratio'):.2f} of what both allow (rounds: {ratios}).")
        print()
        print(f"| {RATE} webhooks a second | p50, ms | p99, ms |")
        print("|---|---|---|")
        for number, times in enumerate(self.answers, 1):
            print(f"| round {number} | {percentile(times, 0.5) * 1e3:.2f} | {percentile(times, 0.99) * 1e3:.2f} |")
        return median("ratio") >= BAR


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", help="the folder of the built programs (crier, speaker, provider-bench)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--requests", type=int, default=24_000, help="the webhooks of a round")
    parser.add_argument("--seconds", type=int, default=3, help="the seconds of each measurement")
    parser.add_argument("--paced", type=int, default=10, help="the seconds at the fixed rate")
    arguments = parser.parse_args()
    end_on_signals()
    try:
        with work_folder(Options("", 1, 1, False)) as folder:
            bench = Bench(arguments, folder)
            bench.run()
            if not bench.tell():
                print(f"That is less than {BAR}.", file=sys.stderr)
    except Unusable as error:
        print(error, file=sys.stderr)
        return 69
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Ends a real speech server by SIGKILL while it speaks, and checks that each payment is heard in time, in the right words.

    python3 killed.py --crier PROGRAM [--kills 20] [--seed 1]

The service asks wyoming-piper (scripts/speech-server) for each payment. A payment whose server was killed must have the
bytes of the clip that `crier render` makes without a server, and its report must say why.
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "service"))

from harness import Bars, Options, Service, Unusable, plain_environment, progress  # noqa: E402

# The time for a payment in the settings, and what the engine may need afterwards on a busy machine, in seconds.
LIMIT, MARGIN = 3.0, 3.0
# A killed server needs some seconds to load its voice again, and the service lets it rest for longer after each failure.
LONGEST_REST = 180
# The reason in the report of a payment whose server ended while it spoke.
CLOSED = "closed_early"


class SpeechServer:
    def __init__(self, folder):
        self.socket, self.log = folder / "speech", folder / "server.log"
        self.process = None

    def start(self):
        with contextlib.suppress(OSError):
            self.socket.unlink()
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [ROOT / "scripts" / "speech-server", f"unix://{self.socket}"], stdin=subprocess.DEVNULL, stdout=log,
                stderr=log, start_new_session=True)
        end = time.monotonic() + 120
        while not self.socket.exists():
            if self.process.poll() is not None or time.monotonic() > end:
                raise Unusable(f"the speech server did not start: {self.log.read_text(errors='replace')[-500:]}")
            time.sleep(0.05)

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)


def announce(service, payment, bars, longest=LIMIT + MARGIN):
    """Announces a payment. Returns its report, or None."""
    begun = time.monotonic()
    with service.connect() as connection:
        answer = connection.request(
            "POST", "/v1/announcements", json.dumps(payment).encode(), "Content-Type: application/json\r\n")
    took = time.monotonic() - begun
    bars.require(took < longest, f"{payment['id']}: heard within {longest} s ({took:.2f} s)")
    if not bars.require(answer.status == 201, f"{payment['id']}: accepted ({answer.status} {answer.body[:200]})"):
        return None
    return answer.json()


def check(options, kills, folder):
    bars, generator = Bars(), random.Random(options.seed)
    home = folder / "home"
    home.mkdir(mode=0o700)
    speech = SpeechServer(folder)
    (home / "crier.yaml").write_text(
        "speech_servers:\n"
        f"  - {{id: joe, wyoming: 'unix://{speech.socket}', voice: en_US-joe-medium, locales: [en-US], amounts: true, "
        f"timeout_ms: {int(LIMIT * 1000)}}}\n")
    hit = missed = number = 0
    others = []
    try:
        speech.start()
        with Service(options, home) as service:
            while hit < kills and missed < kills:
                number += 1
                # The service asks again by itself when the rest of the server is over.
                end = time.monotonic() + LONGEST_REST
                while (report := announce(service, payment(number, generator), bars)) and report["fallback"]:
                    number += 1
                    if not bars.require(time.monotonic() < end, "the server is asked again after its rest"):
                        return bars
                    time.sleep(0.2)
                number += 1
                killer = threading.Timer(generator.uniform(0.02, 0.25), speech.kill)
                killer.start()
                killed = payment(number, generator)
                # The end of the server closes its connection, so nobody waits until the time is over.
                report = announce(service, killed, bars, LIMIT)
                killer.join()
                if report and report["fallback"]:
                    others.append((killed, report))
                if report and report["fallback"] == CLOSED:
                    hit += 1
                else:
                    missed += 1
                progress(f"killed in mid-sentence {hit}, before or after it {missed}")
                speech.start()
    finally:
        if speech.process:
            speech.kill()
    for killed, report in others:
        bars.require(report["voice"] != "joe", f"{killed['id']}: another voice is named")
        plain = rendered(options.crier, killed, folder)
        bars.require(
            report["clip"]["sha256"] == plain["clip"]["sha256"] and report["text"] == plain["text"],
            f"{killed['id']}: the clip has the bytes of the one without a server")
    bars.require(hit >= kills // 2, f"the server was killed in mid-sentence ({hit} of {kills})")
    reasons = sorted({report["fallback"] for _, report in others})
    print(json.dumps({"payments": number, "killed_while_speaking": hit, "killed_otherwise": missed, "reasons": reasons}))
    return bars


def payment(number, generator):
    cents = generator.randrange(1, 10_000_000)
    return {
        "id": f"killed-{number}", "amount": f"{cents // 100}.{cents % 100:02}", "currency": "USD", "locale": "en-US",
        "payer": generator.choice(["John Smith", "Maria Garcia", "Ada"]),
    }


def rendered(crier, payment, folder):
    made = subprocess.run(
        [crier, "render", "-", "--json"], input=json.dumps(payment), capture_output=True, text=True, check=True,
        timeout=60, env=plain_environment({"CRIER_HOME": str(folder / "plain")}))
    return json.loads(made.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--crier", default=str(ROOT / ".build" / "release" / "crier"))
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    # The service and the server end with this program.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="crier-killed-"))
    try:
        options = Options(crier=arguments.crier, scale=1, seed=arguments.seed, keep=False)
        bars = check(options, arguments.kills, folder)
    except Unusable as error:
        sys.exit(f"killed: {error}")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(1 if bars.missed else 0)


if __name__ == "__main__":
    main()

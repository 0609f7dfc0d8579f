# SPDX-License-Identifier: Apache-2.0
"""Runs the service, so that the checks can stop and start it."""

import http.client
import json
import os
import pathlib
import re
import subprocess
import time
import urllib.request


class Service:
    """`crier serve` with a home of its own. After a stop it starts again on the same port."""

    def __init__(self, program, home):
        self.program, self.home, self.port, self.process = program, pathlib.Path(home), 0, None
        self.start()
        self.key = (self.home / "first-key").read_text().strip()

    def start(self):
        environment = {**os.environ, "CRIER_RATE": "10000", "CRIER_BURST": "10000", "CRIER_HOSTS": "shop.test"}
        command = [self.program, "serve", "--home", str(self.home), "--port", str(self.port), "--output", "null"]
        greeting = self.home / "greeting"
        with open(greeting, "w") as out, open(self.home / "log", "a") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=out, stderr=log)
        # The service prints its greeting once it listens. Later starts print no key to a file, but log their address.
        while not self.answers():
            if self.process.poll() is not None:
                raise RuntimeError((self.home / "log").read_text()[-2000:])
            time.sleep(0.1)

    def answers(self):
        if not self.port:
            found = re.search(r"http://127\.0\.0\.1:(\d+)", (self.home / "greeting").read_text())
            if not found:
                return False
            self.port = int(found.group(1))
        try:
            return urllib.request.urlopen(self.base + "/healthz", timeout=5).status == 200
        except OSError:
            return False

    @property
    def base(self):
        return f"http://127.0.0.1:{self.port}"

    def kill(self):
        """Ends the service as a power cut does."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def build_pack(self, identifier):
        """Makes a pack in the home with the engine, and waits until the service lists it."""
        voices = self.home / "Voices"
        voices.mkdir(exist_ok=True)
        subprocess.run([self.program, "voices", "build", "--locale", "en-US", "--id", identifier, "--voices", str(voices), "--quiet"], check=True)
        while not any(pack["id"] == identifier for pack in self.call("GET", "/v1/packs")["packs"]):
            time.sleep(0.2)

    def use_pack(self, identifier):
        """Chooses a pack to speak its language, and waits until the service lists it as chosen."""
        subprocess.run([self.program, "voices", "use", identifier, "--home", str(self.home)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not any(pack["id"] == identifier and pack["speaks"] == "chosen" for pack in self.call("GET", "/v1/packs")["packs"]):
            time.sleep(0.2)

    def batch(self, rows):
        """Sends a list in CSV, and returns the batch when it has ended."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "text/csv"}
        with urllib.request.urlopen(urllib.request.Request(self.base + "/v1/batches", rows.encode(), headers), timeout=30) as answer:
            batch = json.load(answer)
        while batch["state"] == "running":
            time.sleep(0.1)
            batch = self.call("GET", f"/v1/batches/{batch['id']}")
        return batch

    def announce_many(self, name, count, amount="12.50"):
        """Announces the same payment many times, with the ids `name-0`, `name-1` and so on."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        for number in range(count):
            body = {"id": f"{name}-{number}", "amount": amount, "currency": "USD", "locale": "en-US"}
            connection.request("POST", "/v1/announcements", json.dumps(body), headers)
            answer = connection.getresponse()
            answer.read()
            if answer.status not in (200, 201):
                raise RuntimeError(f"an announcement is answered with status {answer.status}")
        connection.close()

    def announced(self):
        """Returns the ids of the newest announcements. Their other fields change while they are played."""
        return [entry["id"] for entry in self.call("GET", "/v1/announcements")["announcements"]]

    def call(self, method, path, body=None):
        """Calls the service with its first key, and returns the answer's JSON."""
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)

# SPDX-License-Identifier: Apache-2.0
"""The usual recipes for a notification service extension, as they are found in blogs and questions.

They speak the same lines of JSON as the real extension, and run on the same phone:

    recipes.py fixed-name|at-once|serial-queue CONFIG.json

- `fixed-name`: each push downloads its clip to one fixed file, and hands over at once with this name.
- `at-once`: each push downloads its clip to a file of its own, and hands over as soon as the clip is there.
- `serial-queue`: one queue in the process; it waits for the length of a clip before it hands over the next one.

None of them knows of other processes, of sequence numbers, or of what was lost on the way.
"""

import json
import os
import pathlib
import queue
import socket
import sys
import threading
import time
import urllib.parse

FIXED_NAME = "announcement.wav"
DOWNLOAD_SECONDS = 10


class Extension:
    def __init__(self, recipe, config):
        self.recipe = recipe
        self.sounds = pathlib.Path(config["container"]) / "Library" / "Sounds"
        self.sounds.mkdir(parents=True, exist_ok=True)
        self.lock = threading.Lock()
        self.open = {}
        self.threads = []
        self.waiting = queue.Queue()
        if recipe == "serial-queue":
            threading.Thread(target=self.run_queue, daemon=True).start()

    def tell(self, **event):
        with self.lock:
            sys.stdout.write(json.dumps(event, ensure_ascii=False) + "\n")
            sys.stdout.flush()

    def run(self):
        self.tell(event="ready")
        for line in sys.stdin:
            message = json.loads(line)
            if message["do"] == "push":
                self.take(message["request"], message["payload"])
            elif message["do"] == "expire":
                self.hand_over(message["request"], None)
            elif message["do"] == "catch-up":
                self.tell(event="caught-up")
        while self.open:
            time.sleep(0.05)

    def take(self, request, payload):
        self.open[request] = payload
        if self.recipe == "serial-queue":
            self.waiting.put((request, payload))
        else:
            threading.Thread(target=self.work, args=(request, payload), daemon=True).start()

    def work(self, request, payload):
        self.hand_over(request, self.fetch(payload))

    def run_queue(self):
        while True:
            request, payload = self.waiting.get()
            name = self.fetch(payload)
            self.hand_over(request, name)
            if name:
                time.sleep(payload["crier"]["clip"]["duration_ms"] / 1000)

    def fetch(self, payload):
        """Downloads the clip. Returns the name of its file, or None if that failed."""
        clip = payload["crier"]["clip"]
        name = FIXED_NAME if self.recipe == "fixed-name" else clip["name"]
        try:
            data = download(clip["url"])
        except (OSError, ValueError):
            return None
        temporary = self.sounds / f".{os.getpid()}-{threading.get_ident()}"
        temporary.write_bytes(data)
        temporary.replace(self.sounds / name)
        return name

    def hand_over(self, request, name):
        """Calls the content handler, and only once. Without a clip, the content is handed over as it came."""
        with self.lock:
            payload = self.open.pop(request, None)
        if payload is None:
            return
        alert = payload["aps"].get("alert", {})
        self.tell(
            event="hand-over",
            request=request,
            sound=name or payload["aps"].get("sound"),
            silent=None,
            summary=None,
            title=alert.get("title", ""),
            body=alert.get("body", ""),
            attachments=[],
        )


def download(url):
    """Returns the body of an answer with status 200. Raises `OSError` or `ValueError`."""
    parts = urllib.parse.urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), timeout=DOWNLOAD_SECONDS) as connection:
        target = f"{parts.path}?{parts.query}"
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: {parts.netloc}\r\nConnection: close\r\n\r\n".encode())
        received = bytearray()
        while data := connection.recv(65_536):
            received += data
    head, _, body = bytes(received).partition(b"\r\n\r\n")
    lines = head.decode("latin-1").lower().split("\r\n")
    lengths = [int(line.partition(":")[2]) for line in lines if line.startswith("content-length:")]
    if " 200" not in lines[0] or lengths != [len(body)]:
        raise ValueError("the download failed")
    return body


if __name__ == "__main__":
    with open(sys.argv[2], encoding="utf-8") as file:
        Extension(sys.argv[1], json.load(file)).run()

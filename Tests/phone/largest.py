# SPDX-License-Identifier: Apache-2.0
"""The largest case for the memory of an extension process: the largest files that it may get, all at the same time.

A process of its own gets four pushes at once, two with a clip to download and two with a sound from elsewhere. Each
names a picture to attach and a picture of the payer, and the chosen tone is long too.
"""

import asyncio
import hashlib
import http.server
import json
import struct
import threading
import time

from processes import PhoneProcess
from sounds import wav

GROUP = "group.crier"
SOUND_SECONDS = 29.9
# The limits of docs/notification-service.md, in bytes.
PICTURE_BYTES = 10_000_000
AVATAR_BYTES = 1_000_000
LONGEST_SECONDS = 40
# The rate of all downloads together, 200 Mbit/s. `URLSession` on Linux reads without waiting for its delegate, so the
# figure of an unlimited server on the same machine would be that of the scheduler.
BYTES_PER_SECOND = 25_000_000
PIECE_BYTES = 16_384


def files():
    """Returns the files by their names: a clip, a sound from elsewhere, a picture and the picture of a payer."""
    return {
        # 5.7 MB, below the 6 MiB that a download of a sound may have.
        "clip": wav(SOUND_SECONDS, channels=2, level=20),
        "sound": _spoken(),
        "picture": b"\xff\xd8\xff\xe0" + bytes(PICTURE_BYTES - 4),
        "avatar": b"\xff\xd8\xff\xe0" + bytes(AVATAR_BYTES - 4),
    }


def _spoken():
    """Returns a sound from elsewhere: 16-bit mono PCM, not at the level of announcements."""
    header = wav(SOUND_SECONDS)[:44]
    count = (struct.unpack_from("<I", header, 40)[0]) // 2
    wave = struct.pack("<96h", *(int(4000 * (1 - abs(index - 48) / 24)) for index in range(96)))
    return header + (wave * (count // 96 + 1))[: 2 * count]


def pushes(port, made):
    """Returns the payloads by the names of their requests."""
    address = f"http://127.0.0.1:{port}"
    aps = {"alert": {"title": "Received", "body": "1.00"}, "mutable-content": 1, "sound": "default"}
    payer = {"name": "A. Payer", "avatar_url": f"{address}/avatar.jpg"}
    payloads = {}
    for number in (1, 2):
        # Both clips are fetched, because they differ in their last byte.
        clip = made["clip"][:-1] + bytes([number])
        made[f"clip-{number}"] = clip
        digest = hashlib.sha256(clip).hexdigest()
        content = {"id": f"largest-{number}", "sequence": number, "locale": "en-US", "kind": "received"}
        content |= {"amount": "1.00", "currency": "USD", "payer": payer}
        content["clip"] = {
            "name": f"{digest}.wav",
            "url": f"{address}/clip-{number}",
            "sha256": digest,
            "bytes": len(clip),
            "duration_ms": int(SOUND_SECONDS * 1000),
        }
        attachment = {"attachment-url": f"{address}/picture"}
        payloads[f"CLIP-{number}"] = {"aps": aps, "crier": content} | attachment
        payloads[f"SOUND-{number}"] = {"aps": aps, "sound-url": f"{address}/sound"} | attachment
    return payloads


class _Network:
    """Lets all connections together send a number of bytes a second, as the network of a phone does."""

    def __init__(self, bytes_per_second):
        self._bytes_per_second = bytes_per_second
        self._free_at = 0.0
        self._lock = threading.Lock()

    def wait(self, count):
        with self._lock:
            now = time.monotonic()
            start = max(now, self._free_at)
            self._free_at = start + count / self._bytes_per_second
        time.sleep(start - now)


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802
        data = self.server.files.get(self.path.strip("/").removesuffix(".jpg"))
        self.send_response(200 if data else 404)
        self.send_header("Content-Length", str(len(data or b"")))
        self.end_headers()
        for start in range(0, len(data or b""), PIECE_BYTES):
            self.server.network.wait(PIECE_BYTES)
            self.wfile.write(data[start : start + PIECE_BYTES])

    def log_message(self, *_):
        pass


class _Largest:
    """The phone of the process, which has nothing but its files."""

    def __init__(self, timeline, meter, command, log):
        self.hand_overs = {}
        self.peak = 0
        self.ended = asyncio.Event()
        self.process = PhoneProcess(
            1, "extension", command, log, timeline, self.read, self.end, meter=meter, on_memory=self.remember
        )

    def read(self):
        for _, line in self.process.lines():
            if line.get("event") == "hand-over":
                self.hand_overs[line["request"]] = line
                self.process.send({"do": "expire", "request": line["request"]})

    def end(self, *_):
        self.process.open = {}

    def remember(self, _, kb, is_at_end):
        self.peak = max(self.peak, kb)
        if is_at_end:
            self.ended.set()


async def measure(extension, folder, timeline, meter):
    """Returns the most dirty pages of the process in KiB. Raises `RuntimeError` if it does not hand everything over."""
    made = files()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.files = made
    server.network = _Network(BYTES_PER_SECOND)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        payloads = pushes(server.server_port, made)
        config = _container(folder)
        # The extension leaves attachments in its temporary folder, from where iOS would take them.
        (folder / "temporary").mkdir()
        command = ["env", f"TMPDIR={folder / 'temporary'}", *extension, str(config)]
        largest = _Largest(timeline, meter, command, folder / "largest.log")
        for request, payload in payloads.items():
            largest.process.send({"do": "push", "request": request, "payload": payload})
        largest.process.close_input()
        try:
            await asyncio.wait_for(largest.ended.wait(), LONGEST_SECONDS)
        except TimeoutError:
            largest.process.end("took too long")
        if missing := payloads.keys() - largest.hand_overs.keys():
            raise RuntimeError(f"The largest case was not handed over: {', '.join(sorted(missing))}; see {folder}.")
        timeline.record("largest-sounds", sounds={name: line["sound"] for name, line in largest.hand_overs.items()})
        return largest.peak
    finally:
        server.shutdown()
        server.server_close()


def _container(folder):
    """Makes a container with a long tone that is chosen. Returns the configuration of the extension."""
    container = folder / GROUP
    sounds, preferences = container / "Library" / "Sounds", container / "Library" / "Preferences"
    for path in (sounds, preferences):
        path.mkdir(parents=True)
    # 8.6 MB; iOS plays any WAV file below 30 s.
    (sounds / "long.wav").write_bytes(wav(SOUND_SECONDS, channels=2, bits=24, level=20))
    (preferences / f"{GROUP}.json").write_text(json.dumps({"sound": "long.wav"}), encoding="utf-8")
    config = folder / "config.json"
    config.write_text(json.dumps({"container": str(container)}), encoding="utf-8")
    return config

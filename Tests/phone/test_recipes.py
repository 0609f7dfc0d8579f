# SPDX-License-Identifier: Apache-2.0
"""The usual recipes on the simulated phone: under the same bursts, each of them has overlaps and loses payments."""

import asyncio
import hashlib
import http.server
import pathlib
import sys
import tempfile
import threading
import time
import unittest

import counts
import phone as phones
from faults import Faults
from processes import use_quiet_child_watcher
from test_lookup import wav
from timeline import Timeline

RECIPES = ("fixed-name", "at-once", "serial-queue")
# The payments come within this time, and each of their clips has this length.
BURST_SECONDS = 0.3
CLIP_MS = 250
PAYMENTS = 12
# The numbers of pushes that never come, and the seed with which the phone uses two processes.
DROPPED = (4, 9)
SEED = 1
# The result that a test waits for comes within this time.
SECONDS = 60


class Server(http.server.ThreadingHTTPServer):
    """Serves the clips. A test can hold back a clip."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Clips)
        self.asked = set()
        self.held = {}

    def hold(self, number):
        self.held[number] = threading.Event()

    def release(self, number):
        self.held[number].set()


class Clips(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802
        number = int(self.path.strip("/?"))
        self.server.asked.add(number)
        if number in self.server.held:
            self.server.held[number].wait(SECONDS)
        data = clip(number)
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def clip(number):
    return wav(CLIP_MS * 8, fill=bytes([number]))


def push(number, port):
    digest = hashlib.sha256(clip(number)).hexdigest()
    url = f"http://127.0.0.1:{port}/{number}"
    content = {"id": f"p{number}", "sequence": number}
    content["clip"] = {"name": f"{digest}.wav", "url": url, "sha256": digest, "duration_ms": CLIP_MS}
    aps = {"alert": {"title": "Received"}, "mutable-content": 1, "sound": f"{digest}.wav"}
    return {"id": "push", "payload": {"aps": aps, "crier": content}}


class RecipeTests(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.server = Server()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    async def asyncSetUp(self):
        # A slow callback is not a fault here, but asyncio would report it.
        asyncio.get_running_loop().slow_callback_duration = 60

    def phone(self, recipe, timeline):
        program = str(pathlib.Path(phones.__file__).with_name("recipes.py"))
        extension = [sys.executable, "-S", "-E", program, recipe]
        world = phones.World(self.folder / recipe, extension, self.folder, "http://127.0.0.1:1", timeline, Faults())
        world.folder.mkdir()
        return phones.Phone(world, "phone-1", "00" * 32, "key", "en-US", SEED)

    def post(self, number, phone, timeline):
        name, digest = f"p{number}", hashlib.sha256(clip(number)).hexdigest()
        timeline.record("posted", "phone-1", id=name, amount="1.00", currency="USD", locale=None)
        timeline.record("numbered", "phone-1", id=name, sequence=number, clip_sha256=digest)
        if number not in DROPPED:
            phone.deliver(push(number, self.server.server_port))

    async def finish(self, phone):
        async with asyncio.timeout(SECONDS):
            while not phone.is_quiet:
                await asyncio.sleep(0.01)
        phone.switch_off()
        while phone.processes:
            await asyncio.sleep(0.01)

    async def counts(self, recipe):
        timeline = Timeline()
        phone = self.phone(recipe, timeline)
        for number in range(1, PAYMENTS + 1):
            self.post(number, phone, timeline)
            await asyncio.sleep(BURST_SECONDS / PAYMENTS)
        await self.finish(phone)
        return counts.counts(timeline.events)

    async def test_each_recipe_has_overlaps_and_loses_the_payments_whose_pushes_never_came(self):
        use_quiet_child_watcher()
        figures = dict(zip(RECIPES, await asyncio.gather(*map(self.counts, RECIPES)), strict=True))
        for recipe, found in figures.items():
            with self.subTest(recipe):
                self.assertGreater(found["overlaps"], 0)
                self.assertGreaterEqual(found["lost"], len(DROPPED))
                self.assertTrue(counts.has_faults_of_recipes(found))
                self.assertFalse(counts.is_good(found))
        self.assertEqual(figures["at-once"]["lost"], len(DROPPED))

    async def test_with_one_file_for_all_clips_a_banner_sounds_with_the_clip_of_a_later_payment(self):
        use_quiet_child_watcher()
        timeline = Timeline()
        phone = self.phone("fixed-name", timeline)
        for number in (1, 2):
            self.server.hold(number)
            self.post(number, phone, timeline)
        async with asyncio.timeout(SECONDS):
            while self.server.asked != {1, 2}:
                await asyncio.sleep(0.01)
        # This blocks the event loop of the phone, so the phone reads no file until both clips were written.
        file = phone.container / "Library" / "Sounds" / "announcement.wav"
        deadline = time.monotonic() + SECONDS
        for number in (1, 2):
            self.server.release(number)
            while not file.exists() or file.read_bytes() != clip(number):
                self.assertLess(time.monotonic(), deadline, f"clip {number} was not written")
                time.sleep(0.001)
        await self.finish(phone)
        found = counts.counts(timeline.events)
        self.assertEqual((found["heard"], found["lost"], found["wrong_sounds"]), (1, 1, 1))

    def test_a_run_without_overlaps_and_losses_has_no_faults_of_recipes(self):
        self.assertFalse(counts.has_faults_of_recipes(counts.counts([])))


if __name__ == "__main__":
    unittest.main()

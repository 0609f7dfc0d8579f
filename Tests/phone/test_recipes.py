# SPDX-License-Identifier: Apache-2.0
"""The usual recipes on the simulated phone: under the same bursts, each of them has overlaps and loses payments."""

import asyncio
import hashlib
import http.server
import pathlib
import sys
import tempfile
import threading
import unittest

import counts
import phone as phones
from faults import Faults
from processes import use_quiet_child_watcher
from test_lookup import wav
from timeline import Timeline

RECIPES = ("fixed-name", "at-once", "serial-queue")
# The payments come within this time, and each of their clips is as long as this.
BURST_SECONDS = 0.3
CLIP_MS = 250
PAYMENTS = 12
# The numbers of pushes that never come, and the seed with which the phone uses two processes.
DROPPED = (4, 9)
SEED = 1


class Clips(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802
        data = clip(int(self.path.strip("/?")))
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
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Clips)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)

    async def asyncSetUp(self):
        # What takes long here is no fault, and asyncio would tell of it.
        asyncio.get_running_loop().slow_callback_duration = 60

    async def counts(self, recipe):
        timeline = Timeline()
        program = str(pathlib.Path(phones.__file__).with_name("recipes.py"))
        extension = [sys.executable, "-S", "-E", program, recipe]
        world = phones.World(self.folder / recipe, extension, self.folder, "http://127.0.0.1:1", timeline, Faults())
        world.folder.mkdir()
        phone = phones.Phone(world, "phone-1", "00" * 32, "key", "en-US", SEED)
        for number in range(1, PAYMENTS + 1):
            name, digest = f"p{number}", hashlib.sha256(clip(number)).hexdigest()
            timeline.record("posted", "phone-1", id=name, amount="1.00", currency="USD", locale=None)
            timeline.record("numbered", "phone-1", id=name, sequence=number, clip_sha256=digest)
            if number not in DROPPED:
                phone.deliver(push(number, self.server.server_port))
            await asyncio.sleep(BURST_SECONDS / PAYMENTS)
        async with asyncio.timeout(60):
            while not phone.is_quiet:
                await asyncio.sleep(0.01)
        phone.switch_off()
        while phone.processes:
            await asyncio.sleep(0.01)
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
        # One file for all clips: what is heard at a banner is often another payment.
        self.assertGreater(figures["fixed-name"]["lost"] + figures["fixed-name"]["wrong_sounds"], len(DROPPED))

    def test_a_run_without_overlaps_and_losses_has_no_faults_of_recipes(self):
        self.assertFalse(counts.has_faults_of_recipes(counts.counts([])))


if __name__ == "__main__":
    unittest.main()

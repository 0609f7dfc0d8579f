# SPDX-License-Identifier: Apache-2.0
"""The largest case for the memory of an extension process."""

import asyncio
import pathlib
import sys
import tempfile
import unittest
import urllib.parse

import largest
import sounds
from lookup import LONGEST_MS, Places, duration_ms, sound_for
from meter import Meter
from timeline import Timeline

# Fetches what a push names and hands it over, unless its first argument says otherwise.
EXTENSION = """
import json, sys, urllib.request
print(json.dumps({"event": "ready"}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message["do"] == "push" and sys.argv[1] != message["request"]:
        payload = message["payload"]
        url = payload.get("sound-url") or payload["crier"]["clip"]["url"]
        kept = urllib.request.urlopen(url).read()
        picture = urllib.request.urlopen(payload["attachment-url"]).read()
        print(json.dumps({"event": "hand-over", "request": message["request"], "sound": "x.wav"}), flush=True)
"""


class LargestTests(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    async def asyncSetUp(self):
        # A slow callback is not a fault here, but asyncio would report it.
        asyncio.get_running_loop().slow_callback_duration = 60

    async def measure(self, without):
        meter = Meter()
        await meter.start()
        (self.folder / "extension.py").write_text(EXTENSION, encoding="utf-8")
        command = [sys.executable, "-S", "-E", str(self.folder / "extension.py"), without]
        try:
            return await largest.measure(command, self.folder / "largest", Timeline(), meter)
        finally:
            await meter.stop()

    async def test_the_most_memory_of_a_process_that_holds_the_files_is_told(self):
        # Its clip of 5.7 MB and the picture of 10 MB, beside what Python itself needs.
        peak = await self.measure(without="nothing")
        self.assertTrue(15_000 < peak < 60_000, peak)

    async def test_a_push_that_is_not_handed_over_is_an_error(self):
        # The process ends when it has handed over the others, so no time limit decides.
        with self.assertRaisesRegex(RuntimeError, "over: CLIP-2;"):
            await self.measure(without="CLIP-2")

    def test_the_files_are_as_large_as_the_extension_takes_and_ios_plays(self):
        files = largest.files()
        for name in ("clip", "sound"):
            self.assertTrue(LONGEST_MS - 200 < duration_ms(files[name]) < LONGEST_MS)
        self.assertTrue(5 << 20 < len(files["clip"]) <= 6 << 20)
        self.assertEqual(len(files["picture"]), 10_000_000)
        self.assertEqual(len(files["avatar"]), 1_000_000)

    def test_each_clip_has_a_digest_of_its_own_and_every_push_has_pictures(self):
        files = largest.files()
        payloads = largest.pushes(80, files)
        self.assertEqual(len(payloads), 4)
        clips = [payload["crier"]["clip"] for payload in payloads.values() if "crier" in payload]
        self.assertEqual(len({clip["sha256"] for clip in clips}), 2)
        self.assertEqual({urllib.parse.urlparse(clip["url"]).path for clip in clips}, {"/clip-1", "/clip-2"})
        self.assertTrue(all("attachment-url" in payload for payload in payloads.values()))


class DefaultSoundTests(unittest.TestCase):
    def test_a_phone_plays_its_default_wav_for_5_s_if_the_extension_names_it(self):
        with tempfile.TemporaryDirectory() as folder:
            container = pathlib.Path(folder) / "group"
            sounds.write_default_sound(container)
            places = Places(pathlib.Path(folder) / "app", (container,), pathlib.Path(folder) / "bundle")
            self.assertEqual(sound_for("default.wav", places).duration_ms, 5000)
            self.assertTrue(sound_for("default.wav", places).is_default)
            self.assertEqual(sound_for("default", places).duration_ms, 1000)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""How the sounds of a run are compared at its end."""

import hashlib
import json
import pathlib
import random
import struct
import tempfile
import unittest

import hearing
from lookup import Sound
from test_lookup import pulses, wav
from words import Recordings

RATE = 8000
FADE = RATE * 3 // 1000


def recording(seed, frames=2000):
    choose = random.Random(seed)
    return [choose.randint(-9000, 9000) for _ in range(frames)]


def file(samples):
    header = wav(0, RATE)[:-4] + struct.pack("<I", 2 * len(samples))
    return header + struct.pack(f"<{len(samples)}h", *samples)


def joined(*parts, pause=100, edge=240):
    """Joins recordings as a stitcher does: each fades in and out, with silence between and around them."""
    samples = [0] * edge
    for part in parts:
        faded = list(part)
        for index in range(FADE):
            faded[index] = faded[index] * index // FADE
            faded[-1 - index] = faded[-1 - index] * index // FADE
        samples += faded + [0] * pause
    return samples + [0] * edge


class WordTests(unittest.TestCase):
    """The words of a stitched clip."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.samples = {text: recording(text) for text in ("Received", "three", "dollars")}
        # One recording may begin with another one.
        self.samples["three dollars"] = self.samples["three"] + recording("more")
        self.recordings = Recordings([self.pack("en-US", self.samples)])

    def pack(self, locale, samples, spoil=None):
        folder = self.folder / locale
        folder.mkdir()
        clips = {}
        for number, (text, one) in enumerate(samples.items()):
            data = file(one)
            clips[f"{number}.wav"] = {"sha256": hashlib.sha256(data).hexdigest(), "text": text}
            (folder / f"{number}.wav").write_bytes(data + (b"more" if text == spoil else b""))
        (folder / "manifest.json").write_text(json.dumps({"locale": locale, "clips": clips}), encoding="utf-8")
        return folder

    def words(self, *texts, **how):
        return self.recordings.words(file(joined(*(self.samples[text] for text in texts), **how)))

    def test_the_words_are_those_of_the_recordings_in_their_order(self):
        self.assertEqual(self.words("Received", "three", "dollars"), "Received three dollars")
        self.assertEqual(self.words("dollars", "three"), "dollars three")
        self.assertEqual(self.words("Received", "Received", pause=0, edge=0), "Received Received")

    def test_the_longest_recording_that_fits_is_heard(self):
        self.assertEqual(self.words("Received", "three dollars"), "Received three dollars")

    def test_chinese_words_are_joined_without_a_space(self):
        samples = {"收款": recording(1), "三笔": recording(2)}
        recordings = Recordings([self.pack("zh-CN", samples)])
        self.assertEqual(recordings.words(file(joined(*samples.values()))), "收款三笔")

    def test_a_sound_with_anything_else_in_it_has_no_known_words(self):
        right = joined(*self.samples.values())
        self.assertIsNotNone(self.recordings.words(file(right)))
        for at in (0, 240 + 1000, 240 + 2000 + 50, len(right) - 1):
            wrong = list(right)
            wrong[at] += 1
            self.assertIsNone(self.recordings.words(file(wrong)), at)
        self.assertIsNone(self.recordings.words(file(right + recording("unknown"))))
        self.assertIsNone(self.recordings.words(file(joined(self.samples["three"][:1900]))))

    def test_what_is_no_mono_wav_file_and_what_is_silent_has_no_words(self):
        for data in (b"", b"RIFF", wav(0), wav(800), wav(800, channels=2), wav(800, bits=8), wav(800)[:30]):
            self.assertIsNone(self.recordings.words(data))

    def test_a_recording_that_is_not_the_one_of_the_manifest_is_not_known(self):
        samples = {"one": recording(1), "two": recording(2)}
        recordings = Recordings([self.pack("en-GB", samples, spoil="two")])
        self.assertEqual(recordings.words(file(joined(samples["one"]))), "one")
        self.assertIsNone(recordings.words(file(joined(samples["two"]))))


class ListeningTests(unittest.TestCase):
    """The comparison with the service's clips."""

    OWN = pulses((1, 0, 1, 1, 0, 1, 0, 0, 1))
    LIKE = pulses((1, 0, 1, 1, 0, 1, 0, 0, 1), later=160)
    OTHER = pulses((0, 1, 0, 0, 1, 0, 1, 1, 0))

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.kept = hearing.Kept(self.folder / "heard")
        self.events = []
        (self.folder / "own.wav").write_bytes(self.OWN)
        self.number("p1", "own.wav", self.OWN)

    def number(self, name, clip, data):
        digest = hashlib.sha256(data).hexdigest()
        self.events.append({"event": "numbered", "phone": "a", "id": name, "clip": clip, "clip_sha256": digest})

    def hear(self, data, ids=("p1",), summary=None, phone="a"):
        """Returns the event of a sound after the run, which has no push: it is a local notification."""
        path = self.folder / "played.wav"
        path.write_bytes(data)
        digest = hashlib.sha256(data).hexdigest()
        self.kept.add(Sound(1000, path, data, digest))
        path.unlink()
        event = {"event": "sound-begins", "phone": phone, "kind": "clip", "ids": list(ids), "sha256": digest}
        event |= {"summary": summary, "identifier": "local"}
        hearing.listen([*self.events, event], self.kept, self.folder, self)
        return event

    def words(self, data):
        return f"{len(data)} bytes"

    def test_a_local_notification_is_compared_with_the_clip_of_its_payment(self):
        self.assertEqual(self.hear(self.OWN)["likeness"], 1.0)
        self.assertGreater(self.hear(self.LIKE)["likeness"], 0.97)
        self.assertLess(self.hear(self.OTHER)["likeness"], 0.5)
        self.assertEqual(self.hear(self.LIKE)["words"], f"{len(self.LIKE)} bytes")

    def test_without_a_clip_of_the_service_nothing_is_known(self):
        self.assertIsNone(self.hear(self.LIKE, ids=["p2"])["likeness"])
        self.assertIsNone(self.hear(self.LIKE, ids=[])["likeness"])
        self.assertIsNone(self.hear(self.LIKE, phone="b")["likeness"])
        self.number("p3", "removed.wav", self.OTHER)
        self.assertIsNone(self.hear(self.LIKE, ids=["p3"])["likeness"])
        self.number("p4", None, b"")
        self.assertIsNone(self.hear(self.LIKE, ids=["p4"])["likeness"])

    def test_of_a_summary_only_the_words_are_read(self):
        event = self.hear(self.LIKE, summary={"ids": ["p1"], "text": ""})
        self.assertEqual((event["likeness"], event["words"]), (None, f"{len(self.LIKE)} bytes"))

    def test_another_file_with_the_name_of_a_sound_is_not_kept_in_its_place(self):
        path = self.folder / "played.wav"
        path.write_bytes(self.OTHER)
        digest = hashlib.sha256(self.LIKE).hexdigest()
        self.kept.add(Sound(1000, path, self.LIKE, digest, inode=path.stat().st_ino + 1))
        self.kept.finish()
        self.assertEqual(self.kept.data(digest), self.LIKE)

    def test_a_sound_that_changed_since_it_was_heard_is_not_compared(self):
        self.assertTrue(self.hear(self.LIKE)["likeness"])
        digest = hashlib.sha256(self.LIKE).hexdigest()
        (self.kept.folder / f"{digest}.wav").write_bytes(self.OWN)
        event = self.hear(self.LIKE)
        self.assertFalse(event["likeness"])
        self.assertFalse(event["words"])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
import pathlib
import struct
import tempfile
import unittest

from listening import likeness
from lookup import NotASound, Places, duration_ms, sound_for


def wav(frames, rate=8000, channels=1, bits=16, encoding=1, extra=b"", block=None, fill=b"\0"):
    """Returns a WAV file. `extra` are chunks between the format and the samples."""
    block = block or channels * bits // 8
    data = (fill * (frames * block))[: frames * block]
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, encoding, channels, rate, rate * block, block, bits)
    body = b"WAVE" + form + extra + struct.pack("<4sI", b"data", len(data)) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


def pulses(beats, rate=8000, level=8000, later=0):
    """Returns a WAV file of loud and quiet parts of 100 ms each, after some silent samples."""
    part = rate // 10
    samples = bytes(2 * later) + b"".join(struct.pack("<h", level if beat else 10) * part for beat in beats)
    header = wav(0, rate)[:-4] + struct.pack("<I", len(samples))
    return header + samples


class LengthTests(unittest.TestCase):
    """How long a WAV file is."""

    def test_linear_pcm(self):
        self.assertEqual(duration_ms(wav(8000)), 1000)
        self.assertEqual(duration_ms(wav(22050, rate=44100, channels=2)), 500)
        self.assertEqual(duration_ms(wav(12000, rate=48000, bits=24)), 250)

    def test_the_compressed_encodings_that_ios_plays(self):
        self.assertEqual(duration_ms(wav(8000, bits=8, encoding=6)), 1000)
        self.assertEqual(duration_ms(wav(8000, bits=8, encoding=7)), 1000)
        fact = struct.pack("<4sII", b"fact", 4, 4000)
        self.assertEqual(duration_ms(wav(8, bits=4, encoding=0x11, extra=fact, block=256)), 500)

    def test_other_chunks_are_skipped(self):
        extra = struct.pack("<4sI", b"LIST", 3) + b"abc\0"
        self.assertEqual(duration_ms(wav(800, extra=extra)), 100)

    def test_a_file_that_was_cut_short_is_as_long_as_what_is_left(self):
        whole = wav(8000)
        self.assertEqual(duration_ms(whole[: len(whole) - 8000]), 500)

    def test_what_is_no_sound(self):
        for data in (b"", b"RIFF", b"caff" + bytes(100), wav(8000)[:30], wav(10, encoding=0x55), wav(10, rate=0)):
            with self.assertRaises(NotASound):
                duration_ms(data)


class LookupTests(unittest.TestCase):
    """Which file iOS plays for a name."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        self.places = Places(root / "app", (root / "group", root / "other-group"), root / "bundle")
        self.app, self.group, self.other_group, self.bundle = self.places.folders()
        for place in self.places.folders():
            place.mkdir(parents=True)

    def test_the_app_container_wins_over_the_groups_and_the_bundle(self):
        for length, place in enumerate((self.bundle, self.other_group, self.group, self.app), 1):
            (place / "a.wav").write_bytes(wav(length * 8))
            self.assertEqual(sound_for("a.wav", self.places).path, place / "a.wav")
            self.assertEqual(sound_for("a.wav", self.places).duration_ms, length)

    def test_a_folder_is_no_sound(self):
        (self.app / "a.wav").mkdir()
        (self.bundle / "a.wav").write_bytes(wav(80))
        self.assertEqual(sound_for("a.wav", self.places).path, self.bundle / "a.wav")

    def test_no_name_is_silent(self):
        self.assertIsNone(sound_for(None, self.places))

    def test_a_missing_file_is_the_default_sound(self):
        for name in ("a.wav", "", "../a.wav", "a", "default"):
            self.assertTrue(sound_for(name, self.places).is_default, name)
        self.assertEqual(sound_for("a.wav", self.places).instead, "missing")
        self.assertIsNone(sound_for("default", self.places).instead)
        self.assertEqual(sound_for("a.wav", self.places).duration_ms, 1000)

    def test_a_name_cannot_leave_the_folders(self):
        (self.places.app_container / "secret.wav").write_bytes(wav(80))
        self.assertTrue(sound_for("../../secret.wav", self.places).is_default)

    def test_default_wav_is_heard_only_if_it_is_named(self):
        (self.bundle / "default.wav").write_bytes(wav(800))
        self.assertEqual(sound_for("default.wav", self.places).duration_ms, 100)
        for name in ("missing.wav", "default"):
            self.assertEqual(sound_for(name, self.places).duration_ms, 1000)

    def test_a_sound_of_30_s_is_replaced_and_a_shorter_one_is_not(self):
        (self.group / "long.wav").write_bytes(wav(240_000))
        (self.group / "short.wav").write_bytes(wav(239_999))
        self.assertEqual(sound_for("long.wav", self.places).instead, "too long")
        self.assertTrue(sound_for("long.wav", self.places).is_default)
        self.assertFalse(sound_for("short.wav", self.places).is_default)

    def test_a_file_that_is_no_sound_is_replaced(self):
        (self.group / "text.wav").write_bytes(b"no sound")
        self.assertEqual(sound_for("text.wav", self.places).instead, "unreadable")


class ListeningTests(unittest.TestCase):
    """Whether two sounds rise and fall together."""

    def test_the_same_sound_at_another_level_and_a_little_later_is_alike(self):
        sound = pulses([1, 0, 1, 1, 0, 1])
        self.assertGreater(likeness(sound, sound), 0.99)
        self.assertGreater(likeness(sound, pulses([1, 0, 1, 1, 0, 1], level=3000, later=480)), 0.98)

    def test_another_sound_is_not_alike(self):
        self.assertLess(likeness(pulses([1, 0, 1, 1, 0, 1]), pulses([0, 1, 0, 1, 1, 1, 1, 0])), 0.8)
        self.assertLess(likeness(pulses([1, 0, 1, 1, 0, 1]), pulses([1, 0, 1])), 0.8)

    def test_what_cannot_be_read_is_not_alike(self):
        self.assertEqual(likeness(b"no sound", pulses([1, 0])), 0)
        self.assertEqual(likeness(wav(8000, bits=8, encoding=7), pulses([1, 0])), 0)


if __name__ == "__main__":
    unittest.main()

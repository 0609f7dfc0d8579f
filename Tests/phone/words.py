# SPDX-License-Identifier: Apache-2.0
"""Reads the words of a stitched clip from its samples: finds the recordings of a voice pack in it, one by one.

A clip that was joined from recordings has their very samples, but for the first and last few ms of each, which fade.
So the words can be read without a doubt, and without any help of the program that joined them.
"""

import hashlib
import json

from listening import pcm

# The recordings may fade over so many ms at each end. Samples that no recording covers must be silent.
FADE_MS = 4
# A recording is looked for by this many of its samples, and then compared as a whole.
PROBE = 48
BYTES = 2


class Recordings:
    """The recordings of voice packs: folders with a manifest.json. Only mono recordings are known."""

    def __init__(self, folders):
        self._by_probe = {}
        for folder in folders:
            manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
            separator = "" if manifest["locale"].startswith(("zh", "ja")) else " "
            for name, clip in manifest["clips"].items():
                data = (folder / name).read_bytes()
                if hashlib.sha256(data).hexdigest() == clip["sha256"]:
                    self._add(data, clip["text"], separator)

    def _add(self, data, text, separator):
        rate, channels, samples = pcm(data)
        fade = rate * FADE_MS // 1000 * BYTES
        inner = samples[fade : len(samples) - fade]
        if channels != 1 or len(inner) < PROBE * BYTES:
            return
        # Silence is no sign of a recording, so the loudest part is looked for.
        loudest = max(range(0, len(inner) - PROBE * BYTES + 1, PROBE * BYTES), key=lambda at: _loudness(inner, at))
        probe = inner[loudest : loudest + PROBE * BYTES]
        self._by_probe.setdefault(probe, []).append((inner, loudest, fade, rate, text, separator))

    def words(self, data):
        """Returns the words that a WAV file says, or None if it is anything else than recordings and silence."""
        rate, channels, samples = pcm(data)
        if channels != 1:
            return None
        words, covered, position = [], 0, 0
        fade = rate * FADE_MS // 1000 * BYTES
        while position + PROBE * BYTES <= len(samples):
            found = self._found(samples, position, rate, covered - fade)
            if found is None:
                position += BYTES
                continue
            start, (inner, _, _, _, text, separator) = found
            if any(samples[covered : start - fade]):
                return None
            words.append((text, separator))
            covered = start + len(inner) + fade
            position = start + len(inner)
        if any(samples[covered:]) or not words:
            return None
        return "".join(separator + text for text, separator in words).strip()

    def _found(self, samples, position, rate, earliest):
        """Returns the longest recording whose probe is at a position, and where its inner part begins; or None."""
        best = None
        for recording in self._by_probe.get(samples[position : position + PROBE * BYTES], ()):
            inner, probe, _, its_rate, _, _ = recording
            start = position - probe
            fits = its_rate == rate and start >= max(earliest, 0) and samples.startswith(inner, start)
            if fits and (best is None or len(inner) > len(best[1][0])):
                best = start, recording
        return best


def _loudness(samples, at):
    return sum(abs(int.from_bytes(samples[i : i + BYTES], "little", signed=True)) for i in range(at, at + 16, BYTES))

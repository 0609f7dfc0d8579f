# SPDX-License-Identifier: Apache-2.0
"""Sounds that the simulation makes itself."""

import struct

DEFAULT_SECONDS = 5


def wav(seconds, rate=48_000, channels=1, bits=16, level=0):
    """Returns a WAV file of linear PCM. With a level, it is no silence: all its samples have this byte."""
    block = channels * bits // 8
    samples = bytes([level]) * (int(seconds * rate) * block)
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, channels, rate, rate * block, block, bits)
    body = b"WAVE" + form + struct.pack("<4sI", b"data", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", len(body)) + body


def write_default_sound(container):
    """Gives a phone the sound that the extension names in place of the system's default sound. It is longer than that."""
    sounds = container / "Library" / "Sounds"
    sounds.mkdir(parents=True, exist_ok=True)
    (sounds / "default.wav").write_bytes(wav(DEFAULT_SECONDS))

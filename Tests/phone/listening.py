# SPDX-License-Identifier: Apache-2.0
"""Listens to a sound: compares its loudness over time with the service's own clip of the same payment.

A clip that a phone stitched has other bytes than the service's clip, but must say the same words with the same
recordings. Two such sounds rise and fall together.
"""

import array
import struct
import sys

FRAME_MS = 20
# Only every so many samples are read, because the shape of the loudness needs no more.
STRIDE = 5
# The stitched sound may begin this many frames earlier or later.
SHIFT = 6
# If two sounds are at least as alike as this, no other shift is tried.
ALIKE = 0.97


def likeness(one, other):
    """Returns how alike two WAV files are, from 0 to 1. The length counts: the shorter one is continued by silence."""
    first, second = _loudness(one), _loudness(other)
    if not first or not second:
        return 0.0
    best = 0.0
    for shift in sorted(range(-SHIFT, SHIFT + 1), key=abs):
        best = max(best, _correlation(first, second, shift))
        if best >= ALIKE:
            break
    return round(best, 4)


def _loudness(data):
    """Returns the mean absolute value of each frame of a WAV file of 16-bit PCM, or [] for any other file."""
    rate, channels, samples = pcm(data)
    in_frame = rate * FRAME_MS // 1000 * channels
    if not in_frame:
        return []
    samples, frames = _numbers(samples), []
    for start in range(0, len(samples) - in_frame + 1, in_frame):
        taken = samples[start : start + in_frame : STRIDE]
        frames.append(sum(map(abs, taken)) / len(taken))
    return frames


def pcm(data):
    """Returns the rate, the channels and the samples (bytes) of a WAV file of 16-bit PCM; (0, 0, b"") for others."""
    position, rate, channels = 12, 0, 0
    while position + 8 <= len(data):
        kind, size = data[position : position + 4], struct.unpack_from("<I", data, position + 4)[0]
        if kind == b"fmt " and position + 24 <= len(data):
            encoding, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", data, position + 8)
            if encoding != 1 or bits != 16:
                break
        elif kind == b"data" and rate:
            samples = data[position + 8 : position + 8 + size]
            return rate, channels, samples[: len(samples) // 2 * 2]
        position += 8 + size + size % 2
    return 0, 0, b""


def _numbers(samples):
    numbers = array.array("h", samples)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _correlation(first, second, shift):
    if shift < 0:
        first, second, shift = second, first, -shift
    second = [0.0] * shift + second
    length = max(len(first), len(second))
    first = first + [0.0] * (length - len(first))
    second = second + [0.0] * (length - len(second))
    mean_first, mean_second = sum(first) / length, sum(second) / length
    both = square_first = square_second = 0.0
    for a, b in zip(first, second, strict=True):
        a -= mean_first
        b -= mean_second
        both += a * b
        square_first += a * a
        square_second += b * b
    if not square_first or not square_second:
        return 0.0
    return max(0.0, both / (square_first * square_second) ** 0.5)

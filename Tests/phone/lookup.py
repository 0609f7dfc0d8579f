# SPDX-License-Identifier: Apache-2.0
"""Where iOS looks for the sound of a notification, and how long the sound is.

The rules are Apple's (UNNotificationSound): the first of three places that has the file wins, and the system's default
sound is heard in place of a missing file and of a sound of 30 s or more. This reader of WAV headers is the phone's own, so
that a fault of the product's reader cannot hide.
"""

import dataclasses
import hashlib
import os
import pathlib
import struct

LONGEST_MS = 30_000
DEFAULT_MS = 1_000
DEFAULT_NAME = "default"
# The file that the extension names in place of the default sound. iOS gives it no meaning.
DEFAULT_FILE = "default.wav"

# The encodings of a WAV file that iOS plays: linear PCM, a-law, µ-law, IMA/ADPCM.
PCM, A_LAW, MU_LAW, IMA_ADPCM, EXTENSIBLE = 1, 6, 7, 0x11, 0xFFFE


class NotASound(Exception):
    """The file is not a WAV file that iOS plays."""


@dataclasses.dataclass(frozen=True)
class Sound:
    """What the phone plays. `path`, `data` and `sha256` are None for the sound that is built into the system."""

    duration_ms: float
    path: pathlib.Path | None = None
    data: bytes | None = None
    sha256: str | None = None
    # The file that was read. Another one may have its name meanwhile.
    inode: int | None = None
    # Why another sound is played than the one that was named: "missing", "too long" or "unreadable".
    instead: str | None = None

    @property
    def is_default(self):
        return self.path is None or self.path.name == DEFAULT_FILE


@dataclasses.dataclass(frozen=True)
class Places:
    """The folders in which iOS looks, in this order: the app's container, those of its groups, the app's bundle."""

    app_container: pathlib.Path
    group_containers: tuple
    bundle: pathlib.Path

    def folders(self):
        yield self.app_container / "Library" / "Sounds"
        for container in self.group_containers:
            yield container / "Library" / "Sounds"
        yield self.bundle

    def find(self, name):
        """Returns the path of the first file with this name, or None."""
        if not name or "/" in name or "\0" in name or name.startswith("."):
            return None
        for folder in self.folders():
            if (folder / name).is_file():
                return folder / name
        return None


def sound_for(name, places):
    """Returns the sound that iOS plays for a name, or None for no sound."""
    if name is None:
        return None
    path = None if name == DEFAULT_NAME else places.find(name)
    if path is None:
        return Sound(DEFAULT_MS, instead=None if name == DEFAULT_NAME else "missing")
    try:
        return _read(path)
    except NotASound as error:
        return Sound(DEFAULT_MS, instead=str(error))
    except OSError:
        # The file was removed in this moment.
        return Sound(DEFAULT_MS, instead="missing")


def _read(path):
    with open(path, "rb") as file:
        data, inode = file.read(), os.fstat(file.fileno()).st_ino
    length = duration_ms(data)
    if length >= LONGEST_MS:
        raise NotASound("too long")
    return Sound(length, path, data, hashlib.sha256(data).hexdigest(), inode)


def duration_ms(data):
    """Returns the length of a WAV file in ms. Raises `NotASound` if iOS would not play it."""
    if len(data) < 12 or data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise NotASound("unreadable")
    form = samples = None
    position = 12
    while position + 8 <= len(data):
        kind, size = data[position : position + 4], struct.unpack_from("<I", data, position + 4)[0]
        body = position + 8
        if kind == b"fmt ":
            if size < 16 or body + size > len(data):
                raise NotASound("unreadable")
            form = struct.unpack_from("<HHIIHH", data, body)
            if form[0] == EXTENSIBLE and size >= 26:
                form = struct.unpack_from("<H", data, body + 24) + form[1:]
        elif kind == b"fact" and size >= 4 and body + 4 <= len(data):
            samples = struct.unpack_from("<I", data, body)[0]
        elif kind == b"data":
            # A file that was cut short has less than its header says, and only that much is heard.
            return _length(form, samples, min(size, len(data) - body))
        position = body + size + size % 2
    raise NotASound("unreadable")


def _length(form, samples, size):
    if form is None:
        raise NotASound("unreadable")
    encoding, channels, rate, _, block, bits = form
    if encoding not in (PCM, A_LAW, MU_LAW, IMA_ADPCM) or not channels or not rate or not block or size < block:
        raise NotASound("unreadable")
    if encoding == IMA_ADPCM:
        in_block = (block - 4 * channels) * 8 // (4 * channels) + 1
        frames = samples or size // block * in_block
    else:
        if block != channels * ((bits + 7) // 8):
            raise NotASound("unreadable")
        frames = size // block
    return frames * 1000 / rate

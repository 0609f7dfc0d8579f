# SPDX-License-Identifier: Apache-2.0
"""Listens to all sounds of a run at its end, when the service has told the number and the clip of each payment.

A sound alone cannot tell whether it is right: a local notification of a payment whose push never came was made from
what the extension asked the service for. So the sounds are kept, and compared with the service's own clips here.
"""

import concurrent.futures
import hashlib
import os

import listening


class Kept:
    """A folder with the sounds that phones played, each under its digest."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._known = set()
        # A busy disk makes a link wait, and the phones must not.
        self._keeper = concurrent.futures.ThreadPoolExecutor(1)
        self._begun = []

    def add(self, sound):
        """Keeps a sound, in the background."""
        if sound.sha256 not in self._known:
            self._known.add(sound.sha256)
            self._begun.append(self._keeper.submit(self._keep, sound))

    def finish(self):
        """Waits until all sounds are kept. Raises `OSError` if one could not be kept."""
        for one in self._begun:
            one.result()
        self._begun = []

    def _keep(self, sound):
        """A link suffices as long as nobody writes into the file; `data` finds out if somebody did."""
        path = self._path(sound.sha256)
        try:
            os.link(sound.path, path)
            if path.stat().st_ino == sound.inode:
                return
            path.unlink()
        except OSError:
            pass
        path.write_bytes(sound.data)

    def data(self, sha256):
        """Returns the bytes of a sound, or None if they are not what was heard."""
        try:
            data = self._path(sha256).read_bytes()
        except OSError:
            return None
        return data if hashlib.sha256(data).hexdigest() == sha256 else None

    def _path(self, sha256):
        return self.folder / f"{sha256}.wav"


def listen(events, kept, service_sounds, recordings):
    """Adds to each `sound-begins` of a clip how alike it is to the service's clip of its payment, and its words.

    `likeness` is 0 to 1, or None if the service has no clip of this payment, or if the sound is a summary. `words` are
    those of the pack's recordings that the sound consists of; None if there is anything else in it. They are not looked
    for in the service's own clip, which needs no words to be right.
    """
    kept.finish()
    clips = {(event["phone"], event["id"]): event for event in events if event["event"] == "numbered"}
    known = {}
    for event in events:
        if event["event"] != "sound-begins" or event["kind"] != "clip":
            continue
        own = None
        if not event.get("summary") and len(event["ids"]) == 1:
            own = clips.get((event["phone"], event["ids"][0]))
        if own and own["clip_sha256"] == event["sha256"]:
            event["likeness"], event["words"] = 1.0, None
            continue
        key = event["sha256"], own and own["clip_sha256"]
        if key not in known:
            data = kept.data(event["sha256"])
            known[key] = _likeness(data, own, service_sounds), data and recordings.words(data)
        event["likeness"], event["words"] = known[key]


def _likeness(data, own, service_sounds):
    try:
        original = (service_sounds / own["clip"]).read_bytes()
    except (OSError, TypeError):
        return None
    return data and listening.likeness(original, data)

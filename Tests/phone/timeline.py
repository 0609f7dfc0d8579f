# SPDX-License-Identifier: Apache-2.0
"""The record of everything that happens on the simulated phones: one event after the other, each with its time."""

import collections
import json
import time

# The two clocks were read at the same time if the reading took no longer than this.
LONGEST_LOOK_SECONDS = 0.0002


class Timeline:
    """A list of events. An event is a dictionary with `at` (ms since 1970), `event`, `phone`, and its details.

    | event | when | details |
    |---|---|---|
    | `posted` | the service answered a payment | `id`, `amount`, `currency`, `locale`, `sent_at` |
    | `numbered` | at the end, from the service's own list | `id`, `sequence`, `clip` (its file), `clip_sha256` |
    | `delivered` | the phone received a push | `push`, `id`, `sequence`, `accepted_ms`, `delivered_ms` |
    | `handed-to-process` | a process got the push | `request`, `process`, `id`, `sequence` |
    | `hand-over` | the process handed it over | `request`, `process`, `id`, `sound`, `silent`, `summary`, `accepted` |
    | `local` | the process added a local notification | `identifier`, `ids`, `summary`, `delay_ms`, `waiting`, … |
    | `local-dropped` | iOS dropped one, because 64 others wait | `identifier`, `ids` |
    | `banner` | a notification was shown | `ids`, and `request` or `identifier`; `original` if nothing changed it |
    | `sound-begins` | a sound began | `sound`, a number, `ids`, `summary`, `kind`, `sha256`, `duration_ms`, … |
    | `sound-ends` | the sound ended | `sound` |
    | `expiring`, `expired` | the time of a request ran out; it was shown as it came | `request`, `id` |
    | `process-started`, `process-ready` | a process of the phone | `process`, `role`: `extension` or `app` |
    | `process-ended` | it ended, or was ended | `process`, `role`, `reason`, `status` |
    | `memory` | after its end, the most memory that it had | `process`, `role`, `peak_dirty_kb` |
    | `suspended`, `continued`, `killed` | a fault that the phone made | `process` |
    | `idle-suspended`, `idle-continued` | iOS suspended a process that had nothing to do; a push came | `process` |
    | `locked-when-suspended` | it held locks in the container, so iOS ended it | `process`, `files` |
    | `offline`, `online` | the phone lost or found its push service | |
    | `opened`, `caught-up` | the app was opened; it had caught up | |
    | `lag` | the simulation itself was late, without a phone | `ms` |
    | `empty-process` | the memory of a process that does nothing, without a phone | `dirty_kb` |
    | `largest-case` | the most memory of a process with the largest files, without a phone | `dirty_kb` |
    | `memory-gaps` | the time between two looks at the memory of a working process | `p99_ms`, `most_ms` |
    | `push-service` | the counters of the simulated push service, without a phone | `counts` |

    What an extension does has the time at which it wrote its line, and what is due at a time has this time. The delays
    of the simulation itself are in neither of them.

    A `sound-begins` also has `name`, `instead` (why another sound is played than the one that was named), and for a
    clip `likeness` and `words`, which `hearing.listen` adds at the end of the run. The kind of a sound is `clip`,
    `phrase` (a recording of a voice pack), `tone` or `default`.
    """

    def __init__(self):
        self.events = []
        # How many events of each kind there are.
        self.seen = collections.Counter()
        self._start = time.time() * 1000 - time.monotonic() * 1000

    def now(self):
        """Returns the ms since 1970 by a clock that never jumps."""
        return round(self._start + time.monotonic() * 1000, 1)

    def at(self, seconds):
        """Returns the time of the timeline for a time of the kernel (`CLOCK_REALTIME`), which somebody may have set."""
        for _ in range(100):
            before = time.monotonic()
            real = time.time()
            after = time.monotonic()
            if after - before < LONGEST_LOOK_SECONDS:
                break
        return round(self._start + (before - real + seconds) * 1000, 1)

    def monotonic(self, at):
        """Returns the time of the event loop for a time of the timeline."""
        return (at - self._start) / 1000

    def record(self, event, phone=None, at=None, **details):
        entry = {"at": self.now() if at is None else at, "event": event, "phone": phone} | details
        self.events.append(entry)
        self.seen[event] += 1
        return entry

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            for event in ordered(self.events):
                file.write(json.dumps(event, ensure_ascii=False) + "\n")


def ordered(events):
    return sorted(events, key=lambda event: event["at"])


def read(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]

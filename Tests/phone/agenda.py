# SPDX-License-Identifier: Apache-2.0
"""What a phone has to do at certain times. It is done as if at its time, also when the simulation comes to it later."""

import asyncio
import heapq
import itertools


class Entry:
    """Something to be done at a time, in ms of the timeline."""

    def __init__(self, at, action):
        self.at = at
        self.action = action

    def cancel(self):
        self.action = None


class Agenda:
    """Entries in the order of their times. `before` is called first when one is due, to bring in what came earlier.

    `run` lets the phone do first what was due before an event whose time is known exactly. So neither the order nor the
    times of what happens on a phone depend on when the event loop comes to it.
    """

    def __init__(self, timeline, before):
        self._timeline = timeline
        self._before = before
        self._entries = []
        self._numbers = itertools.count()

    def add(self, at, action):
        """Calls `action(at)` when the time has come. Returns an entry that can be cancelled."""
        entry = Entry(at, action)
        heapq.heappush(self._entries, (at, next(self._numbers), entry))
        asyncio.get_running_loop().call_at(self._timeline.monotonic(at), self._wake, at)
        return entry

    def _wake(self, at):
        self._before()
        self.run(at)

    def run(self, until):
        """Does all that is due at a time or before it."""
        while self._entries and self._entries[0][0] <= until:
            at, _, entry = heapq.heappop(self._entries)
            if entry.action:
                entry.action(at)

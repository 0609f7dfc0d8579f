# SPDX-License-Identifier: Apache-2.0
"""The local notifications of an app that wait for their time."""

import asyncio

# "The system keeps the soonest-firing 64 notifications and discards the rest" (Apple, UILocalNotification).
MOST_PENDING = 64


class Pending:
    """The waiting notifications. `show(notification)` is called when the time of one comes."""

    def __init__(self, show):
        self._show = show
        self._waiting = {}

    def __len__(self):
        return len(self._waiting)

    def add(self, identifier, delay, notification):
        """Adds a notification that is shown after some seconds. Returns those that were dropped, with identifiers.

        One with the identifier of a waiting one replaces it, as on iOS. One without a delay is not counted as waiting.
        """
        if replaced := self._waiting.pop(identifier, None):
            replaced[0].cancel()
        timer = asyncio.get_running_loop().call_later(delay, self._fire, identifier)
        self._waiting[identifier] = timer, delay > 0, notification
        waiting = [name for name, (_, waits, _) in self._waiting.items() if waits]
        dropped = sorted(waiting, key=lambda name: self._waiting[name][0].when())[MOST_PENDING:]
        return [(name, self._drop(name)) for name in dropped]

    @property
    def waiting(self):
        """The number of notifications that wait, without those that are shown at once."""
        return sum(waits for _, waits, _ in self._waiting.values())

    def _drop(self, identifier):
        timer, _, notification = self._waiting.pop(identifier)
        timer.cancel()
        return notification

    def _fire(self, identifier):
        _, _, notification = self._waiting.pop(identifier)
        self._show(notification)

# SPDX-License-Identifier: Apache-2.0
"""The local notifications of an app that wait for their time."""

# "The system keeps the soonest-firing 64 notifications and discards the rest" (Apple, UILocalNotification).
MOST_PENDING = 64


class Pending:
    """The waiting notifications. `show(notification, at)` is called with the time at which one is due."""

    def __init__(self, agenda, show):
        self._agenda = agenda
        self._show = show
        self._waiting = {}

    def __len__(self):
        return len(self._waiting)

    def add(self, identifier, at, delay_ms, notification):
        """Adds at a time a notification that is shown later. Returns those that were dropped, with identifiers.

        One with the identifier of a waiting one replaces it, as on iOS. One without a delay is not counted as waiting.
        """
        if replaced := self._waiting.pop(identifier, None):
            replaced[0].cancel()
        entry = self._agenda.add(at + delay_ms, lambda due: self._fire(identifier, due))
        self._waiting[identifier] = entry, delay_ms > 0, notification
        waiting = [name for name, (_, waits, _) in self._waiting.items() if waits]
        dropped = sorted(waiting, key=lambda name: self._waiting[name][0].at)[MOST_PENDING:]
        return [(name, self._drop(name)) for name in dropped]

    @property
    def waiting(self):
        """The number of notifications that wait, without those that are shown at once."""
        return sum(waits for _, waits, _ in self._waiting.values())

    def _drop(self, identifier):
        entry, _, notification = self._waiting.pop(identifier)
        entry.cancel()
        return notification

    def _fire(self, identifier, at):
        _, _, notification = self._waiting.pop(identifier)
        self._show(notification, at)

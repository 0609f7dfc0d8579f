# SPDX-License-Identifier: Apache-2.0
"""The output of a process: lines, each with the time at which the process wrote it, as the kernel saw it.

A pipe does not tell when something was written into it, and the simulation may be late to read it. A Unix socket that
keeps the borders of messages (SOCK_SEQPACKET) does: the kernel stamps each message when it is written.
"""

import json
import socket
import struct

# SO_TIMESTAMPNS, which Python has no name for: the kernel adds the time of each message, as two numbers of 64 bits.
SO_TIMESTAMPNS = 35
STAMP = struct.Struct("qq")
# A message is at most as long as the buffer of the socket, which is 208 KiB by default.
LONGEST_MESSAGE = 256 << 10


class StampedLines:
    """Reads events (lines of JSON) with their times. `child` is the end for the process; close it after its start."""

    def __init__(self, timeline):
        self._timeline = timeline
        self._socket, self.child = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setblocking(False)
        self._socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self._rest = b""
        self.is_at_end = False

    def fileno(self):
        return self._socket.fileno()

    def close(self):
        self._socket.close()
        self.child.close()

    def read(self):
        """Returns all events that were written so far, as pairs of the time (ms of the timeline) and the event."""
        events = []
        while not self.is_at_end and self._socket.fileno() >= 0:
            try:
                data, details, _, _ = self._socket.recvmsg(LONGEST_MESSAGE, socket.CMSG_SPACE(STAMP.size))
            except BlockingIOError:
                break
            except OSError:
                data, details = b"", []
            if not data and not details:
                # An empty message has a stamp, and the end of the output has none.
                self.is_at_end = True
                break
            *lines, self._rest = (self._rest + data).split(b"\n")
            at = self._at(details)
            events += [(at, _event(line)) for line in lines if line]
        return events

    def _at(self, details):
        for level, kind, data in details:
            if (level, kind) == (socket.SOL_SOCKET, SO_TIMESTAMPNS):
                seconds, nanoseconds = STAMP.unpack(data)
                return self._timeline.at(seconds + nanoseconds / 1e9)
        return self._timeline.now()


def _event(line):
    try:
        event = json.loads(line)
    except ValueError:
        event = None
    if isinstance(event, dict):
        return event
    return {"event": "not-json", "line": line[:200].decode(errors="replace")}

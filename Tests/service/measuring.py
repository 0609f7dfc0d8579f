# SPDX-License-Identifier: Apache-2.0
"""Measures how long the calls of ordinary clients take while something else loads the service."""

import collections
import time

from client import Lost


def measure_calls(service, seconds, kind_of, calls, start_number=0, statuses=(200,), finish=None):
    """Makes one call after another over a persistent connection until the time is over.

    kind_of: Returns the kind of the call with a number; the first number is the one after start_number.
    calls: For each kind, a function of the connection and the number that makes the call and returns its answer.
    statuses: The expected statuses; another one is an error.
    finish: A function of the connection, the kind and the answer, called outside the measured time.

    Returns the durations in seconds by kind, the errors, and the last number.
    """
    times, errors = collections.defaultdict(list), []
    end = time.monotonic() + seconds
    number = start_number
    with service.connect(timeout=60) as connection:
        while time.monotonic() < end:
            number += 1
            kind = kind_of(number)
            start = time.perf_counter()
            try:
                answer = calls[kind](connection, number)
            except (Lost, OSError) as error:
                errors.append(f"{kind}: {error}")
                continue
            times[kind].append(time.perf_counter() - start)
            if answer.status not in statuses:
                errors.append(f"{kind}: {answer.status} {answer.code}")
            elif finish:
                finish(connection, kind, answer)
    return times, errors, number


def get_on_new_connection(service, target):
    """Requests a target on a connection of its own."""
    with service.connect(timeout=30) as connection:
        return connection.request("GET", target)

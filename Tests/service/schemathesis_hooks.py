# SPDX-License-Identifier: Apache-2.0
"""Counts what schemathesis sends, by call and status, because its own reports do not tell it by call."""

import atexit
import collections
import json
import os
import threading

import schemathesis

counts = collections.defaultdict(collections.Counter)
lock = threading.Lock()


@schemathesis.hook
def after_call(context, case, response):
    phase = case.meta.phase.name.value if case.meta is not None else "other"
    with lock:
        counts[case.operation.label][f"{phase} {response.status_code}"] += 1


@schemathesis.serializer("application/jsonl", "application/x-ndjson")
def json_lines(context, value):
    """A list of rows as its lines; what is no list is sent as a line."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    rows = value if isinstance(value, list) else [value]
    return "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows).encode()


@schemathesis.deserializer("audio/wav", "audio/aiff", "audio/x-caf")
def sound(context, response):
    """The schema of a sound is a string of bytes; that it is one is all that is looked at here."""
    return response.content.decode("latin-1")


@atexit.register
def write():
    with open(os.environ["CRIER_CHECK_COUNTS"], "w", encoding="utf-8") as file:
        json.dump(counts, file)

# SPDX-License-Identifier: Apache-2.0
"""Counts the requests of schemathesis by call and status, because its own reports do not separate calls."""

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
    """Serializes a list of rows as JSON lines, and any other value as a single line."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    rows = value if isinstance(value, list) else [value]
    return "".join(json.dumps(row, ensure_ascii=True) + "\n" for row in rows).encode()


@schemathesis.serializer("audio/wav", "audio/*")
def recording(context, value):
    """Serializes any value as bytes, because the schema of a sound allows every string of bytes."""
    if isinstance(value, bytes):
        return value
    return json.dumps(value, ensure_ascii=True).encode()


@schemathesis.deserializer("audio/wav", "audio/aiff", "audio/x-caf", "audio/mpeg", "audio/flac", "audio/pcm")
def sound(context, response):
    """Deserializes a sound as a string, because its schema is a binary string."""
    return response.content.decode("latin-1")


@atexit.register
def write():
    with open(os.environ["CRIER_CHECK_COUNTS"], "w", encoding="utf-8") as file:
        json.dump(counts, file)

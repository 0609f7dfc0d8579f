# SPDX-License-Identifier: Apache-2.0
"""Fills the ledger of a stopped service with played announcements, as a busy service leaves them."""

import sqlite3

# One announcement has a payload, an answer with its report, and the events from its acceptance to its end.
FILL = """
    BEGIN;
    CREATE TEMP TABLE numbers AS
      WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < {count}) SELECT n FROM counted;
    INSERT INTO announcements
      (account, id, lane, category, payload, state, clip, attempts, heard, accepted_at, changed_at, finished_at)
      SELECT 'default', 'filled-' || n, 'null', 'payment',
        CAST('{{"id":"filled-' || n || '","amount":"12.50","currency":"CNY","channel":"alipay","locale":"zh-CN"}}' AS BLOB),
        'played', printf('%064x.wav', n), 1, 4300, {now} - n, {now} - n, {now} - n
      FROM numbers;
    INSERT INTO answers (account, key, body_digest, id, status, report, created_at, clip, clip_group)
      SELECT 'default', 'p:filled-' || n, randomblob(32), 'filled-' || n, 201, zeroblob(1100), {now} - n,
        printf('%064x.wav', n), 'group.crier'
      FROM numbers;
    INSERT INTO events (at, announcement, lane, kind)
      SELECT {now} - n, n, 'null', column1 FROM numbers, (VALUES ('accepted'), ('ready'), ('playing'), ('played'));
    COMMIT;
"""


def fill(ledger, count, now):
    """Adds announcements that ended within the last minutes before `now`, in milliseconds since 1970.

    Returns the size of the ledger in bytes.
    """
    database = sqlite3.connect(ledger, isolation_level=None)
    try:
        database.execute("PRAGMA synchronous = OFF")
        database.executescript(FILL.format(count=count, now=now))
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        database.close()
    return ledger.stat().st_size

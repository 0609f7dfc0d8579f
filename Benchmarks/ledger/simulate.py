# SPDX-License-Identifier: Apache-2.0
"""Fills a ledger on PostgreSQL with the payments that many shops leave behind, and lets `ledger-bench` make the calls of a
service for further payments.

Prints the size of each table, and for each rate of payments: how long each call takes, what a payment costs the server,
and the statements that read many pages. docs/scale.md says what the figures mean.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

import server

FOLDER = pathlib.Path(__file__).parent
# The most bytes that a payment takes in all tables and indexes, with a reserve.
BYTES = 8_000
# The payments that are filled at a time.
PART = 100_000
# Statements that read more pages than this for a call are listed. The largest ordinary call removes 200 rows.
MANY_PAGES = 200
SEQUENCES = {
    "pg_get_serial_sequence('announcements', 'number')": "SELECT max(number) FROM announcements",
    "pg_get_serial_sequence('answers', 'number')": "SELECT max(number) FROM answers",
    "'push_numbers'": "SELECT max(number) FROM pushes",
    "'webhook_numbers'": "SELECT max(number) FROM webhooks",
    "'library_anchors'": "SELECT max(anchor) FROM library_changes",
}


def fill(database, options):
    """Fills the ledger. The indexes that no constraint needs are made again afterwards, which is much faster."""
    indexes = database.sql(
        """
        SELECT indexrelid::regclass, pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
        WHERE relnamespace = 'public'::regnamespace
          AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)
        """, "ledger")
    database.sql(";".join(f"DROP INDEX {name}" for name, _ in indexes), "ledger")
    now = int(time.time() * 1000)
    values = {"shops": options.shops, "now": now, "payments": options.payments, "days": f"{options.days:.6f}"}
    database.sql((FOLDER / "shops.sql").read_text(encoding="utf-8"), "ledger", **values)
    payments = (FOLDER / "fill.sql").read_text(encoding="utf-8")
    for first in range(1, options.payments + 1, PART):
        last = min(first + PART - 1, options.payments)
        database.sql(payments, "ledger", first=first, last=last, **values)
        print(f"{last} of {options.payments} payments are filled", file=sys.stderr)
    database.sql("UPDATE devices SET last_sequence = "
                 f"{options.payments // options.shops + 1}", "ledger")
    for name, highest in SEQUENCES.items():
        database.sql(f"SELECT setval({name}, ({highest}))", "ledger")
    for _, definition in indexes:
        database.sql(definition, "ledger")
    database.sql("VACUUM (ANALYZE)", "ledger")
    database.sql("CHECKPOINT")


def print_sizes(database, options):
    print("| table | rows | bytes of a row, with its indexes | size, MB | indexes, MB |\n|---|---|---|---|---|")
    for name, rows, total, indexes in database.sql(
            """
            SELECT relname, greatest(reltuples, 0)::bigint, pg_total_relation_size(oid), pg_indexes_size(oid) FROM pg_class
            WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND reltuples >= 1000
            ORDER BY 3 DESC
            """, "ledger"):
        print(f"| `{name}` | {rows} | {int(total) / int(rows):.0f} | {int(total) / 1e6:.0f} | {int(indexes) / 1e6:.0f} |")
    size = database.number("SELECT pg_database_size('ledger')")
    print(f"\nThe database has {size / 1e9:.2f} GB.\n")


def processor_seconds(database):
    """The processor time of the server's processes, also of those that have ended."""
    ticks = os.sysconf("SC_CLK_TCK")
    postmaster = (database.data / "postmaster.pid").read_text(encoding="utf-8").splitlines()[0]

    def times(process, fields):
        stat = pathlib.Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        return sum(int(stat[field]) for field in fields) / ticks, stat[1]

    # The numbers of the fields utime, stime, cutime and cstime, counted behind the name of the program.
    total, _ = times(postmaster, (11, 12, 13, 14))
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            own, parent = times(process, (11, 12))
        except OSError:
            continue
        if parent == postmaster:
            total += own
    return total


COUNTERS = """
    SELECT wal_bytes, wal_fpi, (SELECT xact_commit FROM pg_stat_database WHERE datname = 'ledger'),
      (SELECT blks_read FROM pg_stat_database WHERE datname = 'ledger') FROM pg_stat_wal
    """


def drive(database, options, rate, pruned):
    """Runs the load at a rate, and prints what it costs."""
    database.sql("SELECT pg_stat_statements_reset()", "ledger")
    before = [float(value) for value in database.sql(COUNTERS)[0]]
    processor = processor_seconds(database)
    output = subprocess.run(
        [options.build / "ledger-bench", "load", database.address("ledger"), str(options.shops), str(rate),
         str(options.seconds), str(pruned)], check=True, text=True, stdout=subprocess.PIPE).stdout
    # The connections have ended, and their processes count their work at their own end.
    time.sleep(2)
    processor = processor_seconds(database) - processor
    bytes_, images, commits, reads = (
        float(after) - value for after, value in zip(database.sql(COUNTERS)[0], before))
    print(f"### {rate} payments a second for {options.seconds} s\n")
    print("| call | calls | per second | p50, ms | p99, ms | longest, ms |\n|---|---|---|---|---|---|")
    payments = 0
    for line in output.splitlines():
        name, colon, figures = line.partition(": ")
        if not colon:
            print(f"| {line} | | | | | |")
            continue
        words = figures.split()
        value = dict(zip(words[::2], words[1::2]))
        if name == "accept":
            payments = int(value["count"])
        print(f"| {name} | {value['count']} | {value['rate']} | {value['p50_ms']} | {value['p99_ms']} | {value['max_ms']} |")
    if payments:
        print(f"\nEach of {payments} payments took {commits / payments:.1f} transactions, {bytes_ / payments / 1e3:.1f} kB of "
              f"WAL with {images / payments:.1f} images of pages, {1e3 * processor / payments:.1f} ms of the server's "
              f"processor time, and {reads / payments:.1f} pages that were not in its memory. Pruning and reading count.\n")
    rows = database.sql(
        f"""
        SELECT regexp_replace(left(query, 110), '\\s+', ' ', 'g'), calls, mean_exec_time, max_exec_time,
          (shared_blks_hit + shared_blks_read) / calls
        FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = 'ledger')
          AND (shared_blks_hit + shared_blks_read) / calls > {MANY_PAGES} AND query !~ '^(CREATE|ALTER|SELECT pg_)'
        ORDER BY 5 DESC LIMIT 20
        """, "ledger")
    if rows:
        print("| statement that reads many pages | calls | mean, ms | longest, ms | pages |\n|---|---|---|---|---|")
        for query, calls, mean, longest, pages in rows:
            print(f"| `{query.strip()}` | {calls} | {float(mean):.1f} | {float(longest):.1f} | {pages} |")
        print()
    else:
        print(f"No statement read more than {MANY_PAGES} pages in a call.\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="the folder of the built programs (ledger-bench)")
    parser.add_argument("--shops", type=int, default=10_000, help="the number of shops (default: %(default)s)")
    parser.add_argument("--payments", type=int, default=1_300_000,
                        help="the payments that are kept already; 1,300,000 take about 10 GB (default: %(default)s)")
    parser.add_argument("--days", type=float, help="the days since the oldest payment (default: 20 payments a day and shop)")
    parser.add_argument("--rates", default="2.31,7,100",
                        help="the payments per second, with commas between them (default: %(default)s)")
    parser.add_argument("--seconds", type=int, default=120, help="the time for each rate (default: %(default)s)")
    parser.add_argument("--folder", help="a folder on the disk to use; the temporary folder by default")
    options = parser.parse_args()
    options.days = options.days or options.payments / options.shops / 20
    free = shutil.disk_usage(options.folder or tempfile.gettempdir()).free
    if free < options.payments * BYTES + (10 << 30):
        print(f"The disk has room for {max(0, free - (10 << 30)) // BYTES} payments. Choose fewer with --payments, or "
              "another disk with --folder.", file=sys.stderr)
        return 64
    try:
        with server.running(
                options.folder, shared_preload_libraries="'pg_stat_statements'", max_wal_size="'2GB'") as database:
            database.sql("CREATE DATABASE ledger")
            subprocess.run([options.build / "ledger-bench", "prepare", database.address("ledger")], check=True)
            database.sql("CREATE EXTENSION pg_stat_statements", "ledger")
            fill(database, options)
            print(f"{options.payments} payments of {options.shops} shops in {options.days:.1f} days\n")
            print_sizes(database, options)
            for rate in options.rates.split(","):
                # What a service with a hundredth of a million shops removes in an hour.
                hour = max(1, options.payments // int(options.days * 24))
                moment = database.number(
                    f"SELECT finished_at FROM announcements WHERE finished_at IS NOT NULL ORDER BY finished_at OFFSET {hour}"
                    " LIMIT 1", "ledger")
                drive(database, options, float(rate), int(moment))
            print_sizes(database, options)
    except server.Missing as missing:
        print(f"{missing} The load cannot be simulated.", file=sys.stderr)
        return 69
    return 0


sys.exit(main())

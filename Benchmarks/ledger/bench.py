# SPDX-License-Identifier: Apache-2.0
"""Measures how many answers the ledger stores in PostgreSQL, beside pgbench with the same transaction, and how long a call
takes beside the ledger in SQLite. Prints the tables of docs/benchmarks.md.

All take turns in one run, on one server that synchronises the disk. Each turn begins with an empty ledger and a
checkpoint. In the first table, the same are: the tables and indexes, the rows that an answer stores and their sizes, the
locks, the number of rows in a transaction, and the connections. pgbench leaves out what is not SQL: it decides nothing,
encodes nothing and makes no texts. Its batches use the same 128 shops each time, and the ledger random ones.
"""

import argparse
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import server

# Texts of the sizes that `ledger-bench` stores: those of a payment that the service announces in zh-CN.
TEXTS = {
    "payload": "p" * 164,
    "report": "r" * 1480,
    "words": "w" * 71,
    "text": "支付宝到账一百二十八元五角一分，来自张三",
    "payer": "张三",
    "clip": "c" * 50,
}
# The connections that the ledger has for writes, and how many of them store answers at a time.
CONNECTIONS = 8
BATCHES = 2
# The most answers in one transaction of the ledger. Twice as many callers fill its batches.
ROWS = 128
FOLDER = pathlib.Path(__file__).parent


class Measurement:
    def __init__(self, build, database, seconds, work):
        (self.build, self.database, self.seconds, self.work) = (build, database, seconds, work)
        self.turns = 0
        database.sql("CREATE DATABASE empty")
        subprocess.run([self.build / "ledger-bench", "prepare", database.address("empty")], check=True)

    def fresh(self):
        """Returns an empty ledger."""
        self.turns += 1
        name = f"turn_{self.turns}"
        self.database.sql(f"CREATE DATABASE {name} TEMPLATE empty")
        self.database.sql("CHECKPOINT")
        return name

    def drop(self, name):
        self.database.sql(f"DROP DATABASE {name} WITH (FORCE)")

    def answers(self, place, tasks):
        """Returns the figures of `ledger-bench answers`."""
        output = subprocess.run(
            [self.build / "ledger-bench", "answers", place, str(tasks), str(self.seconds)], check=True, text=True,
            stdout=subprocess.PIPE).stdout
        words = output.split()
        return {words[i]: float(words[i + 1]) for i in range(1, len(words) - 1, 2)}

    def ledger(self, tasks):
        """Returns the figures of the ledger in PostgreSQL, with the mean number of answers in a transaction."""
        name = self.fresh()
        figures = self.answers(self.database.address(name), tasks)
        # The connections have ended, and their processes count their transactions at their own end.
        time.sleep(1)
        commits = self.database.number("SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()", name)
        figures["rows"] = figures["count"] / commits
        self.drop(name)
        return figures

    def sqlite(self, tasks):
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            return self.answers(folder, tasks)

    def one(self):
        name = self.fresh()
        rate = self.database.pgbench(name, FOLDER / "one.sql", CONNECTIONS, self.seconds, threads=2, **TEXTS)
        self.drop(name)
        return rate

    def batch(self):
        name = self.fresh()
        rate = self.database.pgbench(
            name, FOLDER / "batch.sql", BATCHES, self.seconds, threads=2, rows=ROWS, ready=0, **TEXTS)
        self.drop(name)
        return rate * ROWS


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="the folder of the built programs (ledger-bench)")
    parser.add_argument("--rounds", type=int, default=int(os.environ.get("BENCH_ROUNDS", "5")))
    parser.add_argument("--seconds", type=int, default=10, help="the time of each turn")
    parser.add_argument("--folder", help="a folder on the disk to measure; the temporary folder by default")
    options = parser.parse_args()
    (full, one, batch, filled) = ([], [], [], [])
    times = {(kind, tasks): [] for kind in ("SQLite", "PostgreSQL") for tasks in (1, 8, 64)}
    try:
        with server.running(options.folder) as database, tempfile.TemporaryDirectory(dir=options.folder) as work:
            measurement = Measurement(options.build, database, options.seconds, work)
            for number in range(options.rounds):
                print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
                figures = measurement.ledger(2 * ROWS)
                full.append(figures["rate"])
                filled.append(figures["rows"])
                one.append(measurement.one())
                batch.append(measurement.batch())
                for tasks in (1, 8, 64):
                    times["SQLite", tasks].append(measurement.sqlite(tasks))
                    times["PostgreSQL", tasks].append(measurement.ledger(tasks))
            version = database.sql("SHOW server_version")[0][0]
    except server.Missing as missing:
        print(f"{missing} The ledger on PostgreSQL is not measured.", file=sys.stderr)
        return 69

    median = statistics.median
    print(f"PostgreSQL {version}, {os.cpu_count()} cores of {platform.machine()}; medians of {options.rounds} rounds of "
          f"{options.seconds} s\n")
    print("| answers stored with their announcements, fsync on | per second | the ledger as a multiple of it |")
    print("|---|---|---|")
    print(f"| the ledger, {2 * ROWS} calls at a time ({median(filled):.0f} answers in a transaction) "
          f"| {median(full):.0f} | 1 |")
    for name, rates in ((f"`pgbench`, one by one, {CONNECTIONS} connections", one),
                        (f"`pgbench`, {ROWS} by hand in each transaction, {BATCHES} connections", batch)):
        ratio = median(ledger / rate for ledger, rate in zip(full, rates))
        print(f"| {name} | {median(rates):.0f} | {ratio:.2f} |")
    print("\n| calls at a time | SQLite: per second | p50, ms | p99, ms | PostgreSQL: per second | p50, ms | p99, ms "
          "| ratio of p50 | ratio of p99 |")
    print("|---|---|---|---|---|---|---|---|---|")
    for tasks in (1, 8, 64):
        found = {kind: {name: median(turn[name] for turn in times[kind, tasks]) for name in ("rate", "p50_ms", "p99_ms")}
                 for kind in ("SQLite", "PostgreSQL")}
        cells = [f"{found[kind]['rate']:.0f} | {found[kind]['p50_ms']:.2f} | {found[kind]['p99_ms']:.2f}" for kind in found]
        ratios = [f"{found['PostgreSQL'][name] / found['SQLite'][name]:.2f}" for name in ("p50_ms", "p99_ms")]
        print(f"| {tasks} | {' | '.join(cells + ratios)} |")
    print()
    return 0


sys.exit(main())

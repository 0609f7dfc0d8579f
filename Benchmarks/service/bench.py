# SPDX-License-Identifier: Apache-2.0
"""Compares `crier serve` with nginx, with a minimal route of its framework, and with the engine called in-process. The
measurements alternate within one run, and the results are printed as tables in Markdown."""

import argparse
import json
import os
import pathlib
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "service"))
sys.dont_write_bytecode = True

import inputs  # noqa: E402
import ledgers  # noqa: E402
from client import Connection, post  # noqa: E402
from harness import (  # noqa: E402
    MEBIBYTE,
    Options,
    Service,
    Unusable,
    end_on_signals,
    free_port,
    memory,
    percentile,
    progress,
    speakers,
    work_folder,
)

HERE = pathlib.Path(__file__).resolve().parent
HOT = {"id": "hot", "amount": "12.50", "currency": "CNY", "channel": "alipay", "locale": "zh-CN", "method": "speech"}
# The numbers of connections and threads of wrk, in this order.
LOADS = [(16, 1), (16, 2), (64, 1), (64, 2)]
MISS_CONNECTIONS = 8
# The numbers of announcements in the ledgers with which the start is measured. The ledgers have about 150 and 1,200 MB.
FILLED = (66_000, 530_000)
# The ledger keeps 30 days, so after day 40 it grows only because of unused space in its pages. It may grow by this
# factor.
LEDGER_GROWTH = 1.1
# The parts into which the growth of a service is divided.
GROWTH_PARTS = 10
# The disk space of a clip while the growth is measured, in bytes. A clip of bench-service has 190 kB on average.
CLIP_BYTES = 220_000
# A median after a year may be this many times that of the first day. On an idle machine the medians differed by 3 %;
# the limit leaves room for machines that do other things.
YEAR_RATIO = 1.5


class Beside:
    """A program to compare with, which ends together with the `with` block."""

    def __init__(self, command, port, log):
        self.port = port
        with open(log, "ab") as output:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        deadline = time.monotonic() + 20
        while True:
            try:
                with Connection(port, timeout=5) as connection:
                    connection.open()
                    return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    self.process.kill()
                    raise Unusable(f"{command[0]} did not start: {pathlib.Path(log).read_text()[-300:]}") from None
                time.sleep(0.01)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)


def nginx(folder, clip):
    """Starts nginx with two workers, sendfile and no access log. It serves only the clip, under the same path."""
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not os.access(program, os.X_OK):
        raise Unusable("nginx is missing: apt-get install nginx-light.")
    port = free_port()
    files = folder / "nginx" / "files" / "v1" / "clips"
    files.mkdir(parents=True)
    shutil.copy(clip, files)
    # The workers may run as another user, and must be able to reach the file.
    for part in (folder, folder / "nginx", folder / "nginx" / "files"):
        part.chmod(0o755)
    temporary = " ".join(
        f"{kind}_temp_path {folder}/nginx/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(f"""
        daemon off; worker_processes 2; pid {folder}/nginx/pid; error_log {folder}/nginx/errors;
        events {{ worker_connections 1024; }}
        http {{
          sendfile on; tcp_nopush on; access_log off; keepalive_requests 100000000; open_file_cache max=16; {temporary}
          types {{ audio/wav wav; }}
          server {{ listen 127.0.0.1:{port}; root {folder}/nginx/files; }}
        }}""")
    return Beside([program, "-p", str(folder), "-c", str(folder / "nginx.conf")], port, folder / "nginx.log")


def wrk(port, target, key, seconds, connections, threads, script=(), arguments=()):
    """Returns the requests per second. An error or a status other than 2xx ends the run, because the figure is invalid."""
    told = wrk_output(port, target, key, seconds, connections, threads, script, arguments)
    if "Non-2xx" in told or "Socket errors" in told:
        raise Unusable(f"wrk reported errors: {told[-400:]}")
    return float(re.search(r"Requests/sec:\s+([\d.]+)", told).group(1))


def wrk_output(port, target, key, seconds, connections, threads, script=(), arguments=()):
    command = ["wrk", "-d", f"{seconds}s", "-c", str(connections), "-t", str(threads), "--timeout", "30s"]
    command += ["-H", f"Authorization: Bearer {key}", *script, f"http://127.0.0.1:{port}{target}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60, check=True).stdout


def fields(text):
    """Parses the `name value` pairs that the programs in Benchmarks print."""
    words = text.split()
    return {name: float(value) for name, value in zip(words, words[1:]) if re.fullmatch(r"\d+(\.\d+)?(e-?\d+)?", value)}


def program(build, name, *arguments, text=None):
    ended = subprocess.run(
        [str(build / name), *arguments], input=text, capture_output=True, text=True, timeout=900, check=False
    )
    if ended.returncode != 0:
        raise Unusable(f"{name} ended with {ended.returncode}: {ended.stderr[-300:]}")
    return ended.stdout


def new_clips(service, seconds, first):
    """Announces new payments for some seconds, and returns how many clips were made and refused, and the seconds."""
    told = wrk_output(
        service.port,
        "/",
        service.key,
        seconds,
        MISS_CONNECTIONS,
        1,
        ("-s", str(HERE / "miss.lua")),
        ("--", service.key, str(first)),
    )
    made, refused, took = re.search(r"MADE (\d+) REFUSED (\d+) SECONDS ([\d.]+)", told).groups()
    return int(made), int(refused), float(took)


def checks(service):
    """Returns the milliseconds of each check of a ledger in the service's log."""
    text = service.log.read_text(errors="replace") if service.log.exists() else ""
    return re.findall(r"\bms=(\d+).*The ledger was checked", text)


def check_time(service, known):
    """Waits for the end of the service's check of its ledger, and returns the seconds that the check took.

    `known` is the number of checks in the log before the service was started.
    """
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        ended = checks(service)
        if len(ended) > known:
            return int(ended[-1]) / 1000
        time.sleep(0.05)
    raise Unusable("the service did not check its ledger within 300 s.")


class Bench:
    def __init__(self, arguments, folder):
        self.arguments = arguments
        self.folder = folder
        self.build = pathlib.Path(arguments.build).resolve()
        self.options = Options(str(self.build / "crier"), 1, 1, False)
        self.figures = {}
        # By the number of announcements: the size of the ledger, and the seconds that its check took beside the other
        # work.
        self.ledger_bytes = {}
        self.checks = {}

    def add(self, name, value):
        self.figures.setdefault(name, []).append(value)

    def median(self, name):
        return statistics.median(self.figures[name]) if name in self.figures else 0.0

    def run(self):
        with Service(self.options, self.folder / "home") as service:
            time.sleep(2)  # The start must be over, so that the figure is the idle memory.
            self.idle = (memory(service.pid), sum(map(memory, speakers(service.pid))), len(speakers(service.pid)))
            with service.connect() as connection:
                body = json.dumps(HOT).encode()
                answer = post(connection, body)
                if answer.status != 201:
                    raise Unusable(f"the first request got status {answer.status} {answer.code}.")
            report = answer.json()
            self.clip = report["clip"]
            (self.folder / "hit").write_bytes(body)
            (self.folder / "report").write_bytes(answer.body)
            self.hit_bytes = (len(body), len(answer.body))
            target = f"/v1/clips/{self.clip['name']}"
            with nginx(self.folder, self.file_of(service)) as other:
                for number in range(self.arguments.rounds):
                    progress(f"GET, round {number + 1} of {self.arguments.rounds}")
                    self.compare("get", number, target, service, other, (), ())
            if self.arguments.skip_bare:
                progress("the bare route is not measured")
            else:
                port = free_port()
                with Beside(
                    [str(self.build / "bare-service"), str(port), str(self.folder / "report")],
                    port,
                    self.folder / "bare.log",
                ) as other:
                    for number in range(self.arguments.rounds):
                        progress(f"POST that hits, round {number + 1} of {self.arguments.rounds}")
                        self.compare(
                            "hit",
                            number,
                            "/v1/announcements",
                            service,
                            other,
                            ("-s", str(HERE / "hit.lua")),
                            ("--", service.key, str(self.folder / "hit")),
                        )
            self.after_hits = memory(service.pid)
        self.misses()
        self.year()
        self.starts()
        self.growth()

    def file_of(self, service):
        return service.home / "containers" / "group.crier" / "Library" / "Sounds" / self.clip["name"]

    def compare(self, name, round_number, target, service, other, script, arguments):
        for connections, threads in LOADS:
            seconds = self.arguments.seconds
            pair = [("ours", service), ("other", other)]
            # The order alternates, because a machine may slow down under load.
            for who, server in pair if round_number % 2 == 0 else pair[::-1]:
                rate = wrk(server.port, target, service.key, seconds, connections, threads, script, arguments)
                self.add(f"{name} {who} {connections} {threads}", rate)

    def misses(self):
        count = self.arguments.clips
        texts = None
        for number in range(self.arguments.rounds):
            progress(f"POST that misses, round {number + 1} of {self.arguments.rounds}")
            if not self.arguments.skip_engine:
                if texts is None:
                    texts = "".join(
                        sorted(
                            program(self.build, "crier-bench", "texts", "--count", str(count)).splitlines(
                                keepends=True
                            ),
                            key=lambda line: line.split("\t")[0],
                        )
                    )
                limit = fields(program(self.build, "in-process-limit", "1", text=texts))
                self.add("engine p50", limit["p50_ms"])
                self.add("engine p99", limit["p99_ms"])
                self.add("engine rate", count / limit["seconds"] * os.cpu_count())
                inside = fields(
                    program(
                        self.build, "crier-bench", "throughput", "--count", str(count), str(self.folder / f"t{number}")
                    )
                )
                self.add("inside rate", inside["rate"])
            # Each round has a new home, because otherwise clips from an earlier round would be reused.
            with Service(self.options, self.folder / f"miss-{number}") as service:
                # The measurement must not wait for earlier writes and removals.
                os.sync()
                with service.connect() as connection:
                    for index in range(10):
                        post(connection, inputs.payment(90_000 + index, f"warm-{index}", method="speech"))
                    times = []
                    for index in range(count):
                        body = json.dumps(inputs.payment(index, f"one-{index}", method="speech")).encode()
                        start = time.perf_counter()
                        answer = post(connection, body)
                        times.append((time.perf_counter() - start) * 1000)
                        if answer.status != 201:
                            raise Unusable(f"a new payment got status {answer.status} {answer.code}.")
                self.add("miss p50", percentile(times, 0.5))
                self.add("miss p99", percentile(times, 0.99))
                made, refused, seconds = new_clips(service, self.arguments.seconds * 2, count + 5)
                self.add("miss rate", made / seconds)
                self.add("miss refused", refused)
                self.add("loaded service", memory(service.pid))
                self.add("loaded speakers", sum(map(memory, speakers(service.pid))))
            shutil.rmtree(self.folder / f"miss-{number}", ignore_errors=True)
            shutil.rmtree(self.folder / f"t{number}", ignore_errors=True)

    def year(self):
        """Compares a new home with one that a year of announcements filled: the same calls, one at a time, in turns."""
        if not self.arguments.year:
            return
        progress("a year of announcements")
        if self.arguments.year_home:
            old = pathlib.Path(self.arguments.year_home)
            told = old.with_suffix(".txt").read_text()
        else:
            old = self.folder / "year"
            told = subprocess.run(
                [str(self.build / "year-of-announcements"), str(old), str(self.arguments.year)],
                stdout=subprocess.PIPE,
                text=True,
                check=True,
            ).stdout
        self.year_sizes = sizes = fields(told)
        if sizes["missing"] or sizes["folder_most"] > sizes["folder_budget"]:
            raise Unusable(f"the clips of the year did not stay within their budget: {told}")
        if sizes["ledger_end"] > sizes["ledger_day_40"] * LEDGER_GROWTH:
            raise Unusable(f"the ledger grew after day 40, when it was as full as it may get: {told}")
        services = {
            "first day": Service(self.options, self.folder / "first-day"),
            "after a year": Service(self.options, old),
        }
        next_number = dict.fromkeys(services, 0)
        for round_number in range(self.arguments.rounds):
            progress(f"first day and a year later, round {round_number + 1} of {self.arguments.rounds}")
            for who in list(services) if round_number % 2 == 0 else list(services)[::-1]:
                first = next_number[who]
                next_number[who] += self.arguments.clips
                self.calls(services[who], who, range(first, first + self.arguments.clips))
        for text, before, after in self.year_figures():
            if after["p50"] > before["p50"] * YEAR_RATIO:
                raise Unusable(
                    f"{text}: the median is {before['p50']:.2f} ms on the first day and {after['p50']:.2f} ms after a "
                    f"year, which is more than {YEAR_RATIO} times as much."
                )

    def calls(self, service, who, numbers):
        """Measures new clips, the same requests again, and, after a restart, clips that are only in the library.

        A restart empties the memory of the service, but not the file cache of the system.
        """
        names = []

        def post_payment(identifier, status, cached):
            def call(connection, number):
                body = json.dumps(inputs.payment(number, identifier(number), method="speech")).encode()
                start = time.perf_counter()
                answer = post(connection, body)
                took = (time.perf_counter() - start) * 1000
                if answer.status != status or answer.json()["cached"] != cached:
                    raise Unusable(f"a POST got status {answer.status}: {answer.body[:300]!r}.")
                if status == 201:
                    names.append(answer.json()["clip"]["name"])
                return took

            return call

        def get_clip(connection, number):
            start = time.perf_counter()
            answer = connection.request("GET", f"/v1/clips/{names[number - numbers.start]}")
            took = (time.perf_counter() - start) * 1000
            if answer.status != 200:
                raise Unusable(f"GET of a clip got status {answer.status} {answer.code}.")
            return took

        def measure(kind, call, numbers):
            with service.connect() as connection:
                times = [call(connection, number) for number in numbers]
            self.add(f"{who} {kind} p50", percentile(times, 0.5))
            self.add(f"{who} {kind} p99", percentile(times, 0.99))

        known = len(checks(service))
        with service:
            check_time(service, known)
            time.sleep(2)  # The work of the start must be over.
            os.sync()
            measure("miss", post_payment(lambda number: f"new-{number}", 201, False), numbers)
            measure("again", post_payment(lambda number: f"new-{number}", 200, False), numbers)
        known = len(checks(service))
        with service:
            check_time(service, known)
            time.sleep(2)
            os.sync()
            half = len(numbers) // 2
            # After a request for a clip, the clip is in memory, so each clip is requested in one way only.
            measure("get", get_clip, numbers[:half])
            measure("hit", post_payment(lambda number: f"same-words-{number}", 201, True), numbers[half:])

    def year_figures(self):
        """Yields a text for each kind of call, with its figures on the first day and after a year, in ms."""
        for kind, text in (
            ("miss", "POST of a new announcement whose clip is new"),
            ("hit", "POST of a new announcement whose clip is in the library, and not in memory"),
            ("again", "the same POST again"),
            ("get", "GET of a clip that is not in memory"),
        ):
            yield (
                text,
                *(
                    {share: self.median(f"{who} {kind} {share}") for share in ("p50", "p99")}
                    for who in ("first day", "after a year")
                ),
            )

    def year_rows(self):
        sizes = self.year_sizes
        yield from (
            "",
            f"A year of {self.arguments.year} announcements a day: {sizes['announcements']:.0f} announcements, of which "
            f"the ledger keeps 30 days: {sizes['ledger_day_40'] / MEBIBYTE:.1f} MiB on day 40 and "
            f"{sizes['ledger_end'] / MEBIBYTE:.1f} MiB at the end; {sizes['clips']:.0f} clips are kept, and their folder "
            f"took at most {sizes['folder_most'] / sizes['folder_budget']:.3f} of its budget",
            "",
            "| one call at a time | first day, p50 and p99, ms | after a year, p50 and p99, ms | ratio of p50 | ratio of p99 |",
            "|---|---|---|---|---|",
        )
        for text, before, after in self.year_figures():
            yield (
                f"| {text} | {before['p50']:.2f}, {before['p99']:.2f} | {after['p50']:.2f}, {after['p99']:.2f} | "
                f"{after['p50'] / before['p50']:.2f} | {after['p99'] / before['p99']:.2f} |"
            )

    def starts(self):
        progress("start-up")
        for number in range(self.arguments.starts):
            home = self.folder / f"start-{number}"
            for kind in ("cold", "warm"):
                self.start(kind, home)
            shutil.rmtree(home, ignore_errors=True)
        if self.arguments.fill:
            for count in FILLED:
                self.filled_starts(count)

    def growth(self):
        """Announces many new payments, one after another in one home, and keeps the rate and the memory of each part."""
        wanted = self.arguments.growth
        if not wanted:
            return
        free = shutil.disk_usage(self.folder).free
        if free < wanted * CLIP_BYTES:
            raise Unusable(
                f"{wanted} clips need {wanted * CLIP_BYTES / 1e9:.0f} GB, but only {free / 1e9:.0f} GB are free; choose "
                "fewer with --growth."
            )
        self.growth_parts = []
        with Service(self.options, self.folder / "growth") as service:
            done = 0
            for part in range(1, GROWTH_PARTS + 1):
                progress(f"growth, part {part} of {GROWTH_PARTS}")
                made, took = 0, 0.0
                # wrk runs for a given time, and not for a given number of requests.
                while done < wanted * part / GROWTH_PARTS:
                    more, refused, seconds = new_clips(service, 5, done)
                    if refused:
                        raise Unusable(f"{refused} new payments were refused.")
                    # Requests that wrk cut off at the end may have been accepted, so their numbers are not used again.
                    done += more + MISS_CONNECTIONS
                    made += more
                    took += seconds
                if made:
                    self.growth_parts.append((done, made / took, memory(service.pid)))

    def growth_rows(self):
        yield "| new clips so far | clips per second | resident memory of the service, MiB |"
        yield "|---|---|---|"
        for done, rate, bytes_in_memory in self.growth_parts:
            yield f"| {done:,} | {rate:.0f} | {bytes_in_memory / MEBIBYTE:.0f} |"

    def filled_starts(self, count):
        """Measures the start with a ledger of so many announcements, with its pages in memory and only on the disk."""
        progress(f"start-up with {count} announcements")
        home = self.folder / f"filled-{count}"
        with Service(self.options, home) as service:
            service.terminate(20)
        ledger = home / "ledger.sqlite"
        self.ledger_bytes[count] = ledgers.fill(ledger, count, round(time.time() * 1000))
        os.sync()
        for _ in range(self.arguments.starts):
            self.start(f"filled {count}", home)
            with open(ledger, "rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            self.start(f"uncached {count}", home)
        service = Service(self.options, home)
        known = len(checks(service))
        with service:
            self.checks[count] = check_time(service, known)
        shutil.rmtree(home, ignore_errors=True)

    def start(self, kind, home):
        start = time.monotonic()
        service = Service(self.options, home).spawn()
        try:
            service.wait_until_ready()
            self.add(f"start {kind}", (time.monotonic() - start) * 1000)
        finally:
            if service.is_running:
                service.terminate(20)
            service.kill()

    def tables(self):
        processor = next(
            (line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), ""
        )
        version = subprocess.run(
            [shutil.which("nginx") or "/usr/sbin/nginx", "-v"], capture_output=True, text=True
        ).stderr.strip()
        lines = [
            f"{processor}, {os.cpu_count()} cores, kernel {platform.release()}, {version.removeprefix('nginx version: ')}; medians of {self.arguments.rounds} alternating rounds, {self.arguments.seconds} s each",
            "",
        ]
        lines += [
            f"`wrk -c N -t M`, a clip of {self.clip['bytes']} bytes; `nginx` with 2 workers, sendfile on, nothing logged",
            "",
            "| GET of a hot clip | `crier serve` | nginx | ratio |",
            "|---|---|---|---|",
            *self.rows("get"),
            "",
        ]
        if not self.arguments.skip_bare:
            lines += [
                f"The same request repeated: {self.hit_bytes[0]} bytes in, 200 with {self.hit_bytes[1]} bytes out; the bare route "
                "reads and returns the same numbers of bytes",
                "",
                "| repeated POST | `crier serve` | bare route | ratio |",
                "|---|---|---|---|",
                *self.rows("hit"),
                "",
            ]
        p50, p99 = self.median("miss p50"), self.median("miss p99")
        lines += [
            f"{self.arguments.clips} payments, alternating between five locales, each new and spoken (`method: speech`)",
            "",
            "| one new clip at a time | p50, ms | p99, ms | multiple of the in-process p50 |",
            "|---|---|---|---|",
        ]
        if not self.arguments.skip_engine:
            lines += [
                f"| libespeak-ng in-process (`in-process-limit`, samples only) | {self.median('engine p50'):.2f} | {self.median('engine p99'):.2f} | 1 |"
            ]
        ratio = f"{p50 / self.median('engine p50'):.2f}" if self.median("engine p50") else ""
        lines += [
            f"| POST of a new announcement | {p50:.2f} | {p99:.2f} | {ratio} |",
            "",
            f"| on {os.cpu_count()} cores | clips per second |",
            "|---|---|",
            f"| POST of new announcements, {MISS_CONNECTIONS} connections | {self.median('miss rate'):.0f} |",
        ]
        if not self.arguments.skip_engine:
            lines += [
                f"| `crier-bench throughput`, payload to published file | {self.median('inside rate'):.0f} |",
                f"| libespeak-ng in one process and thread, times {os.cpu_count()} cores (samples only) | {self.median('engine rate'):.0f} |",
            ]
        if self.median("miss refused"):
            lines += ["", f"Of these, {self.median('miss refused'):.0f} were refused (503) in a round."]
        if self.arguments.year:
            lines += self.year_rows()
        idle, idle_speakers, count = self.idle
        lines += ["", *self.start_rows()]
        loaded, loaded_speakers = self.median("loaded service"), self.median("loaded speakers")
        lines += [
            "",
            "| resident memory, MiB | service | speakers |",
            "|---|---|---|",
            f"| idle ({count} speakers) | {idle / MEBIBYTE:.1f} | {idle_speakers / MEBIBYTE:.1f} |",
            f"| after GETs and repeated POSTs | {self.after_hits / MEBIBYTE:.1f} | |",
            f"| after new announcements | {loaded / MEBIBYTE:.1f} | {loaded_speakers / MEBIBYTE:.1f} |",
        ]
        if self.arguments.growth:
            lines += ["", *self.growth_rows()]
        return "\n".join(lines)

    def start_rows(self):
        kinds = [("cold", "a new home", ""), ("warm", "an existing home", "")]
        for count, size in self.ledger_bytes.items():
            text = f"a ledger of {size / MEBIBYTE:.0f} MiB with {count:,} announcements"
            kinds.append((f"filled {count}", text, f"{self.checks[count]:.1f}"))
            kinds.append((f"uncached {count}", f"{text}, not in the system's file cache", ""))
        yield "| from start to the first 200 of `/readyz` | median, ms | maximum, ms | the check in the background, s |"
        yield "|---|---|---|---|"
        for kind, text, check in kinds:
            yield f"| {text} | {self.median(f'start {kind}'):.0f} | {max(self.figures[f'start {kind}']):.0f} | {check} |"

    def rows(self, name):
        for connections, threads in LOADS:
            ours, other = (self.median(f"{name} {who} {connections} {threads}") for who in ("ours", "other"))
            yield f"| `-c {connections} -t {threads}` | {ours:.0f} | {other:.0f} | {ours / other:.2f} |"


def main():
    parser = argparse.ArgumentParser(prog="bench-service", description=__doc__)
    parser.add_argument(
        "build", nargs="?", default=str(ROOT / ".build" / "release"), help="the folder of the built programs"
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="the seconds for each figure of wrk")
    parser.add_argument("--clips", type=int, default=500, help="the number of new clips per round, one at a time")
    parser.add_argument("--starts", type=int, default=10)
    parser.add_argument(
        "--skip-filled", dest="fill", action="store_false", help="do not measure starts with large ledgers"
    )
    parser.add_argument(
        "--year", type=int, default=400, help="the announcements of each day of a simulated year; 0 skips the year"
    )
    parser.add_argument(
        "--year-home",
        help="a home that year-of-announcements filled before, because that takes hours at 20,000 a day; its output is "
        "expected in a file beside it with the suffix .txt. The home is changed",
    )
    parser.add_argument(
        "--growth",
        type=int,
        default=82_000,
        help="the number of new clips in one home, to see whether the service slows down; 0 skips this",
    )
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--only-starts", action="store_true", help="measure only the starts")
    only.add_argument("--only-growth", action="store_true", help="measure only the growth")
    parser.add_argument("--skip-bare", action="store_true", help="do not measure the bare route")
    parser.add_argument("--skip-engine", action="store_true", help="do not measure the engine in-process")
    arguments = parser.parse_args()
    end_on_signals()
    if arguments.only_starts or arguments.only_growth:
        with work_folder(Options("", 1, 1, False)) as folder:
            bench = Bench(arguments, folder)
            if arguments.only_starts:
                bench.starts()
                print("\n".join(bench.start_rows()))
            else:
                bench.growth()
                print("\n".join(bench.growth_rows()))
        return
    if shutil.which("wrk") is None:
        raise Unusable("wrk is missing: apt-get install wrk.")
    with work_folder(Options("", 1, 1, False)) as folder:
        bench = Bench(arguments, folder)
        bench.run()
        print(bench.tables())


if __name__ == "__main__":
    try:
        main()
    except Unusable as error:
        progress(f"bench-service: {error}")
        sys.exit(69)

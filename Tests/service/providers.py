# SPDX-License-Identifier: Apache-2.0
"""Sends the webhooks of eleven payment providers, genuine and changed ones.

A payment comes by all its events, in all orders, 50 at once, again and again for a day, and after ends of the service
in order and by kill -9. It must be announced once, with its sum. Then 100,000 changed requests come to each endpoint.
The service must answer each without an internal error, and announce nothing of them.

The day passes quickly: shifted_clock.c, which is loaded before the C library, shifts the service's clock.
"""

import collections
import concurrent.futures
import itertools
import pathlib
import random
import sqlite3
import struct
import subprocess
import threading
import time

import provider_mutations
from client import Lost
from harness import UNLIMITED, Bars, Service, Unusable, percentile, progress, work_folder
from provider_requests import major, write_settings
from provider_senders import endpoints

# The orders of events that are sent to each endpoint: those of a payment, and those of two refunds.
ORDERS = 120
AT_ONCE = 50
# The hours after which everything is sent again. After each of them the service ends, every other time by kill -9.
HOURS = (1, 2, 3, 5, 8, 12, 18, 24)
# The new payments to each endpoint between which the service ends.
NEW_ONES = 8
PATIENCE = 120


class Stage:
    """The service, the events that were sent, and the announcements that they must have led to."""

    def __init__(self, service, shift, bars):
        self.service, self.shift, self.bars = service, shift, bars
        self.lock = threading.Lock()
        # The kind and the sum of each announcement, by its id.
        self.expected = {}
        # The announcements that may have been made, because requests that came at once have no order.
        self.possible = set()
        self.sent = []
        self.faults = []
        self.seconds = []
        self.hour = 0
        self.numbers = itertools.count(1)

    def set(self, hour):
        """Changes the bytes of the file, and not the file: the service has it mapped."""
        self.hour = hour
        with open(self.shift, "r+b") as shift:
            shift.write(struct.pack("q", hour * 3_600))

    @property
    def now(self):
        return int(time.time()) + self.hour * 3_600

    def new(self):
        """Returns an id that no other payment has, and a sum that the payments before and after it do not have.

        There are few sums, because most of the time would otherwise pass with the making of clips.
        """
        number = next(self.numbers)
        return f"{number:06}", 1_201 + number * 7 % 12

    def expect(self, endpoint, effect):
        with self.lock:
            sum = (effect.kind, major(effect.minor), endpoint.currency)
            self.expected[f"{endpoint.id}:{effect.id}"] = sum

    def send(self, connection, endpoint, event):
        """Sends an event. Returns whether it was answered with success."""
        request = endpoint.request(event, self.now)
        lines = "".join(f"{name}: {value}\r\n" for name, value in request.headers)
        start = time.monotonic()
        try:
            answer = connection.request("POST", request.target, request.body, lines)
        except (Lost, OSError):
            connection.close()
            return False
        with self.lock:
            self.seconds.append(time.monotonic() - start)
            self.sent.append((endpoint, event))
            if answer.status not in (200, 204):
                self.faults.append(f"{endpoint.id}: {answer.status} {answer.body[:80]!r}")
        return True


def in_threads(work, items):
    """Runs the work for all items at once."""
    if items:
        with concurrent.futures.ThreadPoolExecutor(len(items)) as threads:
            list(threads.map(work, items))


def orders(events, count, chance):
    """Returns the orders of events, or as many of them as are wanted."""
    found = list(itertools.permutations(events))
    return found if len(found) <= count else chance.sample(found, count)


def send_in_orders(stage, endpoint, count, seed):
    """Sends new payments and refunds, each with its events in another order."""
    chance = random.Random(seed)
    shapes = orders(range(len(events_of_payment(endpoint, "x", 1, 0))), count, chance)
    refunds = orders(range(len(events_of_refunds(stage, endpoint, False))), count, chance)
    with stage.service.connect(key=None) as connection:
        for order in shapes:
            events = events_of_payment(endpoint, *stage.new(), stage.now)
            has_succeeded = False
            for index in order:
                effect = events[index].effect
                stage.send(connection, endpoint, events[index])
                if effect is None or (effect.kind == "failed" and has_succeeded):
                    continue
                has_succeeded = has_succeeded or effect.kind == "received"
                stage.expect(endpoint, effect)
        for order in refunds:
            events = events_of_refunds(stage, endpoint)
            for index in order:
                stage.send(connection, endpoint, events[index])
                if events[index].effect:
                    stage.expect(endpoint, events[index].effect)


def events_of_payment(endpoint, id, minor, at):
    failed = endpoint.failed(id, minor, at)
    return endpoint.bought(id, minor, at) + ([failed] if failed else [])


def events_of_refunds(stage, endpoint, are_new=True):
    """Returns the events of two refunds of one payment, with different sums."""
    if not are_new:
        return endpoint.refunded("x", 1, 0) + endpoint.refunded("y", 2, 0)
    (first, minor), (second, _) = stage.new(), stage.new()
    return endpoint.refunded(first, minor, stage.now) + endpoint.refunded(second, minor + 13, stage.now)


def send_at_once(stage, endpoint):
    """Sends the events of one new payment and of two new refunds, 50 at once."""
    for events in (events_of_payment(endpoint, *stage.new(), stage.now), events_of_refunds(stage, endpoint)):
        if not events:
            continue
        barrier = threading.Barrier(AT_ONCE)

        def send(event, barrier=barrier):
            with stage.service.connect(key=None) as connection:
                connection.open()
                barrier.wait(60)
                stage.send(connection, endpoint, event)

        in_threads(send, [events[index % len(events)] for index in range(AT_ONCE)])
        for effect in {event.effect for event in events if event.effect}:
            stage.expect(endpoint, effect)
            if effect.kind == "failed":
                stage.possible.add(f"{endpoint.id}:{effect.id}")


def send_again(stage, known, kills, new_ones, chance):
    """Sends all events again, each signed anew, and new payments between them. Meanwhile, the service may be killed.

    As a provider would, it sends again what was not answered.
    """
    again = collections.defaultdict(list)
    for endpoint, event in dict.fromkeys(stage.sent):
        again[endpoint].append((event, False))
    for endpoint in known:
        for _ in range(new_ones):
            again[endpoint] += [(event, True) for event in endpoint.bought(*stage.new(), stage.now)]
        chance.shuffle(again[endpoint])
    unanswered = collections.defaultdict(list)

    def send(endpoint):
        with stage.service.connect(key=None, timeout=20) as connection:
            for event, is_new in again[endpoint]:
                if not stage.send(connection, endpoint, event):
                    unanswered[endpoint].append((event, is_new))
                elif is_new and event.effect:
                    stage.expect(endpoint, event.effect)

    before = len(stage.sent)
    sender = threading.Thread(target=in_threads, args=(send, known), daemon=True)
    sender.start()
    if kills:
        # The moment is random. The number of answers shows when it has come.
        share = chance.uniform(0.1, 0.9) * sum(len(events) for events in again.values())
        while sender.is_alive() and len(stage.sent) - before < share:
            time.sleep(0.002)
        stage.service.kill()
    sender.join(600)
    if not kills:
        status, _ = stage.service.terminate()
        stage.bars.require(status == 0, f"the service ended with status {status}")
    stage.service.start()
    missing = sum(len(events) for events in unanswered.values())
    again = unanswered
    unanswered = collections.defaultdict(list)
    in_threads(send, list(again))
    stage.bars.require(not unanswered, "events were not answered after the restart")
    return missing


def await_announcements(service, bars, expected, possible=frozenset()):
    """Waits until nothing waits, and compares what the ledger and the service tell with what is expected."""
    ledger = f"file:{service.home / 'ledger.sqlite'}?mode=ro"
    deadline = time.monotonic() + PATIENCE
    waiting = None
    with sqlite3.connect(ledger, uri=True) as database:
        while (now := database.execute("SELECT count(*) FROM provider_payments WHERE state = 'waiting'").fetchone()[0]):
            if now != waiting:
                waiting, deadline = now, time.monotonic() + PATIENCE
            if time.monotonic() > deadline:
                bars.require(False, f"{waiting} payments are still not announced")
                return 0
            time.sleep(0.05)
        query = "SELECT endpoint, id, kind, amount, currency FROM provider_payments WHERE state = 'announced'"
        rows = database.execute(query).fetchall()
    found = {}
    faults = []
    for endpoint, id, kind, amount, currency in rows:
        # Midtrans' rows have the id of the transaction, and its announcements that of the order.
        name = f"{endpoint}:{id.removeprefix('t-')}"
        name += "" if kind == "received" or name.endswith(f"/{kind}") else f"/{kind}"
        if name in found:
            faults.append(f"{name} is there twice")
        found[name] = (kind, amount, currency)
    shown = all_announcements(service)
    faults += [f"{name} was not announced" for name in expected if name not in found and name not in possible]
    faults += [f"{name} was announced" for name in found if name not in expected]
    for name, (kind, amount, currency) in found.items():
        told = shown.pop(name, {})
        sums = [(amount, currency), (told.get("amount", {}).get("value"), told.get("amount", {}).get("currency"))]
        if name in expected and any(sum != expected[name][1:] for sum in sums):
            faults.append(f"{name} has the sums {sums} instead of {expected[name]}")
        if told.get("kind") != kind or not told.get("text"):
            faults.append(f"{name} is shown as {told.get('kind')}, {told.get('text')!r}")
    faults += [f"{name} is shown, and was not expected" for name in shown]
    bars.nothing_in(faults, "announcements")
    return len(found)


def all_announcements(service):
    """Returns all announcements that the service shows, by id."""
    found, before = {}, ""
    with service.connect() as connection:
        while before is not None:
            answer = connection.request("GET", f"/v1/announcements?limit=200{before and '&before='}{before}")
            if answer.status != 200:
                raise Unusable(f"the list of announcements: {answer.status} {answer.code}")
            page = answer.json()
            found |= {announcement["id"]: announcement for announcement in page["announcements"]}
            before = page["next"]
    return found


def announce_once(options, folder, bars):
    """Sends payments and refunds in every way in which providers send them. Returns the figures."""
    library, shift = folder / "shifted_clock.so", folder / "shift"
    source = pathlib.Path(__file__).with_name("shifted_clock.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source], check=True)
    shift.write_bytes(struct.pack("q", 0))
    known = endpoints()
    home = folder / "home"
    write_settings(home, [endpoint.full_settings() for endpoint in known])
    environment = UNLIMITED | {"LD_PRELOAD": str(library), "SHIFTED_CLOCK": str(shift)}
    chance = random.Random(options.seed)
    count, hours = options.scaled(ORDERS, 2), HOURS[-options.scaled(len(HOURS), 2) :]
    figures = {}
    with Service(options, home, environment=environment) as service:
        stage = Stage(service, shift, bars)
        in_threads(lambda endpoint: send_in_orders(stage, endpoint, count, f"{options.seed} {endpoint.id}"), known)
        progress(f"providers: {len(stage.sent)} events in {count} orders at most")
        for endpoint in known:
            send_at_once(stage, endpoint)
        figures["events"] = len(stage.sent)
        figures["announced"] = await_announcements(service, bars, stage.expected, stage.possible)
        unanswered = 0
        for number, hour in enumerate(hours):
            stage.set(hour)
            unanswered += send_again(stage, known, number % 2 == 0, options.scaled(NEW_ONES), chance)
            announced = await_announcements(service, bars, stage.expected, stage.possible)
            progress(f"providers: {hour} h later, {len(stage.sent)} events, {announced} announcements")
        bars.nothing_in(stage.faults, "genuine events that were refused")
        figures |= {
            "events_with_repetitions": len(stage.sent),
            "announced_at_last": announced,
            "hours": list(hours),
            "ends": len(hours),
            "unanswered_at_kills": unanswered,
            "answer_p50_ms": round(percentile(stage.seconds, 0.5) * 1_000, 1),
            "answer_p99_ms": round(percentile(stage.seconds, 0.99) * 1_000, 1),
        }
    return figures


def run(options):
    bars = Bars()
    with work_folder(options) as folder:
        figures = announce_once(options, folder, bars)
    with work_folder(options) as folder:
        mutated = provider_mutations.send_mutated(options, folder, bars, await_announcements)
    bars.figures = {"genuine": figures, "mutated": mutated}
    return bars

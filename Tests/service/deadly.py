# SPDX-License-Identifier: Apache-2.0
"""Lets work of each kind end the service by itself, beside others of its kind, while the service is started again.

The bar: each deadly work ends the service only a few times and is then set aside. The service stays up, everything else
is delivered, and nothing is lost. Decision 41 has the rule.
"""

import json
import pathlib
import signal
import threading
import time

from deliveries import PATIENCE, Site, announce, entry, get, metric, persist, register, register_device, send_batch
from harness import Unusable, progress

OTHERS = 30
# The time for which the service must stay up afterwards, in seconds.
STAYS_UP = 10
# About 20 s of speech, so that making the clip takes long enough to be seen.
LONG_TEXT = "The shop on the corner of the market closes at nine in the evening. " * 6


class Work:
    """Deadly work of one kind, and others of its kind."""

    # The number of deadly pieces of work, and the largest number of ends that one of them causes.
    count, most = 1, 2
    # The kind of the work in the metrics.
    kind = "announcement"

    def __init__(self, site, others):
        self.site = site
        self.service = site.service
        self.deadly = [f"deadly-{number}" for number in range(self.count)]
        self.others = [f"other-{number}" for number in range(others)]
        site.trap.deadly = {self.key(identifier) for identifier in self.deadly}

    def key(self, identifier):
        """Returns what the trap calls a deadly work."""
        return identifier

    def prepare(self):
        """Does what must be there before any work."""

    def send(self, identifier):
        """Sends work. The service may end meanwhile."""
        raise NotImplementedError

    def send_all(self):
        for identifier in self.deadly + self.others:
            persist(lambda identifier=identifier: self.send(identifier))

    def look(self):
        """Whether deadly work has begun since the last look. Receivers kill by themselves."""
        return False

    def has_killed(self):
        """Does what must be done after a look has killed the service."""

    def missing(self, identifiers):
        """Returns which of these have not arrived."""
        raise NotImplementedError

    def is_set_aside(self):
        """Whether the deadly works have ended the service as often as they may."""
        return True

    def is_kept(self):
        """Whether the deadly works wait, and are not lost."""
        raise NotImplementedError


class Messages(Work):
    """The receiver of webhooks kills the service before it answers."""

    count = 3
    kind = "webhook"

    def key(self, identifier):
        return identifier, "announcement.rendered"

    def prepare(self):
        register(self.service, self.site.receiver.url)

    def send(self, identifier):
        announce(self.service, identifier, deliver=["clip", "play"])

    def missing(self, identifiers):
        kinds = ("announcement.rendered", "announcement.played")
        wanted = [(identifier, kind) for identifier in identifiers for kind in kinds]
        return [key for key in wanted if not self.site.receiver.arrived.has(key)]

    def is_kept(self):
        told = get(self.service, "/v1/webhook-endpoints") or {"webhook_endpoints": []}
        return sum(one["messages"]["waiting"] for one in told["webhook_endpoints"]) == self.count


class Pushes(Work):
    """The stand-in for APNs kills the service before it answers. Each push goes to another device."""

    kind = "push"

    def prepare(self):
        for number, identifier in enumerate([*self.deadly, *self.others, "later"], 1):
            register_device(self.service, identifier, number)

    def send(self, identifier):
        announce(self.service, identifier, deliver=["push"], device=identifier)

    def missing(self, identifiers):
        return [identifier for identifier in identifiers if not self.site.pushes.arrived.has(identifier)]

    def is_kept(self):
        told = get(self.service, f"/v1/announcements/{self.deadly[0]}")
        return told is not None and told["delivery"]["push"][0]["state"] in ("waiting", "sending")


class Batches(Work):
    """The service is killed whenever the batch runs and its first clip is made."""

    kind = "batch"
    # The others have one row each. The deadly one is not finished when it is seen to run.
    rows = 300

    def __init__(self, site, others):
        super().__init__(site, others)
        self.batches = {}
        self.amount = 1_000_000

    def send(self, identifier):
        rows = self.rows if identifier in self.deadly else 1
        self.batches[identifier] = send_batch(self.service, identifier, self.amount, rows)
        self.amount += rows

    def status(self, identifier):
        return get(self.service, f"/v1/batches/{self.batches.get(identifier)}") or {}

    def look(self):
        status = self.status(self.deadly[0])
        return status.get("state") == "running" and status["done"] > 0

    def missing(self, identifiers):
        found = get(self.service, "/v1/batches?limit=200") or {"batches": []}
        done = {one["id"] for one in found["batches"] if (one["state"], one["done"]) == ("done", 1)}
        return [identifier for identifier in identifiers if self.batches[identifier] not in done]

    def is_kept(self):
        return self.status(self.deadly[0]).get("state") == "running"


class Sounds(Work):
    """The service is killed whenever the sound begins.

    The first end may come before the ledger says that the sound has begun, and then does not count. After two ends, the
    announcement waits only until the others were heard, and ends the service once more.
    """

    most = 4

    def __init__(self, site, others):
        super().__init__(site, others)
        self.numbers = {}
        self.read = 0

    def number(self, identifier):
        """Returns the player's number of an announcement, by which the log calls it, or None if it is not known yet."""
        if identifier not in self.numbers and (found := entry(self.service, identifier)):
            self.numbers[identifier] = str(found[0])
        return self.numbers.get(identifier)

    def send(self, identifier):
        return announce(self.service, identifier, deliver=["clip", "play"])

    def send_all(self):
        # When the deadly announcement comes, the sounds of the first announcements are ready, and its own sound is not.
        first = max(5, len(self.others) // 3)
        for identifier in self.others[:first] + self.deadly + self.others[first:]:
            persist(lambda identifier=identifier: self.send(identifier))

    def look(self):
        number = self.number(self.deadly[0])
        if number is None or not self.site.log.exists():
            return False
        with open(self.site.log, "rb") as log:
            log.seek(self.read)
            # The last line may not be complete.
            lines, _, _ = log.read().rpartition(b"\n")
        self.read += len(lines) + 1 if lines else 0
        begun = [line["label"] for line in map(json.loads, lines.splitlines()) if line["event"] == "begin"]
        return number in begun

    def missing(self, identifiers):
        lines = self.site.log.read_bytes().splitlines() if self.site.log.exists() else []
        heard = {line["label"] for line in map(json.loads, lines) if line.get("outcome") == "heard"}
        return [identifier for identifier in identifiers if self.number(identifier) not in heard]

    def is_set_aside(self):
        found = entry(self.service, self.deadly[0])
        return found is not None and found[1] in ("accepted", "waiting") and found[2] == 3

    def is_kept(self):
        return self.is_set_aside()


class Renderings(Sounds):
    """The service is killed whenever the clip is made for the loudspeaker.

    Each of these ends counts, because the ledger is written before the clip is made.
    """

    most = 3

    def __init__(self, site, others):
        super().__init__(site, others)
        self.starts = 0
        self.clip = None

    def send(self, identifier):
        if identifier not in self.deadly:
            return super().send(identifier)
        # A clip is made when its announcement is accepted, and again only if it is gone at its turn.
        text = {"text": LONG_TEXT, "locale": "en-US", "method": "speech"}
        report = announce(self.service, identifier, text, deliver=["clip", "play"])
        self.clip = pathlib.Path(report["clip"]["path"])
        self.clip.unlink()
        return report

    def look(self):
        # The state stays in the ledger when the service has ended. The number of starts tells whether this is another.
        found = entry(self.service, self.deadly[0])
        if found is None or found[1] != "rendering" or found[2] <= self.starts:
            return False
        self.starts = found[2]
        return True

    def has_killed(self):
        self.clip.unlink(missing_ok=True)


KINDS = {
    "webhook": Messages,
    "push": Pushes,
    "batch": Batches,
    "playing": Sounds,
    "rendering": Renderings,
}


class Supervisor:
    """Starts the service again whenever it has ended, as systemd does. Kills it when deadly work is seen."""

    def __init__(self, work, trap):
        self.work, self.trap, self.service = work, trap, work.service
        # How the service has ended, each time.
        self.statuses = []
        self._end = threading.Event()
        self._threads = [threading.Thread(target=task, daemon=True) for task in (self._start_again, self._look)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        for thread in self._threads:
            thread.join(30)

    def _start_again(self):
        while not self._end.wait(0.05):
            if not self.service.is_running:
                self.statuses.append(self.service.process.returncode)
                self.service.spawn()

    def _look(self):
        while not self._end.wait(0.002):
            if self.work.look():
                self.trap.meet(self.work.key(self.work.deadly[0]))
                self.work.has_killed()


def run(options, folder, bars):
    """Runs each kind with a service of its own. Returns the figures by kind."""
    return {name: run_kind(name, kind, options, folder / name, bars) for name, kind in KINDS.items()}


def run_kind(name, kind, options, folder, bars):
    site = Site(options, folder)
    stays_up = max(3.0, STAYS_UP * min(1.0, options.scale))
    figures = {}
    with site.service as service:
        work = kind(site, options.scaled(OTHERS, 8))
        work.prepare()
        with Supervisor(work, site.trap) as supervisor:
            try:
                figures = until_stable(name, work, supervisor, stays_up, bars)
            except Unusable as error:
                # The service has ended again and again, so that nothing could be sent.
                bars.require(False, f"{name}: {error}")
        service.kill()
    met = [site.trap.met.get(work.key(identifier), 0) for identifier in work.deadly]
    # If there are several pieces of deadly work, one may be interrupted by the end that another one causes. The
    # interrupted work then ends the service only once.
    within = all(0 < times <= work.most for times in met) and sum(met) > work.count
    bars.require(within, f"{name}: ends by deadly work: {met}, and each may cause {work.most}")
    own = [status for status in supervisor.statuses if status != -signal.SIGKILL]
    bars.require(not own, f"{name}: the service ended by itself with the statuses {own}")
    progress(f"interrupted: deadly work of the kind {name} ended the service {len(supervisor.statuses)} times")
    return {"ends_by_deadly": met, "ends": len(supervisor.statuses), "others": len(work.others)} | figures


def until_stable(name, work, supervisor, stays_up, bars):
    """Sends everything, waits until the deadly works are set aside, and looks whether the service stays up."""
    service = work.service
    work.send_all()
    bars.nothing_in(wait(lambda: work.missing(work.others)), f"{name}: not delivered beside deadly work")
    if not bars.nothing_in(wait(lambda: not_set_aside(work)), f"{name}: not set aside"):
        return {}
    ends = len(supervisor.statuses)
    # New work is delivered as usual.
    persist(lambda: work.send("later"))
    bars.nothing_in(wait(lambda: work.missing(["later"])), f"{name}: not delivered afterwards")
    time.sleep(stays_up)
    more = len(supervisor.statuses) - ends
    bars.require(more == 0, f"{name}: ends after everything was delivered: {more}")
    check = get(service, "/readyz") or {}
    told = check.get("checks", {}).get("set_aside", {})
    is_told = (check.get("status"), told.get("code")) == ("degraded", "set_aside")
    bars.require(is_told, f"{name}: readyz: {json.dumps(check)}")
    is_logged = "ended twice in a row" in service.log.read_text(errors="replace")
    bars.require(is_logged, f"{name}: the log does not tell that something is set aside")
    bars.require(work.is_kept(), f"{name}: deadly work does not wait")
    return {"set_aside": told.get("waiting")}


def not_set_aside(work):
    """Returns the deadly works if the service is not ready, or if they may end it once more.

    Only work of their kind counts: what was heard or made when they ended the service is set aside too, and made later.
    """
    aside = metric(work.service, f'crier_set_aside{{kind="{work.kind}"}}')
    return [] if aside == work.count and work.is_set_aside() else work.deadly


def wait(missing, patience=PATIENCE):
    """Waits until nothing is missing, as long as it becomes less. Returns what is missing."""
    end, least = time.monotonic() + patience, None
    while (left := missing()) and time.monotonic() < end:
        if least is None or len(left) < least:
            least, end = len(left), time.monotonic() + patience
        time.sleep(0.05)
    return left

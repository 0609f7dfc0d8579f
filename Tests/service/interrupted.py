# SPDX-License-Identifier: Apache-2.0
"""Kills the service with kill -9 in every state of a delivery, 200 times, and with work that ends it by itself.

After a kill, everything is delivered, and no work is set aside. Work that ends the service by itself is set aside after
two ends in a row (deadly.py): the service stays up, and everything else is delivered and heard.
"""

import collections
import contextlib
import json
import pathlib
import random
import time

import deadly
from client import Lost
from deliveries import PATIENCE, Site, announce, entry, get, register, register_device, send_batch, until
from harness import Bars, Unusable, progress, work_folder

ROUNDS = 200
# The states in which the service is killed: of an announcement, of its messages and its push, and of a batch.
STATES = ("accepted", "connected", "sent", "answered", "rendering", "pushing", "playing", "batch", "any")
# The states that a receiver sees.
SEEN = ("connected", "sent", "answered", "pushing")
ROWS = 20
DELIVER = {"deliver": ["clip", "play", "push"], "device": "phone"}


def run(options):
    bars = Bars()
    with work_folder(options) as folder:
        rounds = kill_in_states(options, folder, bars)
        bars.figures = rounds | {"deadly": deadly.run(options, folder, bars)}
    return bars


def kill_in_states(options, folder, bars):
    """Kills the service in each state in turn. Returns the figures."""
    rounds = options.scaled(ROUNDS, len(STATES))
    chance = random.Random(options.seed)
    site = Site(options, folder)
    kills, undelivered = collections.Counter(), []
    with site.service as service:
        register(service, site.receiver.url)
        register_device(service, "phone", 1)
        for number in range(rounds):
            state = STATES[number % len(STATES)]
            # Everything has ended before the next kill, so that nothing is under way at two ends in a row.
            fault = one_round(site, state, number, chance)
            kills[state] += 1
            if fault:
                undelivered.append(f"{state}: {fault}")
            progress(f"interrupted: {number + 1} of {rounds}, killed when {state}, {len(undelivered)} undelivered")
        aside = get(service, "/readyz")["checks"]["set_aside"]["waiting"]
        bars.require(aside == 0, f"set aside although nothing was under way at two ends in a row: {aside}")
        service.terminate()
    lines = [json.loads(line) for line in site.log.read_text().splitlines()]
    heard = {line["label"] for line in lines if line.get("outcome") == "heard"}
    bars.nothing_in(undelivered, "rounds in which something was not delivered after the kill")
    bars.require(len(heard) == rounds, f"announcements heard to their end: {len(heard)} of {rounds}")
    figures = {"kills": rounds, "kills_by_state": dict(kills), "undelivered": len(undelivered), "heard": len(heard)}
    return figures | {"speakers_that_outlived_it": service.orphans}


def one_round(site, state, number, chance):
    """Announces something, kills the service in a state, and starts it again. Returns what was not delivered."""
    service, identifier, batch = site.service, f"round-{number}", None
    size = site.log.stat().st_size if site.log.exists() else 0
    if state in SEEN:
        site.trap.state = state
        # The service may be killed before it has answered the request.
        with contextlib.suppress(Lost, OSError):
            announce(service, identifier, **DELIVER)
        until(lambda: not service.is_running, f"no delivery reached the state {state}")
    elif state == "rendering":
        let_render(service, identifier)
    elif state == "batch":
        batch = send_batch(service, identifier, 1_000_000 + number * ROWS, ROWS)
        until(lambda: (get(service, f"/v1/batches/{batch}") or {}).get("done"), "the batch has not begun")
    else:
        announce(service, identifier, **DELIVER)
        if state == "playing":
            until(lambda: site.log.exists() and site.log.stat().st_size > size, "the sound has not begun")
        elif state == "any":
            time.sleep(chance.uniform(0, 1))
    service.kill()
    service.spawn()
    service.wait_until_ready()
    announce(service, identifier, **DELIVER)
    return wait_for_end(site, identifier, batch)


def let_render(service, identifier):
    """Lets the service make a clip for the loudspeaker, and returns while it does.

    A clip is made when the announcement is accepted, and again only if it is gone at its turn.
    """
    with service.connect() as connection:
        # The next player starts unpaused (CRIER_RESUME_AT_START).
        connection.request("POST", "/v1/playback/pause")
    clip = pathlib.Path(announce(service, identifier, **DELIVER)["clip"]["path"])
    service.terminate()
    clip.unlink()
    service.spawn()
    # Until the service has read its ledger, the state is that of its stop.
    states = ("rendering", "playing", "played")
    found = until(lambda: (one := entry(service, identifier)) and one[1] in states and one[1], "nothing was rendered")
    if found != "rendering":
        raise Unusable(f"the clip was not made again, or faster than it can be seen: {identifier} is {found}")


def wait_for_end(site, identifier, batch):
    """Waits until everything has ended. Returns what has not, or None."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        status = get(site.service, f"/v1/batches/{batch}") if batch else None
        is_done = batch is None or (status is not None and status["state"] != "running")
        if is_done and not site.missing(identifier) and site.is_settled(identifier):
            return None if status is None or (status["done"], status["failed"]) == (ROWS, 0) else f"batch: {status}"
        time.sleep(0.01)
    return f"{identifier}: not arrived {site.missing(identifier)}, settled {site.is_settled(identifier)}, batch {batch}"

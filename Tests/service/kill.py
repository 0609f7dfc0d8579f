# SPDX-License-Identifier: Apache-2.0
"""Kills the service under load with kill -9, 50 times: no answer is lost, and nothing is played twice."""

import json
import random
import threading
import time

from client import Lost, post
from harness import Bars, Service, Unusable, mean, progress, report_fault, work_folder

ROUNDS = 50
CLIENTS = 4
# Few announcements are played, because the check waits for their sounds at the end, about a second each.
PLAYED_A_ROUND = 5
# The service is killed within this many seconds after the first answer.
LONGEST_ROUND = 1.5
OLD_ONES = 50
# In ms. If a sound ends this shortly before the kill, the end of the sound may not be on disk (docs/player.md).
ENDED_SHORTLY_BEFORE = 250
EXPECTED = {200, 201, 429, 503}


class Poster(threading.Thread):
    """Posts requests until the service is gone, and keeps each request that was answered with 201."""

    def __init__(self, service, round_number, number, plays, answered):
        super().__init__(daemon=True)
        self.connection = service.connect(timeout=20)
        self.round, self.number, self.plays, self.answered = round_number, number, plays, answered
        self.told = []
        self.faults = []
        self.unanswered = 0

    def run(self):
        count = 0
        while True:
            count += 1
            identifier = f"kill-{self.round}-{self.number}-{count}"
            plays = count % 5 == 1 and self.plays.acquire(blocking=False)
            minor = self.round * 100_000 + self.number * 10_000 + count
            # Played announcements are short and fast: "12 yuan", one of a few clips.
            body = {
                "id": identifier,
                "minor": 100 * (count % 9 + 1) if plays else minor,
                "currency": "CNY",
                "locale": "zh-CN",
            }
            body |= {"deliver": ["clip", "play"], "rate": 450, "method": "speech"} if plays else {"deliver": ["clip"]}
            data = json.dumps(body).encode()
            try:
                answer = post(self.connection, data)
            except (Lost, OSError):
                self.unanswered += 1
                self.connection.close()
                return
            if answer.status == 201:
                self.told.append((identifier, data, answer.body, plays))
                self.answered.set()
            elif answer.status not in EXPECTED:
                self.faults.append(f"{identifier}: {answer.status} {answer.code}")


def run(options):
    bars = Bars()
    rounds = options.scaled(ROUNDS, 2)
    chance = random.Random(options.seed)
    told, lost, faults, lives, ready = [], [], [], [], []
    with work_folder(options) as folder:
        log = folder / "heard.jsonl"
        service = Service(options, folder / "home", output=f"file:{log}")
        with service:
            for number in range(1, rounds + 1):
                earlier = len(told)
                killed_at = one_round(service, number, chance, told, faults)
                lives.append((log.stat().st_size if log.exists() else 0, killed_at))
                service.spawn()
                ready.append(service.wait_until_ready())
                new, old = told[earlier:], told[:earlier]
                lost += look_at(service, new + chance.sample(old, min(OLD_ONES, len(old))))
                progress(
                    f"kill: {number} of {rounds}, {len(told)} answered 201, {len(lost)} lost, ready after {ready[-1] * 1000:.0f} ms"
                )
            lost += look_at(service, told)
            numbers = wait_until_heard(service, [entry for entry in told if entry[3]], bars)
            service.terminate()
        fault_texts, twice, heard = look_at_log(log.read_bytes() if log.exists() else b"", lives, numbers)
    bars.nothing_in(faults, "errors of clients")
    bars.nothing_in(lost, "answers that were lost or changed")
    bars.nothing_in(fault_texts, "heard wrongly")
    bars.figures = {
        "kills": rounds,
        "told_201": len(told),
        "told_to_be_played": len(numbers),
        "lost": len(lost),
        "sounds_heard": heard,
        "heard_wrongly": len(fault_texts),
        "killed_while_playing_and_heard_again": twice,
        "ready_ms_mean": round(mean(ready) * 1000),
        "ready_ms_most": round(max(ready) * 1000),
        "speakers_that_outlived_it": service.orphans,
    }
    return bars


def one_round(service, number, chance, told, faults):
    """Kills the service under load at a random moment. Returns the moment in ms since 1970."""
    answered, plays = threading.Event(), threading.Semaphore(PLAYED_A_ROUND)
    posters = [Poster(service, number, index, plays, answered) for index in range(CLIENTS)]
    for poster in posters:
        poster.start()
    if not answered.wait(30):
        raise Unusable(f"no request was answered with 201 within 30 s: {[poster.faults[:1] for poster in posters]}")
    time.sleep(chance.uniform(0, LONGEST_ROUND))
    killed_at = time.time() * 1000
    service.kill()
    for poster in posters:
        poster.join(30)
        told += poster.told
        faults += poster.faults
    return killed_at


def look_at(service, entries):
    """Reads and repeats each announcement. Both must return the client's original report."""
    lost = []
    with service.connect() as connection:
        for identifier, data, body, _ in entries:
            try:
                read = connection.request("GET", f"/v1/announcements/{identifier}")
                fault = (
                    report_fault(json.loads(body), read.json())
                    if read.status == 200
                    else f"{identifier}: GET {read.status}"
                )
                again = post(connection, data)
                if again.status != 200:
                    fault = fault or f"{identifier}: repeated POST {again.status} {again.code}"
                elif again.body != body:
                    fault = (
                        fault or f"{identifier}: repeated POST has another body: {again.body[:200]!r} for {body[:200]!r}"
                    )
            except (Lost, OSError) as error:
                fault = f"{identifier}: {error}"
            if fault:
                lost.append(fault)
    return lost


def wait_until_heard(service, entries, bars):
    """Waits until the queue is empty. Returns the player's number of each announcement."""
    deadline = time.monotonic() + 60 + 5 * len(entries)
    told, waiting = 0.0, None
    with service.connect() as connection:
        while time.monotonic() < deadline:
            status = connection.request("GET", "/v1/playback").json()
            if status["waiting_count"] != waiting:
                # The queue may be long, but it must get shorter.
                waiting, deadline = status["waiting_count"], time.monotonic() + 60
            if waiting == 0 and status["playing"] is None:
                break
            if time.monotonic() - told > 10:
                told = time.monotonic()
                progress(f"kill: {waiting} announcements are waiting")
            time.sleep(0.2)
        else:
            bars.require(False, f"the queue is stuck with {waiting} announcements waiting")
        numbers = {}
        for identifier, _, _, _ in entries:
            play = connection.request("GET", f"/v1/announcements/{identifier}").json()["delivery"]["play"]
            if bars.require(play is not None, f"{identifier} was to be played, but delivery.play is null"):
                bars.require(play["state"] == "played", f"{identifier} is {play['state']} at the end")
                numbers[identifier] = str(play["number"])
        bars.require(len(set(numbers.values())) == len(numbers), "two announcements have the same number")
    return numbers


def look_at_log(data, lives, numbers):
    """Checks the playback log, one life of the service after another. `lives` has each life's log size and end time.

    Within one life, no announcement begins twice. In a later life it may only be played again if it was playing at a
    kill, or had ended so shortly before the kill that its end was not on disk. Returns the failures, the number of
    announcements played again for this reason, and the number of sounds played to their end.
    """
    faults, again = [], 0
    may_repeat, begun, heard = set(), set(), {}
    start = 0
    for life, (end, killed_at) in enumerate([*lives, (len(data), None)], 1):
        sounding, last, here = None, None, set()
        for line in data[start:end].splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                # Only a kill can cut a line.
                if killed_at is None or not data[start:end].endswith(line):
                    faults.append(f"life {life}: a line is not JSON: {line[:80]!r}")
                continue
            label = entry["label"]
            if entry["event"] == "begin":
                if sounding is not None:
                    faults.append(f"life {life}: {label} begins while {sounding} plays")
                if label in here:
                    faults.append(f"life {life}: {label} begins twice")
                elif label in begun and label not in may_repeat:
                    faults.append(f"life {life}: {label} was played before, but not during a kill")
                again += label in begun
                here.add(label)
                begun.add(label)
                may_repeat.discard(label)
                sounding = label
            else:
                sounding, last = None, (label, entry["at_ms"])
                if entry.get("outcome") == "heard":
                    heard[label] = heard.get(label, 0) + 1
                else:
                    faults.append(f"life {life}: {label} was stopped")
        if killed_at is not None:
            if sounding is not None:
                may_repeat.add(sounding)
            elif last is not None and killed_at - last[1] < ENDED_SHORTLY_BEFORE:
                may_repeat.add(last[0])
        start = end
    faults += [
        f"{number} of {identifier} was never played to its end"
        for identifier, number in numbers.items()
        if number not in heard
    ]
    return faults, again, sum(heard.values())

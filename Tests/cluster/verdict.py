# SPDX-License-Identifier: Apache-2.0
"""Judges what was seen from outside. It knows only the payments, what arrived, and when somebody did what to the cluster."""

import collections
import dataclasses
import json

# A delivery may be repeated if something happened to the cluster while it was made. Its node may notice that late, for
# example after its lease has ended (docs/cluster.md).
AFTERWARDS = 12.0
# In ms. If a sound ends this shortly before its node ends, the end of the sound may not be stored (docs/player.md).
ENDED_SHORTLY_BEFORE = 250


@dataclasses.dataclass(frozen=True)
class Fault:
    """Something that was done to the cluster, from one time to another. `subject` is a node, or `database`.

    A node that was killed was certainly dead at the time `dead`, and perhaps at `start`.
    """

    kind: str
    subject: str
    start: float
    end: float
    dead: float | None = None


@dataclasses.dataclass
class Verdict:
    faults: list = dataclasses.field(default_factory=list)
    repeated: int = 0


def is_explained(first, second, faults):
    """Whether something happened to the cluster between two copies of a delivery, or shortly before the first one."""
    return any(fault.start <= second and fault.end + AFTERWARDS >= first for fault in faults)


def copies(arrived, subject, number, faults, verdict):
    """Returns the first copy of each delivery, in order of arrival. Copies with other numbers are faults."""
    first = {}
    for one in arrived:
        key = subject(one)
        known = first.setdefault(key, one)
        if known is one:
            continue
        verdict.repeated += 1
        if number(known) != number(one):
            verdict.faults.append(f"{key}: arrived with two ids")
        elif not is_explained(known.at, one.at, faults):
            verdict.faults.append(f"{key}: arrived twice, {one.at - known.at:.1f} s apart, and nothing had happened")
    return first


def overtaken(order, payments):
    """Returns the payments that come after one that was sent only when they had been answered."""
    found, latest = [], 0.0
    for identifier in order:
        payment = payments.get(identifier)
        if payment is None:
            continue
        if payment.answered < latest:
            found.append(identifier)
        latest = max(latest, payment.sent)
    return found


def pushed(payments, pushes, faults):
    """Judges the pushes: each payment reached each of its devices, in order, and copies have the same `apns-id`."""
    verdict = Verdict()
    by_id = {payment.id: payment for payment in payments}
    first = copies(pushes, lambda one: (one.device, one.announcement), lambda one: (one.apns_id, one.sequence), faults, verdict)
    for payment in payments:
        for device in payment.devices:
            if (device, payment.id) not in first:
                verdict.faults.append(f"{payment.id}: was not pushed to {device[:8]}")
    by_device = collections.defaultdict(list)
    for push in first.values():
        by_device[push.device].append(push)
        if push.announcement in by_id and push.device not in by_id[push.announcement].devices:
            verdict.faults.append(f"{push.announcement}: was pushed to {push.device[:8]}, which it does not name")
    for device, found in by_device.items():
        numbers = [push.sequence for push in found]
        late = [number for before, number in zip(numbers, numbers[1:]) if number < before]
        verdict.faults += [f"{device[:8]}: number {number} arrived after a later one" for number in late]
        if sorted(numbers) != list(range(1, len(numbers) + 1)):
            missing = sorted(set(range(1, max(numbers) + 1)) - set(numbers))
            verdict.faults.append(f"{device[:8]}: {len(numbers)} pushes up to number {max(numbers)}, without {missing[:5]}")
        numbered = [push.announcement for push in sorted(found, key=lambda one: one.sequence)]
        verdict.faults += [f"{device[:8]}: {one} has a number that is too late" for one in overtaken(numbered, by_id)]
    return verdict


def messages(payment, with_sounds=True):
    """Returns how many messages a payment causes, by type and id."""
    found = {("announcement.rendered", payment.id): 1, ("announcement.pushed", payment.id): len(payment.devices)}
    found["announcement.played", payment.id] = int(payment.is_played and with_sounds)
    return found


def told(payments, arrived, faults):
    """Judges the webhooks: each payment was told once for each thing that became of it."""
    verdict = Verdict()
    first = copies(arrived, lambda one: one.subject, lambda one: one.webhook_id, faults, verdict)
    heads = collections.Counter(subject[:2] for subject in first)
    for payment in payments:
        for head, count in messages(payment).items():
            if heads[head] != count:
                verdict.faults.append(f"{payment.id}: {head[0]} was told {heads[head]} times instead of {count}")
    return verdict


@dataclasses.dataclass
class Sound:
    """What a loudspeaker's log says about one beginning of a sound. `end` is None if the log ends before it."""

    label: str
    begin: int
    end: int | None = None
    is_heard: bool = False


def sounds(log):
    """Returns the sounds of a log of `file:`. Only the kill of its writer can cut a line."""
    found, broken = [], []
    for line in log.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            broken.append(line[:80])
            continue
        if entry["event"] == "begin":
            found.append(Sound(entry["label"], entry["at_ms"]))
        elif found and found[-1].label == entry["label"]:
            found[-1].end, found[-1].is_heard = entry["at_ms"], entry.get("outcome") == "heard"
        else:
            broken.append(line[:80])
    return found, broken


def may_repeat(before, again, kills, away):
    """Whether a sound may begin again. `kills` and `away` are spans of time, the latter without the database."""
    between = [kill for kill, dead in kills if before.begin <= dead <= again]
    if not before.is_heard:
        return bool(between) or any(start <= again and before.begin <= end for start, end in away)
    return any(
        before.end > kill - ENDED_SHORTLY_BEFORE or any(start <= before.end and kill <= end for start, end in away)
        for kill in between
    )


def heard(node, log, labels, payments, faults, at_ms):
    """Judges one loudspeaker: each of its payments was heard once, in order.

    `labels` has the payment's id by the label in the log. `at_ms` turns a time of a fault into ms since 1970. A sound
    may be heard again only if its end could not be stored: it was playing when its node was killed, or it ended shortly
    before, or it ended while the node did not reach the database, and the node was killed before it did again.
    """
    verdict = Verdict()
    found, broken = sounds(log)
    kills = [
        (at_ms(fault.start), at_ms(fault.dead or fault.start))
        for fault in faults if fault.kind == "kill" and fault.subject == node
    ]
    away = [
        (at_ms(fault.start), at_ms(fault.end + AFTERWARDS))
        for fault in faults if fault.kind != "kill" and fault.subject in (node, "database")
    ]
    if len(broken) > len(kills):
        verdict.faults.append(f"{node}: {len(broken)} lines of the log are not whole: {broken[:2]}")
    last, order = {}, []
    for sound in found:
        before = last.get(sound.label)
        last[sound.label] = sound
        if before is None:
            order.append(labels.get(sound.label))
            continue
        verdict.repeated += 1
        if not may_repeat(before, sound.begin, kills, away):
            ends = [round(kill - (before.end or before.begin)) for kill, dead in kills if before.begin <= dead <= sound.begin]
            verdict.faults.append(f"{node}: {sound.label} was heard twice, with kills {ends} ms after its end")
    for label, identifier in labels.items():
        if label not in last or not last[label].is_heard:
            verdict.faults.append(f"{identifier}: was not heard on {node}")
    order = [identifier for identifier in order if identifier is not None]
    by_id = {payment.id: payment for payment in payments}
    verdict.faults += [f"{node}: {identifier} was heard too late" for identifier in overtaken(order, by_id)]
    return verdict

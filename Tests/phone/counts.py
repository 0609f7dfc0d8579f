# SPDX-License-Identifier: Apache-2.0
"""Counts from a timeline what the user heard. It reads events only, and shares no code with the phone or the product.

A payment is heard if the sound at one of its banners is a clip of this payment, or the clip of a summary whose text
names the number and the exact sum of its members. A tone, the default sound or the clip of another payment does not
count.
"""

import decimal

import sums

LATE_MS = 25_000
# A stitched clip must be at least as like the service's clip as this, from 0 to 1. Right ones were measured at 0.98 and
# above; the clips of two other payments at 0.23 in the median.
LEAST_LIKENESS = 0.97
MUST_BE_ZERO = ("overlaps", "out_of_order", "lost", "twice", "late", "handed_over_twice")


def counts(events):
    """Returns the counts of a whole run as a dictionary."""
    events = sorted(events, key=lambda event: event["at"])
    digests = {event["clip_sha256"] for event in events if event["event"] == "numbered"}
    phones = {}
    for event in events:
        if event.get("phone") is not None:
            phones.setdefault(event["phone"], []).append(event)
    total = dict.fromkeys(
        "payments reordered dropped overlaps out_of_order lost twice late handed_over_twice never_handed_over heard "
        "summaries in_summaries wrong_summaries wrong_sounds caught_up tones defaults processes killed_for_memory "
        "killed suspended".split(),
        0,
    )
    waits, peak = [], 0
    for phone in phones.values():
        figures, phone_waits, phone_peak = _phone(phone, digests)
        waits += phone_waits
        peak = max(peak, phone_peak)
        for name, value in figures.items():
            total[name] += value
    waits.sort()
    total |= {"p50_ms": _percentile(waits, 0.5), "p99_ms": _percentile(waits, 0.99), "peak_dirty_kb": peak}
    total["lag_ms"] = max((event["ms"] for event in _of(events, "lag")), default=0)
    for event in _of(events, "push-service"):
        total["push_service"] = event["counts"]
    return total


def is_good(figures):
    return not any(figures[name] for name in MUST_BE_ZERO)


def _percentile(ordered, share):
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 1) if ordered else None


def _of(events, *kinds):
    return [event for event in events if event["event"] in kinds]


def _phone(events, digests):
    payments = {event["id"]: dict(event) for event in _of(events, "posted")}
    for event in _of(events, "numbered"):
        if event["id"] in payments:
            payments[event["id"]] |= {"sequence": event["sequence"], "clip_sha256": event["clip_sha256"]}
    figures = {"payments": len(payments)}
    delivered = _deliveries(events, payments, figures)
    figures["overlaps"] = _overlaps(events)
    heard = _heard(events, payments, digests, figures)
    _judge(heard, payments, delivered, figures)
    _hand_overs(events, figures)
    ended = _of(events, "process-ended")
    figures["processes"] = len(_of(events, "process-started"))
    figures["killed_for_memory"] = sum(event["reason"] == "memory" for event in ended)
    figures["killed"] = len(_of(events, "killed"))
    figures["suspended"] = len(_of(events, "suspended"))
    begins = {}
    for sound, members in heard:
        for name in members:
            begins.setdefault(name, sound["at"])
    waits = [begin - payments[name]["at"] for name, begin in begins.items()]
    return figures, waits, max((event["peak_dirty_kb"] for event in ended), default=0)


def _deliveries(events, payments, figures):
    """Counts the pushes that came after a later one, or not at all. Returns the ids of those that came."""
    highest, reordered, delivered = 0, 0, set()
    for event in _of(events, "delivered"):
        if event["id"] in payments and event["id"] not in delivered:
            delivered.add(event["id"])
            reordered += event["sequence"] < highest
            highest = max(highest, event["sequence"])
    figures["reordered"] = reordered
    figures["dropped"] = len(payments.keys() - delivered)
    return delivered


def _overlaps(events):
    """Counts the sounds that began while another one was heard."""
    until, overlaps = 0.0, 0
    for sound in _of(events, "sound-begins"):
        overlaps += sound["at"] < until
        until = max(until, sound["at"] + sound["duration_ms"])
    return overlaps


def _heard(events, payments, digests, figures):
    """Returns the sounds that tell of payments, each with the ids of the payments that it tells of."""
    heard = []
    figures |= dict.fromkeys(("summaries", "wrong_summaries", "wrong_sounds", "tones", "defaults"), 0)
    for sound in _of(events, "sound-begins"):
        if sound["kind"] != "clip":
            figures["defaults" if sound["kind"] == "default" else "tones"] += 1
        elif sound.get("summary"):
            members = sound["summary"]["ids"]
            if _is_right_summary(sound["summary"], payments):
                figures["summaries"] += 1
                heard.append((sound, members))
            else:
                figures["wrong_summaries"] += 1
        elif len(sound["ids"]) == 1 and _is_clip_of(sound, payments.get(sound["ids"][0]), digests):
            heard.append((sound, sound["ids"]))
        else:
            figures["wrong_sounds"] += 1
    return heard


def _is_clip_of(sound, payment, digests):
    if payment is None:
        return False
    if sound["sha256"] == payment.get("clip_sha256"):
        return True
    likeness = sound.get("likeness")
    return sound["sha256"] not in digests and (likeness is None or likeness >= LEAST_LIKENESS)


def _is_right_summary(summary, payments):
    """Returns whether the text names the exact sum of the members in each currency, and how many they are.

    The number may be that of all members, as in a banner, or that of each currency, as in the spoken words.
    """
    members, text = summary["ids"], summary["text"]
    if not members or len(set(members)) != len(members) or any(name not in payments for name in members):
        return False
    totals = {}
    for name in members:
        count, amount = totals.get(payments[name]["currency"], (0, decimal.Decimal(0)))
        totals[payments[name]["currency"]] = (count + 1, amount + decimal.Decimal(payments[name]["amount"]))
    if not all(sums.names_amount(text, str(amount), currency) for currency, (_, amount) in totals.items()):
        return False
    return sums.names_count(text, len(members)) or all(sums.names_count(text, count) for count, _ in totals.values())


def _judge(heard, payments, delivered, figures):
    """Counts from the sounds in the order of their begin what was heard late, twice or never."""
    times, highest, out_of_order, in_summaries, caught_up = {}, 0, 0, 0, 0
    for sound, members in heard:
        numbers = [payments[name].get("sequence", 0) for name in members if name not in times]
        out_of_order += bool(numbers) and min(numbers) < highest
        highest = max([highest, *numbers])
        for name in members:
            if name not in times:
                in_summaries += bool(sound.get("summary"))
                caught_up += name not in delivered
            times[name] = times.get(name, 0) + 1
    figures["out_of_order"] = out_of_order
    figures["in_summaries"] = in_summaries
    figures["caught_up"] = caught_up
    figures["heard"] = len(times)
    figures["lost"] = len(payments) - len(times)
    figures["twice"] = sum(count > 1 for count in times.values())


def _hand_overs(events, figures):
    given = {event["request"]: event for event in _of(events, "handed-to-process")}
    times = {}
    for event in _of(events, "hand-over"):
        times.setdefault(event["request"], []).append(event["at"])
    expired = {event["request"] for event in _of(events, "expired")}
    shown = {event.get("request") for event in _of(events, "banner") if event.get("original")}
    figures["handed_over_twice"] = sum(len(at) > 1 for at in times.values())
    figures["late"] = len(expired) + sum(
        request in times and request not in expired and times[request][0] - event["at"] > LATE_MS
        for request, event in given.items()
    )
    figures["never_handed_over"] = len(given.keys() - times.keys() - shown)

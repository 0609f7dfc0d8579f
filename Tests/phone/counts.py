# SPDX-License-Identifier: Apache-2.0
"""Counts from a timeline what the user heard. It reads events only, and shares no code with the phone or the product.

A payment is heard if the service's clip of it sounds, or a stitched clip that says its amount, or the clip of a summary
whose text and spoken words name the number and the exact sum of its members, and no other amount. A clip of the service
tells of the payment whose clip it is, whatever the banner says; if the banner is of another payment, the sound is wrong
as well. A tone, the default sound and a sound that could not be compared do not count.
"""

import decimal

import sums

LATE_MS = 25_000
# A process that the phone had stopped at the end of the 25 s has this time after it is continued.
AFTER_STOP_MS = 2_000
# The least likeness of a stitched clip and the service's clip, from 0 to 1. Right clips were measured at 0.98 and
# above, and the clips of two different payments at 0.23 in the median.
LEAST_LIKENESS = 0.97
MUST_BE_ZERO = (
    "overlaps",
    "out_of_order",
    "lost",
    "lost_by_kills",
    "twice",
    "tones_twice",
    "wrong_sounds",
    "wrong_summaries",
    "late",
    "handed_over_twice",
    "never_handed_over",
    "locked_when_suspended",
    "crashed",
)
# The dirty pages that an extension process may have above those of one that does nothing.
MOST_ABOVE_EMPTY_KB = 20 * 1024


def counts(events):
    """Returns the counts of a whole run as a dictionary."""
    events = sorted(events, key=lambda event: event["at"])
    digests = {event["clip_sha256"] for event in events if event["event"] == "numbered"}
    phones = {}
    for event in events:
        if event.get("phone") is not None:
            phones.setdefault(event["phone"], []).append(event)
    total = dict.fromkeys(
        "payments reordered dropped overlaps out_of_order lost twice tones_twice late handed_over_twice "
        "never_handed_over heard summaries in_summaries wrong_summaries wrong_sounds caught_up in_app tones "
        "defaults "
        "processes killed_for_memory killed overlaps_by_kills out_of_order_by_kills lost_by_kills twice_by_kills "
        "suspended late_by_suspensions idle_suspended locked_when_suspended crashed dropped_locals".split(),
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
    total["most_pending"] = max((event.get("waiting", 0) for event in _of(events, "local")), default=0)
    total |= {"p50_ms": _percentile(waits, 0.5), "p99_ms": _percentile(waits, 0.99), "peak_dirty_kb": peak}
    empty = max((event["dirty_kb"] for event in _of(events, "empty-process")), default=None)
    largest = max((event["dirty_kb"] for event in _of(events, "largest-case")), default=None)
    total |= {"empty_kb": empty, "above_empty_kb": None if empty is None else peak - empty}
    total["largest_case_above_empty_kb"] = None if empty is None or largest is None else largest - empty
    total["lag_ms"] = max((event["ms"] for event in _of(events, "lag")), default=0)
    total["memory_gap_p99_ms"] = max((event["p99_ms"] for event in _of(events, "memory-gaps")), default=None)
    for event in _of(events, "push-service"):
        total["push_service"] = event["counts"]
    return total


def is_good(figures):
    most = max(figures["above_empty_kb"] or 0, figures["largest_case_above_empty_kb"] or 0)
    return most <= MOST_ABOVE_EMPTY_KB and not any(figures[name] for name in MUST_BE_ZERO)


def has_faults_of_recipes(figures):
    """Returns whether sounds overlapped, or payments were not heard."""
    return bool(figures["overlaps"] or figures["lost"])


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
    killed = _killed_requests(events)
    _overlaps(events, killed, figures)
    heard = _heard(events, payments, digests, figures)
    figures["tones_twice"] = _tones_twice(events, killed)
    _judge(heard, payments, delivered, figures)
    _judge_order(heard, events, payments, killed, figures)
    _hand_overs(events, killed, figures)
    ended = _of(events, "process-ended")
    figures["processes"] = len(_of(events, "process-started"))
    figures["killed_for_memory"] = sum(event["reason"] == "memory" for event in ended)
    figures["killed"] = len(_of(events, "killed"))
    figures["crashed"] = sum(event["reason"] == "by itself" and event["status"] not in (0, None) for event in ended)
    figures["suspended"] = len(_of(events, "suspended"))
    figures["idle_suspended"] = len(_of(events, "idle-suspended"))
    figures["locked_when_suspended"] = len(_of(events, "locked-when-suspended"))
    figures["dropped_locals"] = len(_of(events, "local-dropped"))
    begins = {}
    for sound, members in heard:
        for name in members:
            begins.setdefault(name, sound["at"])
    opened = min((event["at"] for event in _of(events, "opened")), default=None)
    figures["in_app"] = sum(opened is not None and begin > opened for begin in begins.values())
    waits = [begin - payments[name]["at"] for name, begin in begins.items()]
    return figures, waits, max((event["peak_dirty_kb"] for event in _of(events, "memory")), default=0)


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


def _killed_requests(events):
    """Returns the requests that iOS showed as they came, because the phone had killed their process.

    The extension did not decide what was shown, nor when. A process that ended for another reason is no excuse.
    """
    killed = {event["process"] for event in _of(events, "killed")}
    given = {event["request"] for event in _of(events, "handed-to-process") if event["process"] in killed}
    return {event["request"] for event in _of(events, "banner") if event.get("original") == "process ended"} & given


def _overlaps(events, killed, figures):
    """Counts the sounds that began while another one was heard; separately, if one of both was of a killed process."""
    until = until_any = 0.0
    figures |= {"overlaps": 0, "overlaps_by_kills": 0}
    for sound in _of(events, "sound-begins"):
        end, is_shown_by_kill = sound["at"] + sound["duration_ms"], sound.get("request") in killed
        if sound["at"] < until and not is_shown_by_kill:
            figures["overlaps"] += 1
        elif sound["at"] < until_any:
            figures["overlaps_by_kills"] += 1
        until_any = max(until_any, end)
        until = until if is_shown_by_kill else max(until, end)


def _heard(events, payments, digests, figures):
    """Returns the sounds that tell of payments, each with the ids of the payments that it tells of."""
    heard, known = [], set()
    figures |= dict.fromkeys(("summaries", "wrong_summaries", "wrong_sounds", "tones", "defaults"), 0)
    for sound in _of(events, "sound-begins"):
        members, wrong = [], None
        if sound["kind"] != "clip":
            figures["defaults" if sound["kind"] == "default" else "tones"] += 1
        elif sound["sha256"] in digests:
            members = _payment_of_clip(sound, payments, known)
            if sound.get("summary"):
                wrong = "wrong_summaries"
            elif not members or members != sound["ids"]:
                wrong = "wrong_sounds"
        elif sound.get("summary"):
            if _is_right_summary(sound, payments):
                figures["summaries"] += 1
                members = sound["summary"]["ids"]
            else:
                wrong = "wrong_summaries"
        elif len(sound["ids"]) == 1 and _is_stitched_clip_of(sound, payments.get(sound["ids"][0])):
            members = sound["ids"]
        else:
            wrong = "wrong_sounds"
        if wrong:
            figures[wrong] += 1
        if members:
            heard.append((sound, members))
            known |= set(members)
    return heard


def _payment_of_clip(sound, payments, known):
    """Returns the payment of this phone whose clip the service made so: the one of the banner if it has this clip too.

    Payments of the same amount have the same clip. Without a banner that names one of them, it is the first that was
    not heard yet.
    """
    named = [name for name in sound["ids"] if payments.get(name, {}).get("clip_sha256") == sound["sha256"]]
    if named and not sound.get("summary"):
        return named[:1]
    same = [name for name, payment in payments.items() if payment.get("clip_sha256") == sound["sha256"]]
    same.sort(key=lambda name: (name in known, payments[name].get("sequence", 0)))
    return same[:1]


def _is_stitched_clip_of(sound, payment):
    # A sound that was not compared, or whose words are not known, may be anything.
    if payment is None or (sound.get("likeness") or 0) < LEAST_LIKENESS:
        return False
    return sums.names_only(sound.get("words") or "", {payment["currency"]: payment["amount"]})


def _is_right_summary(sound, payments):
    """Returns whether text and words name the exact sum of the members in each currency, and how many they are.

    The number may be that of all members, as in a banner, or that of each currency, as in the spoken words.
    """
    members, texts = sound["summary"]["ids"], (sound["summary"]["text"] or "", sound.get("words") or "")
    if not members or len(set(members)) != len(members) or any(name not in payments for name in members):
        return False
    totals = {}
    for name in members:
        count, amount = totals.get(payments[name]["currency"], (0, decimal.Decimal(0)))
        totals[payments[name]["currency"]] = (count + 1, amount + decimal.Decimal(payments[name]["amount"]))
    amounts = {currency: str(amount) for currency, (_, amount) in totals.items()}
    numbers = [len(members)], [count for count, _ in totals.values()]
    return all(any(sums.names_only(text, amounts, counts) for counts in numbers) for text in texts)


def _tones_twice(events, killed):
    """Counts the payments for which a tone or the default sound was heard more than once, alone or in a summary.

    What the phone showed of a killed process is no fault of the extension.
    """
    times = {}
    for sound in _of(events, "sound-begins"):
        if sound["kind"] != "clip" and sound.get("request") not in killed:
            for name in set((sound.get("summary") or {}).get("ids") or sound["ids"]):
                times[name] = times.get(name, 0) + 1
    return sum(count > 1 for count in times.values())


def _judge(heard, payments, delivered, figures):
    """Counts from the sounds in the order of their begin what was heard in summaries, or without a push."""
    known, in_summaries, caught_up = set(), 0, 0
    for sound, members in heard:
        new = set(members) - known
        in_summaries += len(new) if sound.get("summary") else 0
        caught_up += len(new - delivered)
        known |= new
    figures["in_summaries"] = in_summaries
    figures["caught_up"] = caught_up
    figures["heard"] = len(known)


def _judge_order(heard, events, payments, killed, figures):
    """Counts what was heard out of order, twice or never; separately, what was so because of a killed process."""
    order, times, times_by_kill = {"": 0, "_by_kills": 0}, {}, {}
    highest = highest_any = 0
    for sound, members in heard:
        numbers = [payments[name].get("sequence", 0) for name in members if name not in times]
        is_shown_by_kill = sound.get("request") in killed
        if numbers and min(numbers) < highest and not is_shown_by_kill:
            order[""] += 1
        elif numbers and min(numbers) < highest_any:
            order["_by_kills"] += 1
        highest_any = max([highest_any, *numbers])
        highest = highest if is_shown_by_kill else max([highest, *numbers])
        for name in members:
            times[name] = times.get(name, 0) + 1
            times_by_kill[name] = times_by_kill.get(name, 0) + is_shown_by_kill
    shown = {name for event in _of(events, "banner") if event.get("request") in killed for name in event["ids"]}
    lost = payments.keys() - times.keys()
    twice = {name for name, count in times.items() if count - times_by_kill[name] > 1}
    twice_any = {name for name, count in times.items() if count > 1}
    figures |= {"out_of_order": order[""], "out_of_order_by_kills": order["_by_kills"]}
    figures |= {"lost": len(lost - shown), "lost_by_kills": len(lost & shown)}
    figures |= {"twice": len(twice), "twice_by_kills": len(twice_any - twice)}


def _stops(events):
    """Returns for each process when the phone had stopped it by a fault: pairs of times."""
    stops = {}
    for event in _of(events, "suspended", "continued"):
        times = stops.setdefault(event["process"], [])
        if event["event"] == "suspended":
            times.append([event["at"], float("inf")])
        elif times:
            times[-1][1] = event["at"]
    return stops


def _hand_overs(events, killed, figures):
    given = {event["request"]: event for event in _of(events, "handed-to-process")}
    times = {}
    for event in _of(events, "hand-over"):
        times.setdefault(event["request"], []).append(event["at"])
    expired = {event["request"]: event["at"] for event in _of(events, "expired")}
    figures["handed_over_twice"] = sum(len(at) > 1 for at in times.values())
    figures |= {"late": 0, "late_by_suspensions": 0}
    stops = _stops(events)
    for request, event in given.items():
        end = expired.get(request) or times.get(request, [event["at"]])[0]
        limit = event["at"] + LATE_MS
        if end > limit:
            figures["late" if end > _excused(limit, stops.get(event["process"], [])) else "late_by_suspensions"] += 1
    figures["never_handed_over"] = len(given.keys() - times.keys() - expired.keys() - killed)


def _excused(limit, stops):
    """Returns until when a hand-over is no fault of a process that the phone had stopped near the end of its time.

    A stop that is over well before that is no excuse, because the time of a push goes on meanwhile: a process that
    counts its 25 s anew afterwards is late.
    """
    for begin, until in sorted(stops):
        if begin <= limit < until + AFTER_STOP_MS:
            limit = until + AFTER_STOP_MS
    return limit

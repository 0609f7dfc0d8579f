# SPDX-License-Identifier: Apache-2.0
"""Draws a part of a timeline as SVG: for each phone what was posted, how long it waited, and what was heard."""

import html

from counts import LEAST_LIKENESS

WINDOW_MS = 60_000
WIDTH, LEFT, RIGHT, TOP = 1200, 96, 24, 84
# The height of a phone with one lane of sounds, and of each further lane.
PHONE_HEIGHT, LANE_HEIGHT, BAR_HEIGHT = 144, 16, 18
# The heights within the row of a phone: payments, pushes, hand-overs, and the lanes of sounds.
POSTED, DELIVERED, HANDED, SOUNDS = 26, 58, 100, 112
MOST_LANES = 8
COLOURS = {
    "alone": "#1f6f5c",
    "summary": "#3a5fcd",
    "tone": "#b58900",
    "wrong": "#7d3c98",
    "overlap": "#c0392b",
    "posted": "#333333",
    "wait": "#b9c2cc",
    "dropped": "#c0392b",
    "reordered": "#d9822b",
    "silent": "#7a8794",
    "away": "#f0ece4",
    "text": "#222222",
    "faint": "#8a939c",
}
FONT = 'font-family="Helvetica, Arial, sans-serif"'


def draw(events, phones=3, window_ms=WINDOW_MS):
    """Returns an SVG picture of the phones with the most to see, around one of the largest bursts."""
    events = sorted(events, key=lambda event: event["at"])
    chosen, start = _choose(events, phones, window_ms)
    rows = [_Row(events, phone, start, window_ms) for phone in chosen]
    bottom = TOP + sum(row.height for row in rows)
    height = bottom + 92
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">',
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        _text(LEFT, 30, "What simulated phones heard of a burst of payments", size=18, weight="bold"),
        _text(LEFT, 52, _subtitle(events, chosen, start, window_ms), colour="faint"),
    ]
    top = TOP
    for row in rows:
        parts.append(_phone(row, start, window_ms, top))
        top += row.height
    parts += [_axis(bottom, window_ms), _legend(bottom + 46), "</svg>"]
    return "\n".join(parts) + "\n"


class _Row:
    """What is drawn of one phone: its events, and its sounds, each with a lane in which it overlaps no other one."""

    def __init__(self, events, phone, start, window_ms):
        self.phone = phone
        self.events = [event for event in events if event.get("phone") == phone]
        numbered = [event for event in self.events if event["event"] == "numbered"]
        self.numbers = {event["id"]: event["sequence"] for event in numbered}
        self.digests = {event["id"]: event["clip_sha256"] for event in numbered}
        self.all_digests = {event["clip_sha256"] for event in events if event["event"] == "numbered"}
        self.sounds, ends = [], []
        for sound in self.events:
            if sound["event"] != "sound-begins":
                continue
            ends = [end if end > sound["at"] else 0 for end in ends]
            lane = ends.index(0) if 0 in ends else len(ends)
            overlaps = any(ends)
            ends[lane : lane + 1] = [sound["at"] + sound["duration_ms"]]
            if max(ends) >= start and sound["at"] <= start + window_ms:
                self.sounds.append((sound, min(lane, MOST_LANES - 1), overlaps))
        lanes = max((lane for _, lane, _ in self.sounds), default=0) + 1
        self.height = PHONE_HEIGHT + (lanes - 1) * LANE_HEIGHT

    def colour(self, sound):
        if sound["kind"] != "clip":
            return "tone"
        if sound.get("summary"):
            return "summary"
        if sound["ids"] and sound["sha256"] == self.digests.get(sound["ids"][0]):
            return "alone"
        is_like = sound["sha256"] not in self.all_digests and (sound.get("likeness") or 0) >= LEAST_LIKENESS
        return "alone" if is_like else "wrong"


def _choose(events, count, window_ms):
    """Returns the phones and the begin of the window that show the most payments, summaries and lost pushes."""
    points = {"posted": 1.0, "offline": 2.0, "sound-begins": 0.5}
    by_phone = {}
    for event in events:
        value = points.get(event["event"], 0) + (4 if event["event"] == "sound-begins" and event.get("summary") else 0)
        if event.get("phone") and value:
            by_phone.setdefault(event["phone"], []).append((event["at"], value))
    best, start = -1.0, 0.0
    for found in by_phone.values():
        for at, _ in found:
            value = sum(other for when, other in found if 0 <= when - at <= window_ms * 0.8)
            if value > best:
                best, start = value, at - 3_000
    values = {
        phone: sum(value for when, value in found if 0 <= when - start <= window_ms)
        for phone, found in by_phone.items()
    }
    chosen = sorted(values, key=lambda phone: -values[phone])[:count]
    return sorted(chosen, key=lambda phone: (len(phone), phone)), start


def _subtitle(events, chosen, start, window_ms):
    within = [event for event in events if event.get("phone") in chosen and 0 <= event["at"] - start <= window_ms]
    posted = sum(event["event"] == "posted" for event in within)
    return f"{len(chosen)} phones, {window_ms // 1000} s, {posted} payments; a line leads from a payment to its sound"


def _x(at, start, window_ms):
    return LEFT + min(max((at - start) / window_ms, 0), 1) * (WIDTH - LEFT - RIGHT)


def _text(x, y, text, size=12, colour="text", weight="normal", anchor="start"):
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" fill="{COLOURS[colour]}" font-weight="{weight}" '
        f'text-anchor="{anchor}" {FONT}>{html.escape(text)}</text>'
    )


def _line(x1, y1, x2, y2, colour, width=1.0, dash=""):
    dash = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{COLOURS[colour]}" '
        f'stroke-width="{width}"{dash}/>'
    )


def _rect(x, y, width, height, colour, title=""):
    title = f"<title>{html.escape(title)}</title>" if title else ""
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{height}" rx="2" '
        f'fill="{COLOURS[colour]}">{title}</rect>'
    )


def _phone(row, start, window_ms, top):
    own = row.events
    end = start + window_ms
    parts = _away(own, start, end, window_ms, top, row.height)
    for offset, name in ((POSTED, "payments"), (DELIVERED, "pushes"), (HANDED, "hand-overs"), (SOUNDS + 9, "sounds")):
        parts.append(_text(LEFT - 10, top + offset + 4, name, size=11, colour="faint", anchor="end"))
    parts.append(_text(12, top + 8, row.phone, weight="bold"))
    parts.append(_line(LEFT, top + POSTED, WIDTH - RIGHT, top + POSTED, "wait", 0.5))
    posted = {event["id"]: event["at"] for event in own if event["event"] == "posted"}
    parts += _waits(own, posted, start, end, window_ms, top)
    parts += _pushes(own, posted, start, end, window_ms, top)
    for name, at in posted.items():
        if start <= at <= end:
            x = _x(at, start, window_ms)
            title = f"payment {row.numbers.get(name, '?')} at {(at - start) / 1000:.2f} s"
            tick = _line(x, top + POSTED - 10, x, top + POSTED + 6, "posted", 1.5)
            parts.append(f"<g><title>{title}</title>{tick}</g>")
    for event in own:
        if event["event"] == "hand-over" and start <= event["at"] <= end:
            parts.append(_circle(_x(event["at"], start, window_ms), top + HANDED, event["sound"] is None))
    parts += _sounds(row, start, window_ms, top)
    parts.append(_line(12, top + row.height - 8, WIDTH - RIGHT, top + row.height - 8, "wait", 0.5))
    return "\n".join(parts)


def _away(own, start, end, window_ms, top, height):
    parts, since = [], None
    for event in own + [{"event": "online", "at": end}]:
        if event["event"] == "offline":
            since = event["at"]
        elif event["event"] == "online" and since is not None:
            if since < end and event["at"] > start:
                left, right = _x(since, start, window_ms), _x(event["at"], start, window_ms)
                parts.append(_rect(left, top + 10, right - left, height - 24, "away", "the phone is off"))
                parts.append(_text(left + 6, top + height - 18, "off", size=11, colour="faint"))
            since = None
    return parts


def _waits(own, posted, start, end, window_ms, top):
    parts, seen = [], set()
    for sound in own:
        if sound["event"] != "sound-begins" or sound["kind"] != "clip":
            continue
        for name in (sound.get("summary") or sound)["ids"]:
            if name in posted and name not in seen and posted[name] <= end and sound["at"] >= start:
                seen.add(name)
                left, right = _x(posted[name], start, window_ms), _x(sound["at"], start, window_ms)
                parts.append(_line(left, top + POSTED + 6, right, top + SOUNDS, "wait", 0.8))
    return parts


def _pushes(own, posted, start, end, window_ms, top):
    parts, highest, delivered = [], 0, set()
    for event in own:
        if event["event"] != "delivered" or event["id"] in delivered:
            continue
        delivered.add(event["id"])
        late = event["sequence"] < highest
        highest = max(highest, event["sequence"])
        if start <= event["at"] <= end:
            x, y = _x(event["at"], start, window_ms), top + DELIVERED
            if late:
                parts.append(_triangle(x, y))
            else:
                parts.append(_line(x, y - 4, x, y + 4, "silent", 1.2))
    for name, at in posted.items():
        if name not in delivered and start <= at <= end:
            parts.append(_cross(_x(at, start, window_ms), top + DELIVERED))
    return parts


def _sounds(row, start, window_ms, top):
    """Draws each sound as a bar. A sound that begins while others sound is in a lane below them, and framed."""
    parts = []
    for sound, lane, overlaps in row.sounds:
        summary = sound.get("summary")
        left = _x(sound["at"], start, window_ms)
        right = _x(sound["at"] + sound["duration_ms"], start, window_ms)
        y = top + SOUNDS + lane * LANE_HEIGHT
        members = (summary or sound)["ids"]
        label = f"{len(members)} payments" if summary else "/".join(str(row.numbers.get(name, "?")) for name in members)
        parts.append(_rect(left, y, right - left, BAR_HEIGHT, row.colour(sound), (summary or {}).get("text") or label))
        if overlaps:
            parts.append(_frame(left, y, right - left))
        if right - left > 7 * len(label) + 4:
            parts.append(
                f'<text x="{(left + right) / 2:.1f}" y="{y + 13}" font-size="11" fill="#ffffff" '
                f'text-anchor="middle" {FONT}>{html.escape(label)}</text>'
            )
    return parts


def _axis(bottom, window_ms):
    parts = []
    for second in range(0, window_ms // 1000 + 1, 5):
        x = _x(second * 1000, 0, window_ms)
        parts.append(_line(x, TOP, x, bottom, "wait", 0.4, "2 4"))
        parts.append(_text(x, bottom + 10, f"{second} s", size=11, colour="faint", anchor="middle"))
    return "\n".join(parts)


def _cross(x, y):
    return _line(x - 4, y - 4, x + 4, y + 4, "dropped", 2) + _line(x - 4, y + 4, x + 4, y - 4, "dropped", 2)


def _triangle(x, y):
    return (
        f'<path d="M{x - 4:.1f} {y + 4} L{x + 4:.1f} {y + 4} L{x:.1f} {y - 4} Z" fill="{COLOURS["reordered"]}">'
        "<title>reordered</title></path>"
    )


def _circle(x, y, is_silent):
    colour, fill = ("silent", "#ffffff") if is_silent else ("posted", COLOURS["posted"])
    return f'<circle cx="{x:.1f}" cy="{y}" r="3" fill="{fill}" stroke="{COLOURS[colour]}"/>'


def _frame(x, y, width):
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{BAR_HEIGHT}" rx="2" fill="none" '
        f'stroke="{COLOURS["overlap"]}" stroke-width="2"/>'
    )


def _legend(y):
    """Draws one line of signs with their meanings."""
    top = y - BAR_HEIGHT / 2

    def bar(colour):
        return lambda x: _rect(x, top, 14, BAR_HEIGHT, colour)

    entries = (
        (lambda x: _line(x + 7, y - 8, x + 7, y + 8, "posted", 1.5), "payment"),
        (lambda x: _cross(x + 7, y), "push never came"),
        (lambda x: _triangle(x + 7, y), "push came late"),
        (lambda x: _circle(x + 7, y, False), "hand-over"),
        (lambda x: _circle(x + 7, y, True), "silent hand-over"),
        (bar("alone"), "heard alone (its number)"),
        (bar("summary"), "summary"),
        (bar("tone"), "tone or default"),
        (bar("wrong"), "another payment"),
        (lambda x: _frame(x, top, 14), "overlap"),
        (bar("away"), "phone off"),
    )
    parts, x = [], 14
    for sign, meaning in entries:
        parts += [sign(x), _text(x + 20, y + 4, meaning, size=11)]
        x += 20 + 5.6 * len(meaning) + 18
    return "\n".join(parts)

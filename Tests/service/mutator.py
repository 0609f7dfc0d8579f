# SPDX-License-Identifier: Apache-2.0
"""Mutates bodies in ways that break readers of JSON and CSV. The same seed gives the same bodies."""

import copy
import json
import random
import re

TOKENS = [
    b"null",
    b"true",
    b"false",
    b"{}",
    b"[]",
    b'""',
    b"0",
    b"-0",
    b"-1",
    b"1e400",
    b"-1e-400",
    b"1E+999999999",
    b"9" * 36,
    b"9" * 400,
    b"0." + b"0" * 300 + b"1",
    b"9223372036854775808",
    b"-9223372036854775809",
    b"18446744073709551616",
    b"NaN",
    b"Infinity",
    b"0x10",
    b"01",
    b".5",
    b"12.",
    b'"\\u0000"',
    b'"\\ud800"',
    b'"\\udfff\\ud800"',
    b'"\\x"',
    b'"\xff\xfe"',
    b'"\xc0\xaf"',
    b'"\xed\xa0\x80"',
    b'"\xf4\x90\x80\x80"',
    b"\x00",
    b"\xef\xbb\xbf",
    b"\r\n",
    b"\n",
    b",",
    b":",
    b'"',
    b"\\",
    b"/*",
    b"//",
    b'"id":',
    b'"amount":',
    b'"minor":',
    b'"currency":',
    b'"payment":',
    b'"aps":',
    b'"alert":',
    b'"text":',
    b'"deliver":',
    b'"play"',
    b'"push"',
    b'"\\u0069d":"x"',
    b'"locale":"zz-ZZ"',
    b'"rate":79',
    b'"rate":1e2',
    b'"format":"mp3"',
    b'"group":"../../etc"',
    b'"pack":"../x"',
    b'"voice":"en-us; rm"',
    b'"encoding":"pcm24"',
    b'"method":7',
    b'"channel":"[[x]]"',
    b'"currency":"XAU"',
    b'"sequence":-1',
    b'"occurred_at":"2026-02-30T25:61:61Z"',
    "張".encode() * 90,
    b"'s" * 80,
    "\u202e\u200d\ufeff".encode(),
    b"=cmd|'/C calc'!A0",
    b'"a","b"\n"',
    b'""",',
    b"\x1a",
    b"\x7f",
]
# The replacements for values and member names in bodies that stay well-formed JSON.
ODD = [
    None,
    True,
    False,
    0,
    -1,
    1,
    79,
    80,
    451,
    1.5,
    -0.0,
    1e300,
    10**35,
    10**36,
    2**63,
    2**64,
    "",
    " ",
    "0",
    "-1",
    "1e5",
    "٣",
    "１２",
    "1,000.00",
    "12.505",
    "0.00",
    "9999999999999.99",
    "99999999999999",
    "a" * 81,
    "字" * 200,
    "e\u0301" * 300,
    "'s" * 100,
    "A." * 100,
    "\u0000",
    "\u202e",
    "\ud83d\ude00",
    "../../x",
    "zz-ZZ",
    "zh",
    "en-GB",
    "XXX",
    "usd",
    "KWD",
    "JPY",
    "XAU",
    "refunded",
    "failed",
    "2026-02-30T00:00:00Z",
    "2026-11-20T20:23:58.123456789+14:00",
    [],
    [[]],
    ["play"],
    ["push"],
    ["clip", "clip"],
    ["clip", 1],
    {},
    {"a": {}},
    {"alert": {"title": "A", "body": 7}},
    "wav",
    "caf",
    "mp3",
    "ima4",
    "clips",
    "speech",
    "auto",
    "group.crier",
    "group.x",
    "id",
    "amount",
    "minor",
    "currency",
    "payment",
    "aps",
    "text",
    "deliver",
    "device",
    "method",
    "voice",
    "rate",
    "pack",
    "format",
    "encoding",
    "group",
    "channel",
    "payer",
    "note",
    "locale",
    "sequence",
    "occurred_at",
    "kind",
]
NUMBER = re.compile(rb"-?\d[\d.eE+-]*")
STRING = re.compile(rb'"[^"\\]*"')
MEMBER = re.compile(rb'"[^"\\]*"\s*:\s*("[^"\\]*"|[^,{}\[\]"]+)')


class Mutator:
    """A mutator of bodies. `largest` is their maximum size in bytes, except for those made too large on purpose."""

    def __init__(self, seed, largest=65_536):
        self.random = random.Random(seed)
        self.largest = largest
        self.ways = [
            self.flip_bits,
            self.set_bytes,
            self.remove,
            self.truncate,
            self.double,
            self.splice,
            self.splice,
            self.put_token,
            self.put_token,
            self.replace_value,
            self.replace_value,
            self.repeat_member,
            self.nest,
            self.grow_number,
            self.spoil_utf8,
            self.swap,
            self.pad,
            self.change_encoding,
            self.lengthen,
        ]

    def mutate(self, body, others):
        """Makes one to four changes, mostly one or two, because an almost valid body is read the furthest."""
        if self.random.random() < 0.4:
            altered = self.alter(body)
            if altered is not None:
                return altered
        for _ in range(self.random.choice((1, 1, 1, 2, 2, 3, 4))):
            body = self.random.choice(self.ways)(body, others)
        if len(body) > self.largest and self.random.random() > 0.02:
            body = body[: self.largest]
        return body

    def alter(self, body):
        """Changes values and names but keeps the body well-formed. Returns None if the body is not a JSON object."""
        try:
            value = json.loads(body)
        except ValueError:
            return None
        if not isinstance(value, dict):
            return None
        for _ in range(self.random.choice((1, 1, 1, 2, 3))):
            inner = [member for member in value.values() if isinstance(member, dict)]
            target = self.random.choice(inner) if inner and self.random.random() < 0.6 else value
            # The id is mostly kept: most of these bodies are valid, and a new id would cost a render.
            names = [name for name in target if name != "id" or self.random.random() < 0.05]
            way = self.random.randrange(4)
            if way == 0 and names:
                del target[self.random.choice(names)]
            elif way == 1 and names:
                target[str(self.random.choice(ODD))] = target.pop(self.random.choice(names))
            elif way == 2 and names:
                target[self.random.choice(names)] = copy.deepcopy(self.random.choice(ODD))
            else:
                name = str(self.random.choice(ODD))
                if name != "id":
                    target[name] = copy.deepcopy(self.random.choice(ODD))
        return json.dumps(value, ensure_ascii=self.random.random() < 0.3).encode("utf-8", errors="surrogatepass")

    def _place(self, body):
        return self.random.randrange(len(body) + 1)

    def _span(self, body, most=24):
        start = self._place(body)
        return start, min(len(body), start + self.random.randint(1, most))

    def flip_bits(self, body, _):
        changed = bytearray(body)
        for _ in range(self.random.choice((1, 1, 2, 5))):
            if changed:
                changed[self.random.randrange(len(changed))] ^= 1 << self.random.randrange(8)
        return bytes(changed)

    def set_bytes(self, body, _):
        start, end = self._span(body, 4)
        return body[:start] + self.random.randbytes(end - start) + body[end:]

    def remove(self, body, _):
        start, end = self._span(body)
        return body[:start] + body[end:]

    def truncate(self, body, _):
        return body[: self._place(body)]

    def double(self, body, _):
        start, end = self._span(body, 64)
        return body[:end] + body[start:end] * self.random.choice((1, 2, 30)) + body[end:]

    def splice(self, body, others):
        other = self.random.choice(others)
        return body[: self._place(body)] + other[self._place(other) :]

    def put_token(self, body, _):
        start = self._place(body)
        return body[:start] + self.random.choice(TOKENS) + body[start:]

    def replace_value(self, body, _):
        found = list((STRING if self.random.random() < 0.7 else NUMBER).finditer(body))
        if not found:
            return body
        chosen = self.random.choice(found)
        return body[: chosen.start()] + self.random.choice(TOKENS) + body[chosen.end() :]

    def repeat_member(self, body, _):
        found = list(MEMBER.finditer(body))
        if not found:
            return body + body
        chosen = self.random.choice(found)
        key = chosen.group().split(b":")[0]
        value = self.random.choice((chosen.group().split(b":", 1)[1], self.random.choice(TOKENS)))
        return body[: chosen.end()] + b"," + key + b":" + value + body[chosen.end() :]

    def nest(self, body, _):
        depth = self.random.choice((2, 15, 16, 17, 100, 1_000, 20_000))
        opening, closing = self.random.choice(
            ((b"[", b"]"), (b'{"a":', b"}"), (b'{"payment":', b"}"), (b'{"aps":', b"}"))
        )
        depth = min(depth, self.largest // (len(opening) + len(closing)) - 1)
        start = self._place(body)
        if self.random.random() < 0.3:
            return body[:start] + opening * depth + body[start:]
        if self.random.random() < 0.5:
            return opening * depth + body + closing * depth
        return body[:-1] + b',"x":' + opening * depth + b"1" + closing * depth + b"}"

    def grow_number(self, body, _):
        found = list(NUMBER.finditer(body))
        if not found:
            return body
        chosen = self.random.choice(found)
        digits = str(self.random.getrandbits(self.random.choice((31, 63, 64, 120, 4_000)))).encode()
        return body[: chosen.start()] + self.random.choice((b"", b"-")) + digits + body[chosen.end() :]

    def spoil_utf8(self, body, _):
        start = self._place(body)
        bad = self.random.choice(
            (b"\x80", b"\xc3", b"\xff", b"\xe4\xb8", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xc1\x81")
        )
        return body[:start] + bad + body[start:]

    def swap(self, body, _):
        found = list(STRING.finditer(body))
        if len(found) < 2:
            return body
        one, two = sorted(self.random.sample(found, 2), key=lambda match: match.start())
        return body[: one.start()] + two.group() + body[one.end() : two.start()] + one.group() + body[two.end() :]

    def pad(self, body, _):
        filling = self.random.choice((b" ", b"\n", b"\t", b"\x00", b"\x0b", "\u00a0".encode()))
        filling *= self.random.choice((1, 10, 3_000))
        return self.random.choice((filling + body, body + filling, body[:1] + filling + body[1:]))

    def change_encoding(self, body, _):
        text = body.decode("utf-8", errors="replace")
        return text.encode(
            self.random.choice(("utf-16", "utf-16-le", "utf-32", "latin-1", "utf-8-sig")), errors="replace"
        )

    def lengthen(self, body, _):
        found = list(STRING.finditer(body))
        if not found:
            return body
        chosen = self.random.choice(found)
        letter = self.random.choice((b"a", b"7", b" ", "é".encode(), "字".encode(), "e\u0301".encode(), b"'s", b"A."))
        count = self.random.choice((81, 129, 201, 2_001, 40_000, 70_000)) // len(letter)
        return body[: chosen.start()] + b'"' + letter * count + b'"' + body[chosen.end() :]

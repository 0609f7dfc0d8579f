# SPDX-License-Identifier: Apache-2.0
"""The inputs of the checks: any number of payments, texts that are hard for the engine, and a corpus to mutate."""

import json

from harness import ROOT

LOCALES = [
    ("zh-CN", "CNY", "alipay"),
    ("en-US", "USD", "card"),
    ("hi-IN", "INR", "upi"),
    ("ko-KR", "KRW", "kakaopay"),
    ("ja-JP", "JPY", "paypay"),
]


def payment(index, identifier, **more):
    """Returns the payment with an index, the same as in `crier-bench`, in five locales in turn."""
    locale, currency, channel = LOCALES[index % len(LOCALES)]
    # The step and the range have no common factor, so the amounts have all lengths.
    minor = 1 + (index * 7_919) % 99_991
    return {"id": identifier, "minor": minor, "currency": currency, "channel": channel, "locale": locale} | more


def hostile_texts():
    """Returns texts that crash, confuse or overload the engine, by name; `blank` has no words, `long` is too long."""
    folder = ROOT / "Tests" / "Fixtures" / "hostile"
    texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.txt"))}
    texts |= {
        "apostrophes": "'s " * 300,
        "points": "A." * 400,
        "brackets": "[[_^_en]] [[d@n]] " * 20,
        "markup": '<speak><voice name="x"><audio src="/etc/passwd"/></voice></speak>' * 8,
        "marks": "e\u0301\u0302\u0303" * 120,
        "invisible": "\u200b\u200d\u202e\ufeff" * 60 + "word",
        "faces": "\U0001f600\u200d\U0001f4a5" * 40 + " paid",
        "digits": "1234567890" * 60,
        "scripts": "支付宝 paid ₹१२३ を 원 ñandú Ω ж " * 12,
        "letters": "q" * 1_900,
        "percent": "%s%n%x$(id)`id`;--" * 30,
    }
    return texts


def good_bodies():
    """Returns valid bodies, each with its own id. Texts have ids too, so that a repeated text needs no new render."""
    bodies = []
    for path in sorted((ROOT / "Samples").glob("*.json")):
        value = json.loads(path.read_text(encoding="utf-8"))
        if "aps" in value and "payment" not in value:
            value["id"] = path.stem
        bodies.append(value)
    bodies += [payment(index, f"good-{index}") for index in range(10)]
    bodies += [
        {"id": "good-text-1", "text": "The shop closes at nine", "locale": "en-US"},
        {"id": "good-text-2", "text": "订单42，请到前台", "locale": "zh-CN", "rate": 300},
        {
            "id": "good-minor",
            "minor": 1_250,
            "currency": "CNY",
            "locale": "zh-CN",
            "sequence": 42,
            "occurred_at": "2026-11-20T20:23:58Z",
        },
        {"id": "good-kind", "amount": 12.5, "currency": "USD", "kind": "refunded", "note": "Late", "locale": "en-US"},
        {
            "id": "good-options",
            "amount": "7.00",
            "currency": "EUR",
            "locale": "es-MX",
            "method": "speech",
            "format": "caf",
            "encoding": "alaw",
            "rate": 200,
            "group": "group.crier",
            "deliver": ["clip"],
        },
        {
            "id": "good-ulaw",
            "amount": "8.00",
            "currency": "USD",
            "locale": "en-US",
            "format": "aiff",
            "encoding": "ulaw",
            "payer": "A\u0301ngel O'Neill \U0001f600",
            "device": "phone-1",
        },
        {
            "payment": {
                "id": "good-inner",
                "amount": "3.00",
                "currency": "CNY",
                "payer": "张三",
                "unknown": [1, {"a": None}],
            },
            "deliver": ["clip"],
        },
    ]
    return [json.dumps(body, ensure_ascii=False).encode() for body in bodies]


def good_batches():
    """Returns accepted batches with their content types."""
    rows = [payment(index, f"row-{index}") for index in range(4)] + [{"text": "Row five", "locale": "en-US"}]
    lines = b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)
    table = (
        "id,amount,currency,channel,payer,locale\n1001,12.50,CNY,alipay,张三,zh-CN\n"
        '1002,48.05,USD,card,"Johnson, Alice",en-US\n'
    ).encode()
    return [(lines, "application/jsonl"), (lines, "application/x-ndjson"), (table, "text/csv")]

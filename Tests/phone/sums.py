# SPDX-License-Identifier: Apache-2.0
"""Reads the text of a summary: whether it names a number of payments and an exact sum, in digits or in words.

This is written a second time on purpose, for two languages and two currencies. It shares nothing with the product.
"""

import decimal
import re

ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()
SIGNED = ("$", "us$", "¥", "cn¥")
NUMERALS = "零一二三四五六七八九"
# Any number, in digits or in words. "Point" alone is not a number.
NUMBER = re.compile(
    rf"\d|[一二三四五六七八九十百千万亿]|\b({'|'.join([*ONES, *TENS[2:], 'hundred', 'thousand', 'million'])})\b"
)


def names(text, count, amount, currency):
    """Returns whether the text names this number of payments and this sum (decimal text in major units)."""
    return names_count(text, count) and names_amount(text, amount, currency)


def names_count(text, count):
    return _has(_plain(text), _counts(count))


def names_amount(text, amount, currency):
    return _has(_plain(text), _amounts(amount, currency))


def names_only(text, amounts, counts=()):
    """Returns whether the text names these amounts (by currency) and numbers of payments, and no other number."""
    text = _plain(text)
    groups = [_amounts(amount, currency) for currency, amount in amounts.items()] + [_counts(count) for count in counts]
    found = [_places(text, forms) for forms in groups]
    if not all(found):
        return False
    left = list(text)
    for places in found:
        for start, end in places:
            left[start:end] = "\0" * (end - start)
    return not NUMBER.search("".join(left))


def _has(text, forms):
    return bool(_places(text, forms))


def _places(text, forms):
    """Returns where one of the forms is in the text and is not a part of a longer number: pairs of start and end."""
    places = []
    for form in forms:
        for found in re.finditer(re.escape(form), text):
            before, after = text[: found.start()].rstrip(), text[found.end() :]
            begins_with_sign = form.startswith(SIGNED)
            if (begins_with_sign or not _ends_in_number(before)) and not _begins_with_number(after):
                places.append(found.span())
    return places


def _ends_in_number(text):
    return bool(re.search(r"([\d一二三四五六七八九十百千万亿元角]|\d[.,])$", text)) or (
        text.rsplit(" ", 1)[-1] in ONES + TENS + ["hundred", "thousand", "million", "point", "dollar", "dollars"]
    )


def _begins_with_number(text):
    return bool(re.match(r"\d|[.,]\d|[一二三四五六七八九十百千万亿角分]", text)) or (
        bool(re.match(rf" (({'|'.join(ONES[:11])})\b|(({'|'.join(ONES + TENS[2:])}) )+cents?\b)", text))
    )


def _plain(text):
    """Returns the text in lower case, without hyphens, "and", 零, and with 二 for 两, and 十 for 一十."""
    text = text.lower().replace("-", " ").replace("零", "").replace("两", "二").replace("一十", "十")
    return re.sub(r"\s+", " ", re.sub(r"\band\b", " ", text))


def _counts(count):
    numbers = (f"{count} payment", f"{_english(count)} payment", f"{count}笔", f"{count} 笔")
    return [*numbers, f"{_plain(_chinese(count))}笔"]


def _amounts(amount, currency):
    value = decimal.Decimal(amount)
    major, minor = int(value), int(value * 100) % 100
    digits = [f"{major}.{minor:02d}", f"{major:,}.{minor:02d}"] + ([str(major), f"{major:,}"] if not minor else [])
    signs = {"CNY": ("¥", "cn¥"), "USD": ("$", "us$")}[currency]
    forms = [sign + number for sign in signs for number in digits]
    forms += [f"{number} {unit}" for number in digits for unit in ("yuan", "dollars", currency.lower())]
    unit = {"CNY": "元", "USD": "美元"}[currency]
    forms += [number + space + unit for number in digits for space in ("", " ")]
    forms += [_english_amount(major, minor, currency), _plain(_chinese_amount(major, minor, currency))]
    return [re.sub(r"\s+", " ", form).strip() for form in forms]


def _english_amount(major, minor, currency):
    if currency == "CNY":
        point = f" point {ONES[minor // 10]} {ONES[minor % 10]}" if minor else ""
        return f"{_english(major)}{point} yuan"
    parts = [f"{_english(major)} dollar{'s' if major != 1 else ''}"] if major else []
    parts += [f"{_english(minor)} cent{'s' if minor != 1 else ''}"] if minor else []
    return " ".join(parts)


def _english(number):
    if number < 20:
        return ONES[number]
    if number < 100:
        return TENS[number // 10] + (f" {ONES[number % 10]}" if number % 10 else "")
    for size, name in ((1_000_000, "million"), (1_000, "thousand"), (100, "hundred")):
        if number >= size:
            return f"{_english(number // size)} {name}" + (f" {_english(number % size)}" if number % size else "")
    raise ValueError(number)


def _chinese_amount(major, minor, currency):
    whole = _chinese(major) if major else ""
    if currency == "USD":
        return (f"{whole}美元" if major else "") + (f"{_chinese(minor)}美分" if minor else "")
    text = f"{whole}元" if major else ""
    text += f"{NUMERALS[minor // 10]}角" if minor >= 10 else ""
    return text + (f"{NUMERALS[minor % 10]}分" if minor % 10 else "")


def _chinese(number):
    """Returns the numeral without any 零, because `_plain` removes them too."""
    if number < 10:
        return NUMERALS[number]
    for size, name in ((10_000, "万"), (1_000, "千"), (100, "百"), (10, "十")):
        if number >= size:
            head = "" if size == 10 and number < 20 else _chinese(number // size)
            return head + name + (_chinese(number % size) if number % size else "")
    raise ValueError(number)

# SPDX-License-Identifier: Apache-2.0
"""The payments of a run and the times when phones are away, all decided by the seed."""

import dataclasses
import random

LOCALES = ("en-US", "zh-CN")
CURRENCY = {"en-US": "USD", "zh-CN": "CNY"}
# The shares of bursts with each range of payments. Most bursts have one payment, and some are a queue at a till.
BURSTS = ((0.40, 1, 1), (0.30, 2, 5), (0.20, 6, 15), (0.10, 16, 30))
BURST_SECONDS = 1.0
# After a burst, it is quiet for this time and one more second for each payment of the burst.
QUIET_SECONDS = (3.0, 10.0)
# The share of payments in another currency, and in another language, than those of the phone.
FOREIGN_CURRENCY = 0.05
FOREIGN_LOCALE = 0.05
AWAY_EVERY_SECONDS = 90.0
AWAY_SECONDS = (3.0, 20.0)


@dataclasses.dataclass(frozen=True)
class Payment:
    device: str
    # The seconds from the start of the run.
    at: float
    id: str
    amount: str
    currency: str
    # The language that the request names; None for that of the phone.
    locale: str | None


def plan(seed, device, locale, count):
    """Returns the payments to one phone in the order of their times."""
    choose = random.Random(f"{seed}/{device}/payments")
    payments, start = [], choose.uniform(0, QUIET_SECONDS[1])
    while len(payments) < count:
        size = min(_size(choose), count - len(payments))
        for at in sorted(choose.uniform(0, BURST_SECONDS) for _ in range(size)):
            payments.append(_payment(choose, device, locale, start + at, len(payments)))
        start += BURST_SECONDS + choose.uniform(*QUIET_SECONDS) + size
    return payments


def _size(choose):
    left = choose.random()
    for share, least, most in BURSTS:
        if left < share:
            return choose.randint(least, most)
        left -= share
    return 1


def _payment(choose, device, locale, at, number):
    # Most amounts are small; all digits occur.
    cents = choose.randrange(1, 10 ** choose.choice((3, 4, 4, 5, 5, 6)))
    currency = CURRENCY[locale]
    if choose.random() < FOREIGN_CURRENCY:
        currency = choose.choice([other for other in CURRENCY.values() if other != currency])
    named = None
    if choose.random() < FOREIGN_LOCALE:
        named = choose.choice([other for other in LOCALES if other != locale])
    amount = f"{cents // 100}.{cents % 100:02d}"
    return Payment(device, at, f"{device}-payment-{number + 1}", amount, currency, named)


def absences(seed, device, seconds):
    """Returns the times at which the phone goes away and comes back, as pairs of seconds from the start."""
    choose = random.Random(f"{seed}/{device}/absences")
    found, at = [], choose.expovariate(1 / AWAY_EVERY_SECONDS)
    while at < seconds:
        back = at + choose.uniform(*AWAY_SECONDS)
        found.append((at, back))
        at = back + choose.expovariate(1 / AWAY_EVERY_SECONDS)
    return found

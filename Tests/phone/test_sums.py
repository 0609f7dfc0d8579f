# SPDX-License-Identifier: Apache-2.0
"""The texts of summaries, and the payments of a run."""

import itertools
import unittest

import payments
import sums


class SumTests(unittest.TestCase):
    RIGHT = (
        ("Received three payments, one hundred five dollars and five cents in total", 3, "105.05", "USD"),
        ("Received 12 payments, twenty-two thousand two hundred dollars in total", 12, "22200.00", "USD"),
        ("Received one payment of one cent", 1, "0.01", "USD"),
        ("Received two payments, one thousand ten point one zero yuan in total", 2, "1010.10", "CNY"),
        ("Received 3 payments. Total: $1,057.50", 3, "1057.50", "USD"),
        ("收款三笔，合计一千零一十元一角", 3, "1010.10", "CNY"),
        ("收款十二笔，合计两万两千二百二十二元两角二分", 12, "22222.22", "CNY"),
        ("收款两笔，合计五十七美元五十美分", 2, "57.50", "USD"),
        ("收款 3 笔，合计 ¥57.50", 3, "57.50", "CNY"),
        ("收款两笔，合计五元。收款三笔，合计一美元一美分", 3, "1.01", "USD"),
    )
    WRONG = (
        ("Received two payments, three dollars twenty-five cents in total", 2, "3.00", "USD"),
        ("Received twenty-three payments, one dollar in total", 3, "1.00", "USD"),
        ("Received two payments, one hundred five dollars in total", 2, "5.00", "USD"),
        ("Received two payments, five dollars and ten cents in total", 2, "5.00", "USD"),
        ("Received two payments, five dollars and ten cents in total", 2, "0.10", "USD"),
        ("Received two payments, five point one two yuan in total", 2, "5.00", "CNY"),
        ("Received two payments, five yuan in total", 2, "5.00", "USD"),
        ("收款二十三笔，合计五元", 3, "5.00", "CNY"),
        ("收款三笔，合计五元一角", 3, "5.00", "CNY"),
        ("收款三笔，合计五元一角", 3, "0.10", "CNY"),
        ("收款三笔，合计十五美元", 3, "5.00", "USD"),
        ("收款 3 笔，合计 ¥157.50", 3, "57.50", "CNY"),
    )

    def test_right_texts(self):
        for text, count, amount, currency in self.RIGHT:
            self.assertTrue(sums.names(text, count, amount, currency), text)

    def test_no_other_number_may_be_named(self):
        for text, count, amount, currency in self.RIGHT[:8]:
            self.assertTrue(sums.names_only(text, {currency: amount}, [count]), text)
            for more in (" 5", " five", "，五元", " a hundred"):
                self.assertFalse(sums.names_only(text + more, {currency: amount}, [count]), text + more)
        two = "Received 25 payments: Total: $42,336.72 + CN¥383.43"
        self.assertTrue(sums.names_only(two, {"USD": "42336.72", "CNY": "383.43"}, [25]))
        self.assertFalse(sums.names_only(two, {"USD": "42336.72"}, [25]))
        self.assertFalse(sums.names_only(two, {"USD": "42336.72", "CNY": "383.43"}, [2]))

    def test_wrong_texts(self):
        for text, count, amount, currency in self.WRONG:
            self.assertFalse(sums.names(text, count, amount, currency), text)


class PlanTests(unittest.TestCase):
    def test_the_seed_decides_the_payments_and_nothing_else_does(self):
        one, same, other = (payments.plan(seed, "phone-1", "en-US", 200) for seed in (1, 1, 2))
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)
        self.assertEqual(len({payment.id for payment in one}), 200)

    def test_payments_come_in_bursts_in_both_currencies_and_languages(self):
        plan = payments.plan(1, "phone-1", "zh-CN", 500)
        self.assertEqual([payment.at for payment in plan], sorted(payment.at for payment in plan))
        within = max(sum(0 <= other.at - payment.at <= 1 for other in plan) for payment in plan)
        self.assertTrue(16 <= within <= 30, within)
        self.assertEqual({payment.currency for payment in plan}, {"CNY", "USD"})
        self.assertEqual({payment.locale for payment in plan}, {None, "en-US"})

    def test_a_phone_is_away_for_some_seconds_at_a_time(self):
        found = payments.absences(1, "phone-1", 1000)
        self.assertTrue(found)
        self.assertTrue(all(3 <= on - off <= 20 for off, on in found))
        self.assertTrue(all(on < off for (_, on), (off, _) in itertools.pairwise(found)))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Tests of the judgement about what was seen from outside of a cluster."""

import json
import pathlib
import sys
import unittest

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent.parent / "service")]

import verdict  # noqa: E402
from payments import Payment  # noqa: E402
from verdict import Fault  # noqa: E402


class One:
    def __init__(self, **values):
        self.__dict__ |= values


def payment(identifier, sent=0.0, answered=1.0, devices=(), is_played=False):
    return Payment(identifier, b"", tuple(devices), is_played, sent, answered)


def push(at, sequence, announcement, apns_id=None, device="d"):
    return One(at=at, device=device, apns_id=apns_id or announcement, sequence=sequence, announcement=announcement)


def message(at, kind, announcement, webhook_id=None, device=None):
    subject = (kind, announcement, "push" if device else "clip", device)
    return One(at=at, webhook_id=webhook_id or str(subject), subject=subject)


def log(*entries):
    """Returns a log of `file:` from labels with the times of their beginning and end; no end if they were cut off."""
    lines = []
    for label, begin, end in entries:
        lines.append({"at_ms": begin, "event": "begin", "label": label})
        if end is not None:
            lines.append({"at_ms": end, "event": "end", "label": label, "outcome": "heard"})
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


class PushTests(unittest.TestCase):
    def faults(self, payments, pushes, faults=()):
        return verdict.pushed(payments, pushes, list(faults)).faults

    def test_a_push_for_each_payment_and_device_is_right(self):
        payments = [payment("a", 0, 1, "de"), payment("b", 1, 2, "d")]
        self.assertEqual(self.faults(payments, [push(1, 1, "a"), push(1, 1, "a", device="e"), push(2, 2, "b")]), [])

    def test_a_missing_push_is_found(self):
        self.assertEqual(len(self.faults([payment("a", devices="de")], [push(1, 1, "a")])), 1)

    def test_a_gap_in_the_numbers_of_a_device_is_found(self):
        payments = [payment("a", 0, 1, "d"), payment("b", 1, 2, "d")]
        self.assertIn("without [2]", self.faults(payments, [push(1, 1, "a"), push(2, 3, "b")])[0])

    def test_a_push_that_arrives_after_a_later_number_is_found(self):
        payments = [payment("a", 0, 3, "d"), payment("b", 0, 3, "d")]
        self.assertEqual(len(self.faults(payments, [push(1, 2, "b"), push(2, 1, "a")])), 1)

    def test_a_number_before_that_of_a_payment_that_was_answered_earlier_is_found(self):
        payments = [payment("a", 0, 1, "d"), payment("b", 2, 3, "d")]
        self.assertEqual(len(self.faults(payments, [push(1, 1, "b"), push(2, 2, "a")])), 1)

    def test_a_copy_with_the_same_id_is_right_only_if_something_happened(self):
        payments, pushes = [payment("a", devices="d")], [push(1, 1, "a"), push(9, 1, "a")]
        self.assertEqual(len(self.faults(payments, pushes)), 1)
        self.assertEqual(self.faults(payments, pushes, [Fault("kill", "node-1", 2, 3)]), [])
        self.assertEqual(len(self.faults(payments, pushes, [Fault("kill", "node-1", 9.5, 12)])), 1)

    def test_a_copy_with_another_id_is_always_wrong(self):
        pushes = [push(1, 1, "a"), push(9, 1, "a", apns_id="other")]
        self.assertEqual(len(self.faults([payment("a", devices="d")], pushes, [Fault("kill", "node-1", 2, 3)])), 1)

    def test_a_push_to_a_device_that_the_payment_does_not_name_is_found(self):
        pushes = [push(1, 1, "a"), push(1, 1, "a", device="e")]
        self.assertEqual(len(self.faults([payment("a", devices="d")], pushes)), 1)


class WebhookTests(unittest.TestCase):
    def test_each_payment_is_told_once_for_each_thing(self):
        payments = [payment("a", devices="d")]
        right = [message(1, "announcement.rendered", "a"), message(2, "announcement.pushed", "a", device="phone")]
        self.assertEqual(verdict.told(payments, right, []).faults, [])
        self.assertEqual(len(verdict.told(payments, right[:1], []).faults), 1)
        again = message(3, "announcement.rendered", "a", webhook_id="other")
        self.assertEqual(len(verdict.told(payments, [*right, again], []).faults), 1)


class SoundTests(unittest.TestCase):
    def heard(self, content, labels=None, faults=(), payments=()):
        return verdict.heard("node-1", content, labels or {}, list(payments), list(faults), lambda at: at)

    def test_a_sound_that_is_heard_again_without_a_reason_is_found(self):
        content = log(("1", 0, 900), ("2", 1_000, 1_900), ("1", 2_000, 2_900))
        self.assertEqual(len(self.heard(content).faults), 1)

    def test_a_sound_that_a_kill_cut_off_is_heard_again(self):
        content = log(("1", 0, None), ("1", 2_000, 2_900))
        self.assertEqual(self.heard(content, faults=[Fault("kill", "node-1", 500, 1_500)]).faults, [])
        self.assertEqual(len(self.heard(content, faults=[Fault("kill", "node-2", 500, 1_500)]).faults), 1)

    def test_a_sound_that_ended_long_before_a_kill_is_not_heard_again(self):
        content = log(("1", 0, 900), ("1", 5_000, 5_900))
        self.assertEqual(len(self.heard(content, faults=[Fault("kill", "node-1", 3_000, 4_000)]).faults), 1)
        self.assertEqual(self.heard(content, faults=[Fault("kill", "node-1", 1_000, 4_000)]).faults, [])

    def test_a_sound_that_ended_without_the_database_may_be_heard_again_after_a_kill(self):
        content = log(("1", 0, 900), ("1", 5_000, 5_900))
        away = Fault("database", "database", 500, 2_500)
        self.assertEqual(self.heard(content, faults=[away, Fault("kill", "node-1", 2_000, 4_000)]).faults, [])
        self.assertEqual(len(self.heard(content, faults=[away]).faults), 1)

    def test_a_payment_that_was_not_heard_to_its_end_is_found(self):
        self.assertEqual(len(self.heard(log(("1", 0, None)), {"1": "a"}, payments=[payment("a")]).faults), 1)

    def test_a_payment_that_overtook_an_earlier_one_is_found(self):
        payments = [payment("a", 0, 1), payment("b", 2, 3)]
        content = log(("2", 0, 900), ("1", 1_000, 1_900))
        self.assertEqual(len(self.heard(content, {"1": "a", "2": "b"}, payments=payments).faults), 1)
        content = log(("1", 0, 900), ("2", 1_000, 1_900))
        self.assertEqual(self.heard(content, {"1": "a", "2": "b"}, payments=payments).faults, [])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
import itertools
import unittest

import counts


class Story:
    """A timeline of one phone, written by hand. Times are ms from the start."""

    def __init__(self, *amounts, currency="USD"):
        self.events = []
        self.numbers = itertools.count(1)
        for number, amount in enumerate(amounts, 1):
            name = f"p{number}"
            self.add(number, "posted", id=name, amount=amount, currency=currency, locale=None, sent_at=0)
            self.add(10**9, "numbered", id=name, sequence=number, clip_sha256=f"clip of {name}")

    def add(self, at, event, **details):
        self.events.append({"at": at, "event": event, "phone": "phone-1"} | details)
        return self

    def push(self, at, number, process=1, request=None):
        self.add(at, "delivered", id=f"p{number}", sequence=number, push=f"push {number}")
        given = {"request": request or f"r{number}", "process": process}
        return self.add(at + 1, "handed-to-process", id=f"p{number}", sequence=number, **given)

    def sound(self, at, *numbers, duration=2000, kind="clip", text=None, sha256=None, **more):
        """A summary (with a text) says its text, unless `words` are given."""
        names = [f"p{number}" for number in numbers]
        summary = {"ids": names, "text": text} if text else None
        digest = sha256 or f"clip of {'+'.join(names)}"
        details = {"ids": names[-1:], "summary": summary, "kind": kind, "sha256": digest, "duration_ms": duration}
        details |= {"likeness": None, "words": text} | more
        return self.add(at, "sound-begins", sound=next(self.numbers), **details)

    def killed(self, at, number, process=1, **more):
        """The phone kills the process of a push, and shows the push as it came, with a sound."""
        self.add(at, "killed", process=process)
        self.add(at, "process-ended", process=process, reason="killed", status=-9)
        shown = {"request": f"r{number}", "original": "process ended"}
        return self.add(at, "banner", ids=[f"p{number}"], **shown).sound(at, number, **shown, **more)

    def hand_over(self, at, number, process=1):
        return self.add(
            at, "hand-over", request=f"r{number}", process=process, id=f"p{number}", accepted=True, sound="clip"
        )

    def heard(self, at, number, process=1, **details):
        return self.push(at - 10, number, process).hand_over(at, number, process).sound(at, number, **details)

    def counts(self):
        return counts.counts(self.events)


GOOD_SUMMARY = "Received two payments, three dollars and seventy-five cents in total"


class HeardTests(unittest.TestCase):
    def check(self, story, good=False, **expected):
        figures = story.counts()
        self.assertEqual({name: figures[name] for name in expected}, expected)
        self.assertEqual(counts.is_good(figures), good)

    def test_payments_heard_one_after_another_are_good(self):
        story = Story("1.00", "2.00", "3.00").heard(100, 1).heard(2200, 2).heard(4300, 3)
        self.check(story, good=True, payments=3, heard=3, lost=0, overlaps=0, out_of_order=0, twice=0, late=0)

    def test_a_payment_without_any_sound_is_lost(self):
        self.check(Story("1.00", "2.00").heard(100, 1), lost=1, heard=1)

    def test_a_tone_a_phrase_and_the_default_sound_tell_of_no_payment(self):
        for kind, name in (("tone", "tones"), ("phrase", "tones"), ("default", "defaults")):
            self.check(Story("1.00").heard(100, 1, kind=kind), lost=1, **{name: 1})

    def test_the_clip_of_another_payment_tells_of_no_payment(self):
        story = Story("1.00", "2.00").heard(100, 1, sha256="stitched of p2", likeness=0.3, words="Received two dollars")
        self.check(story.heard(3000, 2), lost=1, wrong_sounds=1, twice=0)

    def test_a_clip_of_the_service_is_heard_as_the_payment_whose_clip_it_is_whatever_the_banner_says(self):
        story = Story("1.00", "2.00").heard(100, 1, sha256="clip of p2")
        self.check(story, lost=1, heard=1, wrong_sounds=1, twice=0)
        self.check(story.heard(3000, 2), lost=1, heard=1, wrong_sounds=1, twice=1)
        self.check(story.heard(6000, 1), lost=0, wrong_sounds=1, twice=1, out_of_order=1)

    def test_of_payments_with_the_same_clip_the_one_of_the_banner_is_heard(self):
        story = Story("1.00", "1.00").heard(100, 1).heard(3000, 2, sha256="clip of p1")
        story.events[3]["clip_sha256"] = "clip of p1"
        self.check(story, good=True, lost=0, twice=0, wrong_sounds=0)

    def test_without_its_banner_the_first_payment_with_this_clip_that_was_not_heard_is_heard(self):
        story = Story("1.00", "1.00", "3.00").heard(100, 1).heard(3000, 3, sha256="clip of p1")
        story.events[3]["clip_sha256"] = "clip of p1"
        self.check(story, lost=1, heard=2, twice=0, wrong_sounds=1)

    def test_a_wrong_sound_alone_makes_a_run_bad(self):
        self.check(Story("1.00").heard(100, 1).sound(4000, 1, sha256="anything"), wrong_sounds=1, lost=0, twice=0)

    def test_a_stitched_clip_that_says_another_amount_too_is_wrong(self):
        words = "Received one dollar Received nine dollars"
        story = Story("1.00").heard(100, 1, sha256="stitched", likeness=0.99, words=words)
        self.check(story, lost=1, wrong_sounds=1)

    def test_a_tone_for_the_same_payment_may_be_heard_once_only(self):
        story = Story("1.00").sound(100, 1, kind="tone", identifier="p1")
        self.check(story, tones=1, tones_twice=0, lost=1)
        self.check(story.sound(5000, 1), good=True, tones_twice=0, lost=0)
        for kind in ("tone", "phrase", "default"):
            again = Story("1.00").sound(100, 1, kind="tone", identifier="p1").sound(3000, 1).sound(9000, 1, kind=kind)
            self.check(again, tones_twice=1, lost=0, twice=0)

    def test_a_tone_for_a_summary_is_one_for_each_of_its_members(self):
        story = Story("1.25", "2.50").sound(100, 1, 2, text=GOOD_SUMMARY, kind="tone")
        self.check(story, tones_twice=0, lost=2)
        self.check(story.sound(3000, 1, kind="default"), tones_twice=1, lost=2)

    def test_a_stitched_clip_counts_if_it_is_like_the_services_and_says_the_amount(self):
        one = "Received one dollar"
        for likeness, words, lost in (
            (0.98, one, 0),
            (0.5, one, 1),
            (None, one, 1),
            (0.98, "Received nine dollars", 1),
            (0.98, None, 1),
        ):
            story = Story("1.00").heard(100, 1, sha256="stitched", likeness=likeness, words=words)
            self.check(story, good=not lost, lost=lost, wrong_sounds=lost)

    def test_a_sound_that_was_not_compared_tells_of_no_payment_also_without_a_push(self):
        self.check(Story("1.00").sound(100, 1, sha256="stitched", identifier="p1"), lost=1, wrong_sounds=1)
        self.check(Story("1.00").sound(100, 1, identifier="p1"), good=True, lost=0, caught_up=1)

    def test_a_summary_must_be_spoken_with_the_right_sum_and_number(self):
        for words in (None, "", "Received two payments, three dollars in total", "Received three dollars"):
            story = Story("1.25", "2.50").sound(100, 1, 2, text=GOOD_SUMMARY, words=words)
            self.check(story, wrong_summaries=1, lost=2)

    def test_the_clip_of_a_single_payment_is_no_summary(self):
        story = Story("1.25", "2.50").sound(100, 1, 2, text=GOOD_SUMMARY, sha256="clip of p1")
        self.check(story, wrong_summaries=1, lost=1, heard=1)

    def test_a_summary_that_names_any_other_number_is_wrong(self):
        for more in ("and nine dollars", "and $9.00", ". Received two payments, nine yuan in total", "and 4"):
            for spoken in (True, False):
                wrong = f"{GOOD_SUMMARY} {more}"
                words, text = (wrong, GOOD_SUMMARY) if spoken else (GOOD_SUMMARY, wrong)
                self.check(Story("1.25", "2.50").sound(100, 1, 2, text=text, words=words), wrong_summaries=1, lost=2)

    def test_a_wrong_summary_alone_makes_a_run_bad(self):
        story = Story("1.25", "2.50").heard(100, 1).heard(3000, 2).sound(9000, 1, 2, text="Received 2 payments")
        self.check(story, wrong_summaries=1, lost=0, twice=0)

    def test_a_payment_of_another_phone_is_not_heard_here(self):
        self.check(Story("1.00").heard(100, 1).sound(4000, 9), wrong_sounds=1, lost=0)

    def test_a_payment_heard_twice_counts_in_any_form(self):
        self.check(Story("1.00").heard(100, 1).sound(3000, 1), twice=1, lost=0)
        story = Story("1.25", "2.50").heard(100, 1).push(3000, 2).hand_over(3000, 2)
        story.sound(3000, 1, 2, text=GOOD_SUMMARY)
        self.check(story, twice=1, lost=0, out_of_order=0)

    def test_a_right_summary_stands_for_its_members(self):
        story = Story("1.25", "2.50").push(90, 1).push(95, 2).sound(100, 1, 2, text=GOOD_SUMMARY)
        story.hand_over(100, 1).hand_over(101, 2)
        self.check(story, good=True, summaries=1, in_summaries=2, lost=0, wrong_summaries=0)

    def test_a_summary_with_a_wrong_sum_or_number_loses_its_members(self):
        for text in (
            "Received two payments, three dollars and seventy-six cents in total",
            "Received three payments, three dollars and seventy-five cents in total",
            "Received two payments, ninety-three dollars and seventy-five cents in total",
            "",
        ):
            story = Story("1.25", "2.50").push(90, 1).push(95, 2).sound(100, 1, 2, text=text or " ")
            self.check(story, wrong_summaries=1, summaries=0, lost=2)

    def test_a_summary_of_two_currencies_names_each_sum_and_the_number_of_each_or_of_all(self):
        for text, wrong in (
            ("Received three payments: $3.75 and ¥8.00 in total", 0),
            ("Received two payments, $3.75 in total. Received one payment of eight yuan", 0),
            ("Received two payments: $3.75 and ¥8.00 in total", 1),
            ("Received three payments: $3.75 in total", 1),
        ):
            story = Story("1.25", "2.50", "8.00").sound(100, 1, 2, 3, text=text)
            story.events[4]["currency"] = "CNY"
            self.assertEqual(story.counts()["wrong_summaries"], wrong, text)

    def test_a_summary_that_names_a_member_twice_or_an_unknown_one_is_wrong(self):
        self.check(Story("1.25", "1.25").sound(100, 1, 1, text=GOOD_SUMMARY), wrong_summaries=1, lost=2)
        self.check(Story("1.25").sound(100, 1, 2, text=GOOD_SUMMARY), wrong_summaries=1, lost=1)

    def test_a_summary_played_as_a_tone_tells_of_nothing(self):
        self.check(Story("1.25", "2.50").sound(100, 1, 2, text=GOOD_SUMMARY, kind="tone"), lost=2, summaries=0)

    def test_a_payment_first_heard_after_its_app_was_opened_is_counted_so(self):
        story = Story("1.00", "2.00").heard(100, 1).add(2500, "opened").sound(3000, 1, duration=500).sound(5000, 2)
        self.check(story, in_app=1, lost=0, twice=1)

    def test_a_payment_heard_without_a_push_was_caught_up(self):
        story = Story("1.00", "2.00").sound(100, 1).heard(2200, 2)
        self.check(story, good=True, dropped=1, caught_up=1, lost=0)


class OrderTests(unittest.TestCase):
    def test_a_payment_heard_after_a_later_one_is_out_of_order(self):
        self.assertEqual(Story("1.00", "2.00").heard(100, 2).heard(3000, 1).counts()["out_of_order"], 1)

    def test_a_payment_heard_after_a_summary_of_later_ones_is_out_of_order(self):
        story = Story("1.00", "1.25", "2.50").sound(100, 2, 3, text=GOOD_SUMMARY).sound(9000, 1)
        self.assertEqual(story.counts()["out_of_order"], 1)

    def test_a_summary_after_a_later_payment_is_out_of_order_once(self):
        story = Story("1.25", "2.50", "1.00").sound(100, 3).sound(9000, 1, 2, text=GOOD_SUMMARY)
        self.assertEqual(story.counts()["out_of_order"], 1)

    def test_a_gap_is_not_out_of_order(self):
        self.assertEqual(Story("1.00", "2.00", "3.00").heard(100, 1).heard(3000, 3).counts()["out_of_order"], 0)

    def test_sounds_overlap_if_one_begins_before_the_end_of_another(self):
        self.assertEqual(Story("1.00", "2.00").heard(100, 1).heard(2099, 2).counts()["overlaps"], 1)
        self.assertEqual(Story("1.00", "2.00").heard(100, 1).heard(2100, 2).counts()["overlaps"], 0)

    def test_a_short_sound_within_a_long_one_does_not_hide_the_next_overlap(self):
        story = Story("1.00", "2.00", "3.00").heard(0, 1, duration=5000).heard(1000, 2, duration=100).heard(2000, 3)
        self.assertEqual(story.counts()["overlaps"], 2)

    def test_any_two_sounds_overlap_also_the_default_one(self):
        story = Story("1.00", "2.00").heard(0, 1).heard(500, 2, kind="default")
        self.assertEqual(story.counts()["overlaps"], 1)

    def test_the_sounds_of_two_phones_do_not_overlap(self):
        story = Story("1.00").heard(0, 1)
        other = Story("1.00").heard(500, 1)
        for event in other.events:
            event["phone"] = "phone-2"
        figures = counts.counts(story.events + other.events)
        self.assertEqual((figures["overlaps"], figures["payments"]), (0, 2))

    def test_reordered_pushes_are_those_that_come_after_a_later_one(self):
        story = Story("1.00", "2.00", "3.00").push(10, 2).push(20, 1).push(30, 3)
        self.assertEqual(story.counts()["reordered"], 1)

    def test_a_push_delivered_twice_is_neither_reordered_nor_dropped(self):
        figures = Story("1.00", "2.00").push(10, 1).push(20, 2).push(30, 1, request="again").counts()
        self.assertEqual((figures["reordered"], figures["dropped"]), (0, 0))


class HandOverTests(unittest.TestCase):
    def test_a_hand_over_after_25_s_is_late(self):
        for after, late in ((25_000, 0), (25_001, 1)):
            story = Story("1.00").push(100, 1).hand_over(101 + after, 1).sound(101 + after, 1)
            self.assertEqual(story.counts()["late"], late)

    def test_a_request_that_expired_is_late_once(self):
        story = Story("1.00").push(100, 1).add(30_600, "expired", request="r1", process=1, id="p1")
        self.assertEqual(story.counts()["late"], 1)
        self.assertEqual(story.hand_over(30_700, 1).counts()["late"], 1)

    def late(self, end, *stops, process=1):
        story = Story("1.00").push(100, 1).hand_over(end, 1).sound(end, 1)
        for stopped, resumed in stops:
            story.add(stopped, "suspended", process=process).add(resumed, "continued", process=process)
        figures = story.counts()
        return figures["late"], figures["late_by_suspensions"]

    def test_a_process_that_was_stopped_at_the_end_of_its_time_has_2_s_afterwards(self):
        self.assertEqual(self.late(28_000, (22_000, 27_000)), (0, 1))
        self.assertEqual(self.late(29_000, (22_000, 27_000)), (0, 1))
        self.assertEqual(self.late(29_001, (22_000, 27_000)), (1, 0))
        self.assertEqual(self.late(26_400, (22_000, 24_500)), (0, 1))
        self.assertEqual(self.late(29_500, (20_000, 24_500), (26_000, 28_000)), (0, 1))

    def test_a_stop_that_is_over_well_before_the_end_of_the_time_is_no_excuse(self):
        # The process was stopped for 5 s and then counted 23 s anew.
        self.assertEqual(self.late(29_500, (1_500, 6_500)), (1, 0))
        self.assertEqual(self.late(25_200, (15_000, 20_000)), (1, 0))
        self.assertEqual(self.late(28_000, (20_000, 23_000)), (1, 0))

    def test_a_stop_of_another_process_or_after_the_end_of_the_time_is_no_excuse(self):
        self.assertEqual(self.late(28_000, (22_000, 27_000), process=2), (1, 0))
        self.assertEqual(self.late(28_000, (25_200, 27_000)), (1, 0))
        self.assertEqual(self.late(28_000, (-9_000, -5_000)), (1, 0))

    def test_a_request_that_expired_is_late_though_its_process_was_stopped_for_a_while(self):
        story = Story("1.00").push(100, 1).add(30_600, "expired", request="r1", process=1, id="p1")
        story.add(20_000, "suspended", process=1).add(25_000, "continued", process=1)
        self.assertEqual(story.counts()["late"], 1)

    def test_two_hand_overs_of_one_request_are_counted(self):
        self.assertEqual(Story("1.00").heard(100, 1).hand_over(200, 1).counts()["handed_over_twice"], 1)
        self.assertEqual(Story("1.00", "2.00").heard(100, 1).hand_over(200, 2).counts()["handed_over_twice"], 0)

    def test_a_request_without_any_end_is_counted(self):
        self.assertEqual(Story("1.00").push(100, 1).counts()["never_handed_over"], 1)
        shown = Story("1.00").push(100, 1).add(500, "banner", ids=["p1"], request="r1", original="process ended")
        self.assertEqual(shown.counts()["never_handed_over"], 1)
        shown.add(400, "killed", process=1)
        self.assertEqual(shown.counts()["never_handed_over"], 0)

    def test_a_process_that_ends_by_itself_with_an_error_is_counted(self):
        for reason, status, crashed in (("by itself", -4, 1), ("by itself", 0, 0), ("idle", -9, 0)):
            story = Story("1.00").heard(100, 1)
            story.add(900, "process-ended", process=1, role="extension", reason=reason, status=status)
            self.assertEqual(story.counts()["crashed"], crashed)


class KillTests(unittest.TestCase):
    """What the phone shows of a killed process's pushes is no fault of the extension, and is counted separately."""

    def check(self, story, good=True, **expected):
        figures = story.counts()
        self.assertEqual({name: figures[name] for name in expected}, expected)
        self.assertEqual(counts.is_good(figures), good)

    def test_overlaps_with_the_sound_of_a_killed_process(self):
        story = Story("1.00", "2.00").heard(0, 1).push(10, 2, process=2).killed(500, 2, process=2, duration=5000)
        self.check(story, overlaps=0, overlaps_by_kills=1)
        story.sound(2100, 3, kind="tone")
        self.check(story, overlaps=0, overlaps_by_kills=2)

    def test_an_overlap_of_two_other_sounds_counts_also_while_that_of_a_killed_process_is_heard(self):
        story = Story("1.00", "2.00", "3.00").push(5, 1, process=2).killed(10, 1, process=2, duration=5000)
        self.check(story.heard(100, 2).heard(1000, 3), good=False, overlaps=1, overlaps_by_kills=1)

    def test_a_payment_that_the_phone_showed_with_another_sound_must_be_heard_later(self):
        story = Story("1.00").push(5, 1).killed(10, 1, kind="default")
        self.check(story, good=False, lost=0, lost_by_kills=1, heard=0)
        self.check(story.sound(3000, 1), lost=0, lost_by_kills=0, heard=1)

    def test_a_payment_heard_twice_by_the_extension_itself_counts(self):
        story = Story("1.00").push(5, 1).killed(10, 1).sound(3000, 1)
        self.check(story, twice=0, twice_by_kills=1)
        self.check(story.sound(6000, 1), good=False, twice=1, twice_by_kills=0)

    def test_a_sound_shown_out_of_order(self):
        story = Story("1.00", "2.00").push(5, 2).killed(10, 2).heard(3000, 1)
        self.check(story, out_of_order=0, out_of_order_by_kills=1)
        story = Story("1.00", "2.00").push(5, 1).heard(10, 2, process=2).killed(3000, 1)
        self.check(story, out_of_order=0, out_of_order_by_kills=1)

    def test_a_process_that_ends_by_itself_is_no_excuse(self):
        story = Story("1.00", "2.00").push(5, 1).heard(10, 2, process=2)
        shown = {"request": "r1", "original": "process ended"}
        story.add(500, "banner", ids=["p1"], **shown).sound(500, 1, kind="default", **shown)
        self.check(story, good=False, overlaps=1, lost=1, overlaps_by_kills=0, lost_by_kills=0)


class FigureTests(unittest.TestCase):
    def test_latency_is_from_the_answer_to_the_begin_of_the_sound(self):
        story = Story("1.00", "2.00").sound(1001, 1).sound(5002, 2)
        figures = story.counts()
        self.assertEqual((figures["p50_ms"], figures["p99_ms"]), (5000, 5000))
        self.assertIsNone(Story("1.00").counts()["p50_ms"])

    def test_processes_memory_and_faults_are_counted(self):
        story = Story()
        for number, reason in ((1, "memory"), (2, "idle"), (3, "killed")):
            story.add(0, "process-started", process=number, role="extension")
            story.add(9, "process-ended", process=number, role="extension", reason=reason, status=-9)
            story.add(10, "memory", process=number, role="extension", peak_dirty_kb=number * 1000)
        story.add(5, "killed", process=3).add(5, "suspended", process=2)
        figures = story.counts()
        self.assertEqual((figures["processes"], figures["killed_for_memory"], figures["killed"]), (3, 1, 1))
        self.assertEqual((figures["peak_dirty_kb"], figures["suspended"]), (3000, 1))

    def test_an_extension_may_use_20_mb_more_than_a_process_that_does_nothing(self):
        for peak, good in ((2_800 + 20_480, True), (2_801 + 20_480, False)):
            story = Story().add(9, "memory", process=1, role="extension", peak_dirty_kb=peak)
            empty = {"at": 0, "event": "empty-process", "phone": None, "dirty_kb": 2_800}
            figures = counts.counts([empty, *story.events])
            self.assertEqual((figures["empty_kb"], figures["above_empty_kb"]), (2_800, peak - 2_800))
            self.assertEqual(counts.is_good(figures), good)
        self.assertIsNone(counts.counts([])["above_empty_kb"])

    def test_a_process_with_the_largest_files_may_not_use_more_either(self):
        for most, good in ((2_800 + 20_480, True), (2_801 + 20_480, False)):
            events = [("empty-process", 2_800), ("largest-case", most)]
            events = [{"at": 0, "event": event, "phone": None, "dirty_kb": dirty} for event, dirty in events]
            figures = counts.counts([*events, *Story("1.00").heard(100, 1).events])
            self.assertEqual(figures["largest_case_above_empty_kb"], most - 2_800)
            self.assertEqual(counts.is_good(figures), good)

    def test_locks_of_suspended_processes_and_local_notifications_are_counted(self):
        story = Story().add(1, "idle-suspended", process=1).add(2, "idle-suspended", process=2)
        story.add(3, "local", identifier="a", ids=[], waiting=65).add(4, "local-dropped", identifier="b", ids=["p"])
        figures = story.counts()
        self.assertEqual((figures["idle_suspended"], figures["locked_when_suspended"]), (2, 0))
        self.assertEqual((figures["most_pending"], figures["dropped_locals"]), (65, 1))
        figures = story.add(5, "locked-when-suspended", process=2, files=["order.lock"]).counts()
        self.assertEqual((figures["locked_when_suspended"], counts.is_good(figures)), (1, False))

    def test_the_largest_delay_of_the_simulation_itself_is_told(self):
        events = [{"at": at, "event": "lag", "phone": None, "ms": ms} for at, ms in ((0, 12.5), (1, 80.0), (2, 11.0))]
        self.assertEqual(counts.counts(events)["lag_ms"], 80.0)
        self.assertEqual(counts.counts([])["lag_ms"], 0)

    def test_the_push_services_own_figures_are_kept(self):
        events = [{"at": 0, "event": "push-service", "phone": None, "counts": {"dropped": 3}}]
        self.assertEqual(counts.counts(events)["push_service"], {"dropped": 3})


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""What the simulated phone does with an extension that hands over, waits, dies or grows. The extension is a script."""

import asyncio
import dataclasses
import functools
import json
import pathlib
import sys
import tempfile
import time
import unittest
from unittest import mock

import faults
import phone as phones
from faults import Faults
from test_lookup import wav
from meter import Meter
from timeline import Timeline

# Does what the id of the announcement says.
EXTENSION = """
import fcntl, json, pathlib, sys
def say(**event):
    print(json.dumps(event), flush=True)
def hand_over(request, **more):
    say(event="hand-over", request=request, **({"sound": "clip.wav", "silent": None, "summary": None} | more))
say(event="ready")
kept, asked = [], {}
for line in sys.stdin:
    message = json.loads(line)
    request = message.get("request")
    if message["do"] == "catch-up":
        say(event="local", identifier="late", ids=["missed"], summary=None, sound="clip.wav", delay_ms=0)
        say(event="caught-up")
    elif message["do"] == "expire":
        if asked[request] == "answers":
            hand_over(request, sound="default")
    else:
        what = message["payload"]["crier"]["id"]
        asked[request] = what
        if what == "at once":
            hand_over(request)
        elif what == "twice":
            hand_over(request)
            hand_over(request)
        elif what == "silent":
            hand_over(request, sound=None, silent="inSummary")
        elif what == "hands over, and soon again locally":
            hand_over(request)
            say(event="local", identifier="one", ids=["a"], summary=None, sound="clip.wav", delay_ms=30)
        elif what == "dies":
            sys.exit(1)
        elif what == "grows":
            kept.append(bytearray(b"x") * (40 << 20))
        elif what == "locks":
            folder = pathlib.Path(json.loads(pathlib.Path(sys.argv[1]).read_text())["container"]) / "Library" / "Crier"
            folder.mkdir(exist_ok=True)
            kept.append(open(folder / "order.lock", "w"))
            fcntl.flock(kept[-1], fcntl.LOCK_EX)
            hand_over(request)
        elif what == "many locals":
            hand_over(request, sound=None)
            for number in range(70):
                say(event="local", identifier=str(number), ids=[str(number)], summary=None, sound="clip.wav",
                    delay_ms=600_000 - number * 1000)
        elif what == "locals":
            hand_over(request, sound=None)
            say(event="local", identifier="one", ids=["a"], summary=None, sound="clip.wav", delay_ms=60_000)
            say(event="local", identifier="one", ids=["b"], summary=None, sound="clip.wav", delay_ms=0)
"""


def push(what, sequence=1, **aps):
    aps = {"alert": {"title": "Received"}, "mutable-content": 1, "sound": "original.wav"} | aps
    return {"id": "push", "payload": {"aps": aps, "crier": {"id": what, "sequence": sequence}}}


class PhoneTests(unittest.IsolatedAsyncioTestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        (root / "extension.py").write_text(EXTENSION, encoding="utf-8")
        self.timeline = Timeline()
        extension = [sys.executable, "-S", "-E", str(root / "extension.py")]
        self.world = phones.World(root, extension, root, "http://127.0.0.1:1", self.timeline, Faults())
        self.phone = phones.Phone(self.world, "phone-1", "00" * 32, "key", "en-US", 1)
        sounds = self.phone.container / "Library" / "Sounds"
        (sounds / "clip.wav").write_bytes(wav(1600))
        (sounds / "original.wav").write_bytes(wav(800))

    async def asyncSetUp(self):
        # A slow callback is not a fault here, but asyncio would report it.
        asyncio.get_running_loop().slow_callback_duration = 60

    async def asyncTearDown(self):
        self.phone.switch_off()
        await self.until(lambda: not self.phone.processes)

    def events(self, *names):
        return [event for event in self.timeline.events if event["event"] in names]

    async def until(self, holds):
        async with asyncio.timeout(20):
            while not holds():
                await asyncio.sleep(0.005)

    async def after(self, what, event, count=1, **aps):
        self.phone.deliver(push(what, **aps))
        await self.until(lambda: len(self.events(event)) >= count)

    async def test_a_hand_over_shows_the_banner_and_plays_the_sound_for_its_length(self):
        await self.after("at once", "sound-ends")
        begin, end = self.events("sound-begins")[0], self.events("sound-ends")[0]
        self.assertEqual((begin["ids"], begin["name"], begin["kind"]), (["at once"], "clip.wav", "clip"))
        self.assertEqual(begin["duration_ms"], 200)
        self.assertGreaterEqual(end["at"] - begin["at"], 199)

    async def test_only_the_first_hand_over_has_an_effect(self):
        await self.after("twice", "hand-over", count=2)
        self.assertEqual([event["accepted"] for event in self.events("hand-over")], [True, False])
        self.assertEqual(len(self.events("banner")), 1)

    async def test_a_silent_hand_over_shows_a_banner_without_a_sound(self):
        await self.after("silent", "banner")
        self.assertEqual(self.events("sound-begins"), [])

    async def test_a_push_without_mutable_content_is_played_as_it_came(self):
        await self.after("at once", "banner", **{"mutable-content": 0})
        self.assertEqual(self.events("sound-begins")[0]["name"], "original.wav")
        self.assertEqual(self.events("process-started"), [])

    async def test_an_expired_request_is_told_and_may_still_answer(self):
        with mock.patch.object(phones, "EXPIRY_SECONDS", 0.5), mock.patch.object(phones, "GRACE_SECONDS", 5):
            await self.after("answers", "hand-over")
        self.assertEqual(len(self.events("expiring")), 1)
        self.assertEqual(self.events("expired"), [])
        self.assertEqual(self.events("sound-begins")[0]["kind"], "default")

    async def test_a_request_that_stays_open_is_shown_as_it_came_and_its_process_is_killed(self):
        with mock.patch.object(phones, "EXPIRY_SECONDS", 0.5), mock.patch.object(phones, "GRACE_SECONDS", 0.1):
            await self.after("waits", "process-ended")
        self.assertEqual(self.events("sound-begins")[0]["name"], "original.wav")
        self.assertEqual(self.events("process-ended")[0]["reason"], "expired")
        self.assertEqual(len(self.events("banner")), 1)

    async def test_the_open_requests_of_a_process_that_dies_are_shown_as_they_came(self):
        with mock.patch.object(phones, "OTHER_PROCESS_RATE", 0):
            self.phone.deliver(push("waits"))
            await self.after("dies", "banner", count=2)
        self.assertEqual({event["original"] for event in self.events("banner")}, {"process ended"})
        self.assertEqual(len(self.events("sound-begins")), 2)

    async def test_a_process_that_uses_too_much_memory_is_killed(self):
        meter = Meter()
        await meter.start()
        self.phone.world = dataclasses.replace(self.world, meter=meter)
        await self.after("grows", "memory")
        await self.until(lambda: self.events("process-ended"))
        self.assertEqual(self.events("process-ended")[0]["reason"], "memory")
        self.assertGreater(self.events("memory")[0]["peak_dirty_kb"], phones.MEMORY_LIMIT_KB)
        await meter.stop()

    async def test_an_idle_process_is_killed(self):
        with mock.patch.object(phones, "IDLE_SECONDS", (0.05, 0.05)):
            await self.after("at once", "process-ended")
        self.assertEqual(self.events("process-ended")[0]["reason"], "idle")

    async def test_a_process_without_an_open_request_is_suspended_until_its_next_push(self):
        with mock.patch.object(phones, "OTHER_PROCESS_RATE", 0), mock.patch.object(phones, "IDLE_SECONDS", (60, 60)):
            await self.after("at once", "idle-suspended")
            process = self.phone.processes[0]
            self.assertEqual(process.held_locks(self.phone.container), [])
            self.assertTrue(process.is_stopped)
            await self.after("at once", "hand-over", count=2, sequence=2)
        self.assertEqual(len(self.events("process-started")), 1)
        self.assertEqual(len(self.events("idle-continued")), 1)
        self.assertEqual(self.events("locked-when-suspended"), [])

    async def test_a_process_with_an_open_request_is_not_suspended(self):
        with mock.patch.multiple(phones, OTHER_PROCESS_RATE=0, SUSPENSION_SECONDS=(0, 0)):
            self.phone.deliver(push("waits"))
            await self.after("at once", "sound-ends", sequence=2)
        self.assertEqual(self.events("idle-suspended"), [])

    async def test_a_push_before_the_suspension_keeps_the_process_running(self):
        patches = {"OTHER_PROCESS_RATE": 0, "SUSPENSION_SECONDS": (0.3, 0.3), "IDLE_SECONDS": (0.6, 0.6)}
        with mock.patch.multiple(phones, **patches):
            await self.after("at once", "hand-over")
            await self.after("waits", "handed-to-process", count=2, sequence=2)
            await asyncio.sleep(0.8)
        self.assertEqual(self.events("idle-suspended") + self.events("process-ended"), [])

    async def test_a_process_that_holds_a_lock_when_it_is_suspended_is_ended(self):
        await self.after("locks", "process-ended")
        self.assertEqual(self.events("locked-when-suspended")[0]["files"], ["Library/Crier/order.lock"])
        self.assertEqual(self.events("process-ended")[0]["reason"], "lock")

    async def test_the_end_of_a_fault_does_not_wake_a_suspended_process(self):
        with mock.patch.object(phones, "IDLE_SECONDS", (60, 60)):
            await self.after("at once", "idle-suspended")
            process = self.phone.processes[0]
            process.suspend("fault")
            process.resume("fault")
            self.assertTrue(process.is_stopped)

    async def test_a_killed_idle_process_ends_though_it_is_suspended(self):
        with mock.patch.multiple(phones, SUSPENSION_SECONDS=(0, 0), IDLE_SECONDS=(0.3, 0.3)):
            await self.after("at once", "process-ended")
        self.assertEqual(len(self.events("idle-suspended")), 1)

    async def test_the_soonest_64_local_notifications_wait_and_the_others_are_dropped(self):
        await self.after("many locals", "local", count=70)
        self.assertEqual(self.phone.pending.waiting, 64)
        self.assertEqual([event["identifier"] for event in self.events("local-dropped")], list("012345"))
        self.assertEqual(max(event["waiting"] for event in self.events("local")), 65)

    async def test_a_local_notification_replaces_a_waiting_one_with_its_identifier(self):
        await self.after("locals", "sound-begins")
        self.assertEqual([event["ids"] for event in self.events("sound-begins")], [["b"]])
        self.assertEqual(len(self.phone.pending), 0)

    async def test_delays_of_the_simulation_move_no_sound(self):
        await self.after("at once", "hand-over")
        begun = self.timeline.now()
        self.phone.deliver(push("hands over, and soon again locally", sequence=2))
        await asyncio.sleep(0)
        # The event loop stands still, and the extension and the clock do not.
        time.sleep(0.5)
        ended = self.timeline.now()
        await self.until(lambda: len(self.events("sound-ends")) == 3)
        _, first, second = self.events("sound-begins")
        handed = self.events("hand-over")[1]["at"]
        self.assertTrue(begun <= handed < ended - 100, (begun, handed, ended))
        self.assertEqual(first["at"], handed)
        self.assertAlmostEqual(second["at"], self.events("local")[0]["at"] + 30, delta=0.2)
        self.assertLess(second["at"], ended - 100)
        ends = [event["at"] for event in self.events("sound-ends")]
        self.assertAlmostEqual(ends[1], handed + 200, delta=0.2)

    async def test_everything_is_done_in_the_order_of_its_time_though_the_simulation_comes_to_it_later(self):
        now = self.timeline.now()
        handed = {"event": "hand-over", "sound": "clip.wav"}
        requests = []
        for number, (name, written) in enumerate((("late", -5), ("in time", -15)), 1):
            process = mock.Mock(number=number, role="extension", open={}, ended_at=None)
            process.lines.return_value = [(now + written, handed | {"request": name})]
            request = phones.Request(name, push(name)["payload"], process)
            requests.append(request)
            process.open[name] = self.phone.requests[name] = request
            self.phone.processes.append(process)
        for request in requests:
            self.phone.agenda.add(now - 10, functools.partial(self.phone._give_up, request))
        self.phone._read()
        self.phone.processes.clear()
        told = [(event["event"], event["id"], event["at"]) for event in self.events("expired", "hand-over")]
        self.assertEqual(
            told, [("hand-over", "in time", now - 15), ("expired", "late", now - 10), ("hand-over", "late", now - 5)]
        )
        self.assertEqual([event["accepted"] for event in self.events("hand-over")], [True, False])
        self.assertEqual([event["at"] for event in self.events("sound-begins")], [now - 15, now - 10])

    async def test_a_process_is_stopped_at_any_time_until_20_s_after_the_push_and_continued_in_time(self):
        self.assertEqual(faults.STOP_AFTER_SECONDS, (0, 20))
        self.assertLess(faults.CONTINUED_AFTER_SECONDS, phones.EXPIRY_SECONDS)
        self.phone.disturbance = faults.Disturbance(self.phone, Faults(suspend=1))
        patches = {"STOP_AFTER_SECONDS": (0.1, 0.1), "STOP_SECONDS": (60, 60), "CONTINUED_AFTER_SECONDS": 0.5}
        with mock.patch.multiple(faults, **patches):
            await self.after("waits", "continued")
        names = "handed-to-process", "suspended", "continued"
        given, stopped, continued = (self.events(name)[0]["at"] for name in names)
        self.assertTrue(90 <= stopped - given <= 450, stopped - given)
        self.assertGreaterEqual(continued - given, 490)

    async def test_a_process_whose_push_is_too_old_is_not_stopped_any_more(self):
        self.phone.disturbance = faults.Disturbance(self.phone, Faults(suspend=1))
        with mock.patch.multiple(faults, STOP_AFTER_SECONDS=(0.2, 0.2), CONTINUED_AFTER_SECONDS=0.3):
            self.phone.deliver(push("waits"))
            await asyncio.sleep(0.4)
        self.assertEqual(self.events("suspended"), [])

    async def test_at_most_three_processes_run(self):
        with mock.patch.object(phones, "OTHER_PROCESS_RATE", 1):
            for number in range(10):
                self.phone.deliver(push("waits", sequence=number))
        self.assertEqual(len(self.events("process-started")), 3)

    async def test_the_app_catches_up_and_ends(self):
        self.phone.open_app()
        await self.until(lambda: self.events("process-ended"))
        self.assertEqual([event["ids"] for event in self.events("sound-begins")], [["missed"]])
        self.assertEqual(self.events("process-ended")[0]["reason"], "by itself")

    async def test_the_configuration_tells_the_extension_where_everything_is(self):
        settings = json.loads(self.phone.config.read_text(encoding="utf-8"))
        self.assertEqual(settings["container"], str(self.phone.container))
        self.assertEqual((settings["device"], settings["key"], settings["last_sequence"]), ("phone-1", "key", 0))


if __name__ == "__main__":
    unittest.main()

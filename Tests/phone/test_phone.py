# SPDX-License-Identifier: Apache-2.0
"""What the simulated phone does with an extension that hands over, waits, dies or grows. The extension is a script."""

import asyncio
import json
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

import phone as phones
from test_lookup import wav
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
        world = phones.World(root, extension, root, "http://127.0.0.1:1", self.timeline, phones.Faults())
        self.phone = phones.Phone(world, "phone-1", "00" * 32, "key", "en-US", 1)
        sounds = self.phone.container / "Library" / "Sounds"
        (sounds / "clip.wav").write_bytes(wav(1600))
        (sounds / "original.wav").write_bytes(wav(800))

    async def asyncTearDown(self):
        self.phone.switch_off()
        await self.until(lambda: not self.phone.processes)

    def events(self, name):
        return [event for event in self.timeline.events if event["event"] == name]

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
        self.phone.deliver(push("grows"))

        while not self.events("process-ended"):
            await self.phone.watch_memory()
        self.assertEqual(self.events("process-ended")[0]["reason"], "memory")
        self.assertGreater(self.events("process-ended")[0]["peak_dirty_kb"], phones.MEMORY_LIMIT_KB)

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
            self.assertGreater(process.measure(), 0)
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

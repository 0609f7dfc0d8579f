# SPDX-License-Identifier: Apache-2.0
"""Runs payments from end to end: the real service, a simulated push service, and simulated phones that hear them.

Progress goes to standard error. The last line of standard output is one JSON object with the counts (`--json`), or the
counts are a table. Exit status: 0 the phones heard everything in order, and only once; 1 they did not; 69 the run could
not be made. With a recipe other than `kit`, the status is 0 if sounds overlapped or payments were lost, and 1 if not.
"""

import argparse
import asyncio
import concurrent.futures
import gc
import json
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "service"))

import counts
import hearing
import largest
import payments
import sounds
import stage
from client import Lost, post
from harness import ROOT, Unusable, end_on_signals, progress
from faults import Faults
from meter import Meter
from phone import Phone, World
from processes import measure_empty, use_quiet_child_watcher
from pushes import PushService
from timeline import Timeline
from words import Recordings

RECIPES = ("kit", "fixed-name", "at-once", "serial-queue")
POSTERS = 8
# The longest time to wait until all phones are quiet.
QUIET_LIMIT_SECONDS = 600
# The interval at which the clock of the simulation is read, in seconds, and the shortest delay that is recorded, in ms.
LAG_INTERVAL = 0.02
LEAST_LAG_MS = 10
PRIORITY = 5
# The longest time for which one thread of the simulation keeps the others waiting, in seconds.
SWITCH_SECONDS = 0.001
# One of so many phones has a default.wav in the container of the group.
OWN_DEFAULT_EVERY = 4


class Run:
    def __init__(self, options, folder):
        self.options = options
        self.folder = folder
        self.timeline = Timeline()
        self.phones = {}
        self.refused = []
        self.unknown = 0
        self.kept = hearing.Kept(folder / "heard")
        self.meter = Meter()
        self.posting = threading.local()
        self.crier = stage.program(options.build / "crier")
        stage.program(options.build / "speaker")
        self.push_service = options.push_service or stage.program(options.build / "simulated-push-service")
        if options.recipe == "kit":
            self.extension = [options.extension or stage.program(options.build / "notification-extension")]
        else:
            recipes = str(pathlib.Path(__file__).with_name("recipes.py"))
            self.extension = [sys.executable, "-S", "-E", recipes, options.recipe]

    async def run(self):
        use_quiet_child_watcher()
        await self.meter.start()
        options = self.options
        voices = stage.voice_packs(self.crier, self.folder)
        command = [self.push_service, "--ca", str(self.folder / "ca.pem"), "--reorder", str(options.reorder)]
        command += ["--drop", str(options.drop), "--seed", str(options.seed)]
        pushes = PushService(command, self.folder / "push-service.log", self.deliver)
        network = service = None
        try:
            await pushes.start()
            # The network needs the service's port and the service needs the network's, so the service chooses first.
            service = stage.service(self.crier, self.folder, voices, pushes.port, 0)
            network, port = stage.start_network(service.port, options.download_faults, options.seed)
            settings = service.home / "crier.yaml"
            text = settings.read_text(encoding="utf-8")
            settings.write_text(text.replace("127.0.0.1:0", f"127.0.0.1:{port}"), encoding="utf-8")
            await asyncio.to_thread(service.start)
            if options.recipe == "kit":
                dirty = await measure_empty([*self.extension, "empty"], self.folder / "empty.log")
                self.timeline.record("empty-process", dirty_kb=dirty)
                progress("the largest files are sent to one process")
                dirty = await largest.measure(self.extension, self.folder / "largest", self.timeline, self.meter)
                self.timeline.record("largest-case", dirty_kb=dirty)
            self.make_phones(service, voices, port)
            await self.live(service, pushes)
            await pushes.finish()
            self.timeline.record("push-service", counts=pushes.counts)
            await self.meter.stop()
            self.timeline.record("memory-gaps", p99_ms=self.meter.gaps[0], most_ms=self.meter.gaps[1])
            await asyncio.to_thread(self.number, service)
            progress("the sounds are compared with those of the service")
            await asyncio.to_thread(self.listen, stage.service_sounds(service), voices)
        finally:
            for phone in self.phones.values():
                phone.switch_off()
            pushes.stop()
            if network is not None:
                network.terminate()
                network.wait(10)
            if service is not None and service.is_running:
                await asyncio.to_thread(service.terminate)
            await asyncio.sleep(0.2)
        if self.refused:
            raise Unusable(f"The service refused {len(self.refused)} payments: {self.refused[0]}")

    def make_phones(self, service, voices, port):
        world = World(
            folder=self.folder,
            extension=self.extension,
            templates=ROOT / "Templates",
            service_url=f"http://127.0.0.1:{port}",
            timeline=self.timeline,
            faults=Faults(self.options.kill, self.options.suspend),
            kept=self.kept,
            phrases=stage.recordings(voices),
            meter=self.meter,
            prefix=raise_priority(),
        )
        for number, device in enumerate(stage.register(service, self.options.phones, self.options.seed)):
            seed = f"{self.options.seed}/{device.name}/phone"
            pack = stage.PACKS[device.locale] if device.has_pack else None
            container = self.folder / "containers" / device.name
            if number % OWN_DEFAULT_EVERY == OWN_DEFAULT_EVERY - 1:
                sounds.write_default_sound(container)
            phone = Phone(world, device.name, device.token, device.key, device.locale, seed, pack)
            if pack:
                stage.copy_pack(voices, pack, phone.container / "Library" / "Crier" / "Voices")
            self.phones[device.token] = phone

    def deliver(self, delivery):
        phone = self.phones.get(delivery["device"])
        if phone is None:
            self.unknown += 1
        elif delivery.get("type", "alert") == "alert":
            phone.deliver(delivery)

    # The run

    async def live(self, service, pushes):
        """Makes all payments, waits until they were heard, and opens the apps at the end."""
        loop = asyncio.get_running_loop()
        start = loop.time() + 1
        posts, away = [], []
        count, more = divmod(self.options.payments, len(self.phones))
        with concurrent.futures.ThreadPoolExecutor(POSTERS) as posters:
            for number, phone in enumerate(self.phones.values()):
                plan = payments.plan(self.options.seed, phone.device, phone.locale, count + (number < more))
                posts += [self.post_at(start, posters, service, payment) for payment in plan]
                last = max((payment.at for payment in plan), default=0)
                for off, on in payments.absences(self.options.seed, phone.device, last):
                    away.append(loop.call_at(start + off, self.set_online, pushes, phone, False))
                    away.append(loop.call_at(start + on, self.set_online, pushes, phone, True))
            watch = asyncio.gather(self.watch(), self.watch_clock())
            try:
                await asyncio.gather(*posts)
                progress("all payments are made")
                await self.quiet()
                for timer in away:
                    timer.cancel()
                for phone in self.phones.values():
                    if not phone.is_online:
                        self.set_online(pushes, phone, True)
                await asyncio.sleep(1)
                await self.quiet()
                progress("the apps are opened")
                for phone in self.phones.values():
                    phone.open_app()
                    await asyncio.sleep(0.05)
                await self.quiet()
            finally:
                watch.cancel()
                await asyncio.gather(watch, return_exceptions=True)

    def set_online(self, pushes, phone, online):
        phone.is_online = online
        phone.record("online" if online else "offline")
        pushes.set_online(phone.token, online)

    async def post_at(self, start, posters, service, payment):
        loop = asyncio.get_running_loop()
        await asyncio.sleep(max(0, start + payment.at - loop.time()))
        await loop.run_in_executor(posters, self.post, service, payment)

    def post(self, service, payment):
        body = {"id": payment.id, "amount": payment.amount, "currency": payment.currency}
        body |= {"deliver": ["push"], "device": payment.device}
        if payment.locale:
            body["locale"] = payment.locale
        sent = self.timeline.now()
        for attempt in range(20):
            try:
                if not hasattr(self.posting, "connection"):
                    self.posting.connection = service.connect()
                answer = post(self.posting.connection, body)
            except (OSError, Lost) as error:
                reason = str(error)
            else:
                if answer.status in (200, 201):
                    break
                reason = answer.body[:300]
                if answer.status not in (429, 503):
                    self.refused.append(reason)
                    return
            time.sleep(0.05 * (attempt + 1))
        else:
            self.refused.append(reason)
            return
        self.timeline.record(
            "posted",
            payment.device,
            id=payment.id,
            amount=payment.amount,
            currency=payment.currency,
            locale=payment.locale,
            sent_at=sent,
        )

    async def watch(self):
        """Tells the progress every ten seconds."""
        while True:
            self.tell()
            await asyncio.sleep(10)

    async def watch_clock(self):
        """Records when the simulation itself was late, which delays payments and pushes, but no counts."""
        loop = asyncio.get_running_loop()
        while True:
            before = loop.time()
            await asyncio.sleep(LAG_INTERVAL)
            late = (loop.time() - before - LAG_INTERVAL) * 1000
            if late >= LEAST_LAG_MS:
                self.timeline.record("lag", ms=round(late, 1))

    def tell(self):
        seen = self.timeline.seen
        running = sum(len(phone.processes) for phone in self.phones.values())
        progress(
            f"{seen['posted']} of {self.options.payments} payments posted, {seen['delivered']} pushes delivered, "
            f"{seen['hand-over']} handed over, {seen['sound-begins']} sounds, "
            f"{running} processes"
        )

    async def quiet(self):
        """Waits until no phone has anything open, sounding or running."""
        loop = asyncio.get_running_loop()
        limit = loop.time() + QUIET_LIMIT_SECONDS
        await asyncio.sleep(2)
        while busy := [phone for phone in self.phones.values() if phone.processes or not phone.is_quiet]:
            if loop.time() > limit:
                progress(f"{busy[0].device} and {len(busy) - 1} other phones did not become quiet")
                return
            await asyncio.sleep(0.25)

    def number(self, service):
        for phone in self.phones.values():
            for entry in stage.numbered(service, phone.device):
                clip = entry["payload"]["crier"].get("clip", {})
                self.timeline.record(
                    "numbered",
                    phone.device,
                    id=entry.get("id"),
                    sequence=entry["sequence"],
                    clip=clip.get("name"),
                    clip_sha256=clip.get("sha256"),
                )

    def listen(self, service_sounds, voices):
        recordings = Recordings([voices / name for name in stage.PACKS.values()])
        hearing.listen(self.timeline.events, self.kept, service_sounds, recordings)


def raise_priority():
    """Lets the simulation run before all others, if that is allowed, so that it sees a hand-over at once.

    Returns what must stand before the command of a process that does not get this priority.
    """
    try:
        os.setpriority(os.PRIO_PROCESS, 0, os.getpriority(os.PRIO_PROCESS, 0) - PRIORITY)
    except OSError:
        return ()
    return ("nice", "-n", str(PRIORITY))


def arguments():
    parser = argparse.ArgumentParser(prog="simulate-phone", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1, help="decides everything that is random (default: 1)")
    parser.add_argument("--payments", type=int, default=300, help="the number of payments (default: 300)")
    parser.add_argument("--phones", type=int, help="the number of phones (default: one for 50 payments, 2 to 100)")
    parser.add_argument("--reorder", type=float, default=0.05, help="share of reordered pushes (default: 0.05)")
    parser.add_argument("--drop", type=float, default=0.02, help="share of dropped pushes (default: 0.02)")
    parser.add_argument("--download-faults", type=float, default=0.05, help="share of bad downloads (default: 0.05)")
    parser.add_argument("--kill", type=float, default=0, help="share of pushes after which a process is killed")
    parser.add_argument("--suspend", type=float, default=0, help="share of pushes after which a process is suspended")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / ".build" / "release", help="the built programs")
    parser.add_argument("--recipe", choices=RECIPES, default="kit", help="which extension runs (default: kit)")
    parser.add_argument("--extension", help="another program than BUILD/notification-extension")
    parser.add_argument("--push-service", help="another program than BUILD/simulated-push-service")
    parser.add_argument("--picture", type=pathlib.Path, help="draws a part of the timeline into this SVG file")
    parser.add_argument("--timeline", type=pathlib.Path, help="writes all events into this file, as lines of JSON")
    parser.add_argument("--json", action="store_true", help="prints the counts as one line of JSON")
    parser.add_argument("--keep", action="store_true", help="keeps the folder with all files of the run")
    options = parser.parse_args()
    options.phones = options.phones or max(2, min(100, options.payments // 50))
    return options


def main():
    options = arguments()
    end_on_signals()
    sys.setswitchinterval(SWITCH_SECONDS)
    # The events of a run are kept anyway, and a collection among all of them takes long.
    gc.disable()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="crier-phone-"))
    try:
        run = Run(options, folder)
        asyncio.run(run.run())
    except (Unusable, RuntimeError, TimeoutError) as error:
        progress(f"simulate-phone: {error}")
        return 69
    finally:
        if options.keep:
            progress(f"kept: {folder}")
        else:
            shutil.rmtree(folder, ignore_errors=True)
    if options.timeline:
        run.timeline.write(options.timeline)
    figures = counts.counts(run.timeline.events)
    if options.picture:
        import drawing

        options.picture.write_text(drawing.draw(run.timeline.events), encoding="utf-8")
    if options.json:
        print(json.dumps(figures), flush=True)
    else:
        for name, value in figures.items():
            print(f"{name:20} {value}")
    if options.recipe != "kit":
        return 0 if counts.has_faults_of_recipes(figures) else 1
    # Without a measurement, nobody knows whether the memory is within its limit.
    return 0 if counts.is_good(figures) and figures["above_empty_kb"] is not None else 1


if __name__ == "__main__":
    sys.exit(main())

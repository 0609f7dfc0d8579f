# SPDX-License-Identifier: Apache-2.0
"""A simulated phone: pushes go in, banners and sounds come out, and the extension's processes are real ones.

The phone does what iOS is known to do, as docs/simulated-phone.md says. It runs in real time.
"""

import asyncio
import dataclasses
import hashlib
import json
import pathlib
import random
import uuid

from agenda import Agenda
from faults import Disturbance, Faults
from lookup import Places, sound_for
from pending import Pending
from processes import PhoneProcess

# iOS calls serviceExtensionTimeWillExpire after about 30 s, and shows the original content if that does not help.
EXPIRY_SECONDS = 30.0
GRACE_SECONDS = 0.5
# iOS ends an extension that uses more memory than this.
MEMORY_LIMIT_KB = 24 * 1024
PROCESSES_AT_ONCE = 3
OTHER_PROCESS_RATE = 0.2
# The seconds without work after which a process is ended.
IDLE_SECONDS = (2.0, 8.0)
# The seconds without an open request after which a process is suspended (assumed).
SUSPENSION_SECONDS = (0.0, 0.1)


@dataclasses.dataclass(frozen=True)
class World:
    """What all phones share."""

    folder: pathlib.Path
    extension: list
    templates: pathlib.Path
    service_url: str
    timeline: object
    faults: Faults
    # Keeps the clips that were played (`hearing.Kept`), to listen to them at the end; None if nobody will.
    kept: object | None = None
    # The digests of the recordings in voice packs.
    phrases: frozenset = frozenset()
    # Measures the memory of the processes (`meter.Meter`); None if nobody does.
    meter: object | None = None
    # The words before the extension's command, such as a command that sets the priority.
    prefix: tuple = ()


@dataclasses.dataclass
class Request:
    """A push that a process works on. It is open until it is handed over, or shown as it came."""

    identifier: str
    payload: dict
    process: PhoneProcess
    given_at: float = 0.0
    is_open: bool = True
    timer: object | None = None

    @property
    def id(self):
        return self.payload.get("crier", {}).get("id")


class Phone:
    def __init__(self, world, device, token, key, locale, seed, pack=None):
        self.world = world
        self.device = device
        self.token = token
        self.locale = locale
        self.pack = pack
        self.is_online = True
        self.random = random.Random(seed)
        self.container = world.folder / "containers" / device
        self.places = Places(world.folder / "apps" / device, (self.container,), world.folder / "bundle")
        for folder in self.places.folders():
            folder.mkdir(parents=True, exist_ok=True)
        # The sounds that the phone itself brings along.
        self.tones = {_digest(path) for folder in self.places.folders() for path in folder.iterdir()}
        self.requests = {}
        self.processes = []
        self.sounding = set()
        self.agenda = Agenda(world.timeline, self._read)
        self.pending = Pending(self.agenda, self._show_local)
        self.disturbance = Disturbance(self, world.faults)
        self.last_event = world.timeline.now()
        self._process_numbers = 0
        self._sound_numbers = 0
        self.config = world.folder / "configs" / f"{device}.json"
        self.config.parent.mkdir(exist_ok=True)
        settings = {
            "container": str(self.container),
            "templates": str(world.templates),
            "service": world.service_url,
            "device": device,
            "key": key,
            "group": "group.crier",
            # The number that the service told when the device was registered.
            "last_sequence": 0,
        }
        self.config.write_text(json.dumps(settings), encoding="utf-8")
        self.config.chmod(0o600)

    def record(self, event, **details):
        entry = self.world.timeline.record(event, self.device, **details)
        self.last_event = entry["at"]
        return entry

    @property
    def is_quiet(self):
        """Whether nothing is open, sounds, or is going to be shown."""
        return not (self.sounding or self.pending or any(process.open for process in self.processes))

    # Pushes

    def deliver(self, delivery):
        """Takes a push from the push service."""
        payload = delivery["payload"]
        crier, aps = payload.get("crier", {}), payload.get("aps", {})
        self.record(
            "delivered",
            push=delivery["id"],
            id=crier.get("id"),
            sequence=crier.get("sequence"),
            accepted_ms=delivery.get("accepted_ms"),
            delivered_ms=delivery.get("delivered_ms"),
        )
        if "alert" not in aps:
            return
        if aps.get("mutable-content") != 1 or not crier:
            self._show([crier.get("id")] if crier else [], _sound_name(aps), original="no extension")
            return
        process = self._choose_process()
        request = Request(str(uuid.UUID(int=self.random.getrandbits(128), version=4)).upper(), payload, process)
        self.requests[request.identifier] = process.open[request.identifier] = request
        self._wake(process)
        given = self.record(
            "handed-to-process",
            request=request.identifier,
            process=process.number,
            id=request.id,
            sequence=crier.get("sequence"),
        )
        process.send({"do": "push", "request": request.identifier, "payload": payload})
        request.given_at = given["at"]
        request.timer = self.agenda.add(given["at"] + EXPIRY_SECONDS * 1000, lambda at: self._expire(request, at))
        self.disturbance.after_push(process)

    def _choose_process(self):
        running = [process for process in self.processes if process.role == "extension" and not process.reason]
        if not running:
            return self._start("extension")
        if self.random.random() >= OTHER_PROCESS_RATE:
            return running[0]
        if len(running) < PROCESSES_AT_ONCE:
            return self._start("extension")
        return self.random.choice(running[1:])

    def _start(self, role):
        self._process_numbers += 1
        self.record("process-started", process=self._process_numbers, role=role)
        log = self.world.folder / "logs" / f"{self.device}.log"
        log.parent.mkdir(exist_ok=True)
        command = [*self.world.prefix, *self.world.extension, str(self.config)]
        told = {"meter": self.world.meter, "on_memory": self._on_memory}
        process = PhoneProcess(
            self._process_numbers, role, command, log, self.world.timeline, self._read, self._on_end, **told
        )
        self.processes.append(process)
        return process

    def _expire(self, request, at):
        if not request.is_open:
            return
        self.record("expiring", request=request.identifier, process=request.process.number, id=request.id)
        request.process.send({"do": "expire", "request": request.identifier})
        request.timer = self.agenda.add(at + GRACE_SECONDS * 1000, lambda end: self._give_up(request, end))

    def _give_up(self, request, at):
        if not request.is_open:
            return
        self.record("expired", at=at, request=request.identifier, process=request.process.number, id=request.id)
        self._show_original(request, "expired", at)
        request.process.end("expired")

    def _show_original(self, request, why, at):
        self._close(request)
        self._show([request.id], _sound_name(request.payload["aps"]), at, request=request.identifier, original=why)

    def _close(self, request):
        request.is_open = False
        if request.timer:
            request.timer.cancel()
        request.process.open.pop(request.identifier, None)

    # Processes

    def _read(self):
        """Reads what all processes wrote, and does everything in the order of its time."""
        lines = [(at, process, line) for process in list(self.processes) for at, line in process.lines()]
        for at, process, line in sorted(lines, key=lambda line: line[0]):
            self.agenda.run(at)
            self._on_line(process, line, at)

    def _on_line(self, process, line, at):
        kind = line.get("event")
        if kind == "ready":
            process.is_ready = True
            self.record("process-ready", at=at, process=process.number)
        elif kind == "hand-over":
            self._hand_over(process, line, at)
        elif kind == "local":
            self._add_local(process, line, at)
        elif kind == "caught-up":
            self.record("caught-up", at=at, process=process.number)
            if process.role == "app":
                process.close_input()
        else:
            self.record("unknown-line", at=at, process=process.number, line=line)

    def _hand_over(self, process, line, at):
        request = self.requests.get(line.get("request"))
        # Only the first hand-over of a request that is still open has an effect, as on iOS.
        accepted = request is not None and request.is_open and request.process is process
        self.record(
            "hand-over",
            at=at,
            request=line.get("request"),
            process=process.number,
            id=request.id if request else None,
            sound=line.get("sound"),
            silent=line.get("silent"),
            summary=line.get("summary"),
            title=line.get("title"),
            attachments=len(line.get("attachments") or []),
            accepted=accepted,
        )
        if not accepted:
            return
        self._close(request)
        self._show([request.id], line.get("sound"), at, summary=line.get("summary"), request=request.identifier)
        self._watch_idle(process)

    def _add_local(self, process, line, at):
        added = self.record(
            "local",
            at=at,
            identifier=line.get("identifier"),
            process=process.number,
            ids=line.get("ids") or [],
            sound=line.get("sound"),
            summary=line.get("summary"),
            delay_ms=line.get("delay_ms") or 0,
        )
        dropped = self.pending.add(line.get("identifier"), at, line.get("delay_ms") or 0, line)
        added["waiting"] = self.pending.waiting + len(dropped)
        for identifier, other in dropped:
            self.record("local-dropped", at=at, identifier=identifier, ids=other.get("ids") or [])

    def _show_local(self, line, at):
        self._show(
            line.get("ids") or [],
            line.get("sound"),
            at,
            summary=line.get("summary"),
            identifier=line.get("identifier"),
        )

    def _on_end(self, process, status):
        self.processes.remove(process)
        process.cancel_timers()
        ended = self.record(
            "process-ended",
            at=process.ended_at,
            process=process.number,
            role=process.role,
            reason=process.reason or "by itself",
            status=status,
        )
        for request in list(process.open.values()):
            self._show_original(request, "process ended", ended["at"])
        if process.lock_check:
            process.lock_check.cancel()

    def _watch_idle(self, process):
        if process.role != "extension" or process.open:
            return
        process.cancel_timers()
        loop = asyncio.get_running_loop()
        process.idle_timer = loop.call_later(self.random.uniform(*IDLE_SECONDS), process.end, "idle")
        process.sleep_timer = loop.call_later(self.random.uniform(*SUSPENSION_SECONDS), self._sleep, process)

    def _sleep(self, process):
        """Suspends a process that has nothing to do, as iOS does, and ends it if it holds a lock in the container."""
        if not process.is_running or process.reason or process.open:
            return
        self.record("idle-suspended", process=process.number)
        process.suspend("idle")
        process.lock_check = asyncio.ensure_future(self._check_locks(process))

    async def _check_locks(self, process):
        files = await asyncio.to_thread(process.held_locks, self.container)
        if files and not process.reason:
            # iOS ends such a process with the exception code 0xdead10cc.
            self.record("locked-when-suspended", process=process.number, files=files)
            process.end("lock")

    def _wake(self, process):
        process.cancel_timers()
        if "idle" in process.stops:
            # A process that was continued may hold locks again.
            process.lock_check.cancel()
            self.record("idle-continued", process=process.number)
            process.resume("idle")

    def _on_memory(self, process, peak_kb, is_at_end):
        """Ends an extension that uses too much memory, as iOS does."""
        if is_at_end:
            self.record("memory", process=process.number, role=process.role, peak_dirty_kb=peak_kb)
        elif peak_kb > MEMORY_LIMIT_KB and process.role == "extension":
            process.end("memory")

    # Banners and sounds

    def _show(self, ids, sound_name, at=None, summary=None, **of):
        at = self.record("banner", at=at, ids=ids, sound=sound_name, summary=summary, **of)["at"]
        sound = sound_for(sound_name, self.places)
        if sound is None:
            return
        self._sound_numbers += 1
        number = self._sound_numbers
        self.sounding.add(number)
        began = self.record(
            "sound-begins",
            at=at,
            sound=number,
            ids=ids,
            summary=summary,
            name=sound_name,
            kind=self._kind(sound),
            sha256=sound.sha256,
            duration_ms=round(sound.duration_ms, 1),
            instead=sound.instead,
            **of,
        )
        if began["kind"] == "clip" and self.world.kept:
            self.world.kept.add(sound)
        self.agenda.add(at + sound.duration_ms, lambda end: self._end_sound(number, end))

    def _end_sound(self, number, at):
        self.sounding.discard(number)
        self.record("sound-ends", at=round(at, 1), sound=number)

    def _kind(self, sound):
        if sound.is_default:
            return "default"
        if sound.sha256 in self.tones:
            return "tone"
        return "phrase" if sound.sha256 in self.world.phrases else "clip"

    # The user

    def open_app(self):
        """Opens the app, which asks the service for what the phone missed."""
        self.record("opened")
        self._start("app").send({"do": "catch-up"})

    def switch_off(self):
        """Ends all processes without a record of what they leave open."""
        for process in list(self.processes):
            process.end("switched off")


def _sound_name(aps):
    sound = aps.get("sound")
    return sound.get("name", "default") if isinstance(sound, dict) else sound


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()

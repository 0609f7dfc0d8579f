# SPDX-License-Identifier: Apache-2.0
"""The faults that a phone makes after a push: it kills a process, or stops it for a while."""

import asyncio
import dataclasses

# The seconds after which a process is killed or stopped, and the seconds for which it is stopped.
KILL_AFTER_SECONDS = (0.0, 3.0)
STOP_AFTER_SECONDS = (0.0, 20.0)
STOP_SECONDS = (1.0, 5.0)
# A process is continued at the latest so many seconds after its oldest open push. It must be able to hand over before
# iOS shows the push as it came.
CONTINUED_AFTER_SECONDS = 28.0
LEAST_STOP_SECONDS = 0.2


@dataclasses.dataclass(frozen=True)
class Faults:
    """How often the phone kills or stops a process after a push, from 0 to 1."""

    kill: float = 0.0
    suspend: float = 0.0


class Disturbance:
    """Makes the faults of one phone."""

    def __init__(self, phone, faults):
        self._phone = phone
        self._faults = faults

    def after_push(self, process):
        loop, choose = asyncio.get_running_loop(), self._phone.random
        if choose.random() < self._faults.kill:
            loop.call_later(choose.uniform(*KILL_AFTER_SECONDS), self._kill, process)
        if choose.random() < self._faults.suspend:
            loop.call_later(choose.uniform(*STOP_AFTER_SECONDS), self._stop, process, choose.uniform(*STOP_SECONDS))

    def _kill(self, process):
        if process.is_running and not process.reason:
            self._phone.record("killed", process=process.number)
            process.end("killed")

    def _stop(self, process, seconds):
        given = min((request.given_at for request in process.open.values()), default=None)
        if given is not None:
            passed = (self._phone.world.timeline.now() - given) / 1000
            seconds = min(seconds, CONTINUED_AFTER_SECONDS - passed)
        if process.is_running and not process.reason and not process.stops and seconds >= LEAST_STOP_SECONDS:
            self._phone.record("suspended", process=process.number)
            process.suspend("fault")
            asyncio.get_running_loop().call_later(seconds, self._continue, process)

    def _continue(self, process):
        process.resume("fault")
        self._phone.record("continued", process=process.number)

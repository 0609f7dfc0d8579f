# SPDX-License-Identifier: Apache-2.0
"""The load: payments that are posted through nginx, again and again until they are accepted."""

import dataclasses
import json
import random
import threading
import time

import verdict
from client import JSON, Lost, post
from harness import Unusable

# The shortest clips: a few yuan, fast.
WORDS = {"currency": "CNY", "locale": "zh-CN", "rate": 450, "method": "speech"}
DEVICES = 6
GROUP = "counter"
# A payment must be accepted within this many seconds, whatever happens to the cluster.
PATIENCE = 180


@dataclasses.dataclass
class Payment:
    """A payment. `sent` is the time before its first request, and `answered` the time of the answer with its report."""

    id: str
    body: bytes
    devices: tuple
    is_played: bool
    sent: float = 0.0
    answered: float | None = None
    report: bytes = b""
    requests: int = 0


def token(number):
    """Returns the token of a device."""
    return f"{number:08x}" * 8


def register(cluster, receiver):
    """Registers the devices, half of them in a group, and the endpoint of webhooks."""
    with cluster.connect() as connection:
        for number in range(DEVICES):
            body = {"bundle_id": "com.example.shop", "environment": "production", "tokens": {"alert": token(number)}}
            if number % 2 == 0:
                body["device_group"] = GROUP
            answer = connection.request("PUT", f"/v1/devices/phone-{number}", json.dumps(body).encode(), JSON)
            if answer.status != 201:
                raise Unusable(f"a device was not registered: {answer.status} {answer.code}")
        kinds = ["announcement.rendered", "announcement.played", "announcement.pushed"]
        answer = post(connection, {"url": receiver.url, "events": kinds}, target="/v1/webhook-endpoints")
        if answer.status != 201:
            raise Unusable(f"the endpoint was not registered: {answer.status} {answer.code}")


class Load:
    """Threads that post payments until the load is ended. All payments are in `payments`."""

    def __init__(self, cluster, seed, pushers=6, pause=0.8, playing_pause=0.8):
        self.cluster, self.payments, self.faults = cluster, [], []
        self.statuses = {}
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._chance, self._direct = random.Random(seed), 0
        chances = [random.Random(seed * 1_000 + number) for number in range(pushers + 1)]
        self._threads = [
            threading.Thread(target=self._run, args=(f"push-{number}", chances[number], pause, False), daemon=True)
            for number in range(pushers)
        ]
        # One sound takes about a second, and there are three loudspeakers.
        playing = (f"play-{pushers}", chances[pushers], playing_pause, True)
        self._threads.append(threading.Thread(target=self._run, args=playing, daemon=True))
        for thread in self._threads:
            thread.start()

    def end(self):
        """Ends the load. The payments that were begun are posted until they are accepted."""
        self._end.set()
        for thread in self._threads:
            thread.join(PATIENCE + 60)

    @property
    def accepted(self):
        return [payment for payment in list(self.payments) if payment.answered is not None]

    def post_to(self, node):
        """Posts a payment that is to be pushed to a node itself, once."""
        self._direct += 1
        payment = self._payment(f"direct-{self._direct}", self._chance, False)
        self.payments.append(payment)
        payment.sent = time.monotonic()
        try:
            with node.connect(timeout=5) as connection:
                answer = post(connection, payment.body)
        except (Lost, OSError):
            return
        if answer.status in (200, 201):
            payment.report, payment.answered = answer.body, time.monotonic()

    @staticmethod
    def left(payments, pushes, receiver, with_sounds=True):
        """Returns how many pushes and messages of accepted payments have not arrived."""
        unpushed = untold = 0
        for payment in payments:
            unpushed += sum((device, payment.id) not in pushes.known for device in payment.devices)
            wanted = verdict.messages(payment, with_sounds)
            untold += sum(max(0, count - receiver.counts[head]) for head, count in wanted.items())
        return unpushed, untold

    def _run(self, name, chance, pause, is_played):
        count = 0
        connection = self.cluster.connect(timeout=25)
        while not self._end.wait(chance.uniform(0.5, 1.5) * pause):
            count += 1
            payment = self._payment(f"{name}-{count}", chance, is_played)
            self.payments.append(payment)
            self._post(connection, payment)
        connection.close()

    @staticmethod
    def _payment(identifier, chance, is_played):
        body = {"id": identifier, "amount": f"{chance.randint(1, 9)}.00"} | WORDS
        devices = ()
        if is_played:
            body["deliver"] = ["clip", "play"]
        else:
            chosen = chance.randrange(DEVICES + 1)
            devices = (chosen,) if chosen < DEVICES else tuple(range(0, DEVICES, 2))
            body |= {"deliver": ["clip", "push"], "device": f"phone-{chosen}" if chosen < DEVICES else GROUP}
        return Payment(identifier, json.dumps(body).encode(), tuple(token(number) for number in devices), is_played)

    def _post(self, connection, payment):
        payment.sent = time.monotonic()
        pause = 0.1
        while time.monotonic() < payment.sent + PATIENCE:
            payment.requests += 1
            try:
                answer = post(connection, payment.body)
                status = answer.status
            except (Lost, OSError):
                connection.close()
                status = 0
            with self._lock:
                self.statuses[status] = self.statuses.get(status, 0) + 1
            if status in (200, 201):
                payment.report, payment.answered = answer.body, time.monotonic()
                return
            if status not in (0, 429, 500, 502, 503, 504):
                self.faults.append(f"{payment.id}: {status} {answer.code}")
                return
            time.sleep(pause)
            pause = min(pause * 2, 2)
        self.faults.append(f"{payment.id}: was not accepted within {PATIENCE} s")

# SPDX-License-Identifier: Apache-2.0
"""What is done to the cluster: each function does one thing, waits until the cluster works again, and notes the times."""

import time

from database import until
from harness import Unusable, progress
from verdict import Fault

# The time within which other nodes take over the work of a dead node, in seconds.
TAKEN_OVER_WITHIN = 12.0
# A lease lasts 10 s. A node is stopped, or cut off, for longer.
BEYOND_A_LEASE = 15.0
# In seconds. A message that a node had sent before its end may arrive up to this time after it.
ON_THE_WAY = 0.5


class Attack:
    """Does things to a cluster under load."""

    def __init__(self, cluster, load, pushes, receiver, chance):
        self.cluster, self.load, self.chance = cluster, load, chance
        self.pushes, self.receiver = pushes, receiver
        self.faults, self.missed = [], []
        # The seconds until a push arrived after its sender had ended, by kind.
        self.taken_over = {}
        self.counts = {}
        # The payments whose deliveries have arrived.
        self._settled = set()

    def do(self, kind):
        """Does one thing: `kill`, `database`, `failover`, `stale`, `stop` or `cut`."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        getattr(self, f"_{kind}")()
        self._settle()

    def _note(self, kind, subject, start, dead=None):
        self.faults.append(Fault(kind, subject, start, time.monotonic(), dead))

    def _victim(self):
        """Returns the node that sends the pushes, mostly, and whether it sends them."""
        sender = self.cluster.holders().get("pushes")
        if sender is None or self.chance.random() < 0.3:
            chosen = self.chance.choice(self.cluster.nodes)
            return chosen, chosen is sender
        return sender, True

    def _watch(self, kind, node, start):
        """Waits until another node sends pushes, and notes how long that took."""
        seen = len(self.pushes.arrived)
        others = [one for one in self.cluster.nodes if one is not node]
        while True:
            # Clients behind nginx may all wait for the node, so these payments go to the others directly.
            self.load.post_to(self.chance.choice(others))
            time.sleep(0.2)
            took = next((push.at - start for push in self.pushes.arrived[seen:] if push.at > start + ON_THE_WAY), None)
            if took is not None:
                break
            if time.monotonic() > start + 60:
                raise Unusable(f"{kind}: nothing was pushed for a minute after the sender had ended")
        self.taken_over.setdefault(kind, []).append(took)
        if took > TAKEN_OVER_WITHIN:
            self.missed.append(f"{kind}: the pushes were taken over after {took:.1f} s")

    def _kill(self):
        node, is_sender = self._victim()
        time.sleep(self.chance.uniform(0, 1))
        start = time.monotonic()
        node.kill()
        dead = time.monotonic()
        if is_sender:
            self._watch("kill", node, start)
        node.start()
        self._note("kill", node.name, start, dead)

    def _database(self):
        """Ends the primary at once, and starts it again."""
        start = time.monotonic()
        self.cluster.database.primary.kill()
        time.sleep(self.chance.uniform(0, 3))
        self.cluster.database.primary.start()
        self.cluster.database.wait_until_synchronous()
        self._note("database", "database", start)

    def _failover(self):
        """Ends the primary at once, and promotes the standby."""
        start = time.monotonic()
        self.cluster.database.primary.kill()
        time.sleep(self.chance.uniform(0, 3))
        self.cluster.database.fail_over()
        self._note("failover", "database", start)

    def _stale(self):
        """Cuts the standby off for longer than a node waits for a commit, ends the primary, and promotes the standby.

        Nothing may be accepted meanwhile, because only the primary would have it.
        """
        start = time.monotonic()
        database = self.cluster.database
        # A standby that is killed cannot receive the transactions that it lacks.
        database.standby.kill()
        before = len(self.load.accepted)
        time.sleep(40)
        if accepted := len(self.load.accepted) - before:
            progress(f"cluster: {accepted} payments were answered while the standby was away")
        database.primary.kill()
        database.standby.start()
        database.fail_over()
        self._note("stale", "database", start)

    def _stop(self):
        """Stops a node for longer than its lease."""
        node, is_sender = self._victim()
        start = time.monotonic()
        node.pause()
        if is_sender:
            self._watch("stop", node, start)
        time.sleep(max(0, start + BEYOND_A_LEASE - time.monotonic()))
        node.go_on()
        self._note("stop", node.name, start)

    def _cut(self):
        """Cuts a node off from the database for longer than its lease."""
        node, is_sender = self._victim()
        start = time.monotonic()
        node.wire.cut()
        if is_sender:
            self._watch("cut", node, start)
        time.sleep(max(0, start + BEYOND_A_LEASE - time.monotonic()))
        node.wire.mend()
        self._note("cut", node.name, start)

    def _settle(self):
        """Waits until everything that was accepted by now was delivered, so that nothing is interrupted twice in a row."""
        for node in self.cluster.nodes:
            if not node.is_running:
                self.missed.append(f"{node.name} ended by itself with status {node.process.returncode}")
                node.tell_log()
                node.start()
        left = [payment for payment in self.load.accepted if payment.id not in self._settled]

        def is_settled():
            return self.load.left(left, self.pushes, self.receiver, with_sounds=False) == (0, 0)

        try:
            until(is_settled, "", patience=60)
        except Unusable:
            pushes, messages = self.load.left(left, self.pushes, self.receiver, with_sounds=False)
            progress(f"cluster: a minute later, {pushes} pushes and {messages} messages have not arrived")
        else:
            self._settled |= {payment.id for payment in left}

# SPDX-License-Identifier: Apache-2.0
"""Attacks a cluster under load, and checks from outside that nothing was lost, repeated or overtaken.

Nodes are killed, stopped and cut off from the database, and the database is killed and fails over, while payments are
posted through nginx, pushed to a stand-in for APNs, told to a receiver of webhooks, and heard on loudspeakers.

Progress goes to standard error, and one line of JSON with the figures goes to standard output. Exit status: 0 nothing
was wrong; 1 something was; 69 the check could not be run.
"""

import argparse
import json
import pathlib
import random
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "Tests" / "service")]

import verdict  # noqa: E402
from client import Lost, post  # noqa: E402
from cluster import Cluster  # noqa: E402
from database import until  # noqa: E402
from faults import TAKEN_OVER_WITHIN, Attack  # noqa: E402
from harness import Bars, Options, Unusable, end_on_signals, mean, progress, report_fault  # noqa: E402
from payments import Load, register  # noqa: E402
from receivers import PushService, Receiver  # noqa: E402

# How often each thing is done at scale 1. A small scale leaves out those that take long.
TIMES = {"kill": 50, "database": 10, "failover": 2, "stop": 5, "cut": 5, "stale": 1}
ALWAYS = ("kill", "database", "failover")
# Deliveries that two ends in a row interrupted are made ten minutes later (docs/operations.md).
SET_ASIDE = 660


def main():
    parser = argparse.ArgumentParser(prog="check-cluster", description=__doc__.splitlines()[0])
    parser.add_argument("--crier", default=str(ROOT / ".build" / "release" / "crier"), help="the crier program (default: %(default)s)")
    parser.add_argument("--scale", type=float, default=1.0, help="the scale of all numbers, such as 0.02 for a minute (default: 1)")
    parser.add_argument("--seed", type=int, default=1, help="the seed of all random choices (default: 1)")
    parser.add_argument("--only", action="append", choices=list(TIMES), help="do only this; may be given several times")
    parser.add_argument("--namespaces", action="store_true", help="cut nodes off in a network namespace, which needs root")
    parser.add_argument("--keep", action="store_true", help="keep the folder of the cluster")
    arguments = parser.parse_args()
    end_on_signals()
    start = time.monotonic()
    options = Options(arguments.crier, arguments.scale, arguments.seed, arguments.keep, arguments)
    result = {"check": "cluster", "scale": options.scale, "seed": options.seed}
    try:
        bars = run(options)
    except Unusable as error:
        progress(f"cluster: {error}")
        print(json.dumps(result | {"ok": False, "error": str(error)}), flush=True)
        return 69
    result |= {"ok": not bars.missed, "seconds": round(time.monotonic() - start, 1)}
    print(json.dumps(result | {"figures": bars.figures, "missed": bars.missed}, ensure_ascii=False), flush=True)
    return 1 if bars.missed else 0


def plan(options, chance):
    """Returns what is done, in a random order."""
    kinds = options.arguments.only or TIMES
    found = [kind for kind in kinds for _ in range(options.scaled(TIMES[kind], kind in ALWAYS or bool(options.arguments.only)))]
    chance.shuffle(found)
    return found


def run(options):
    bars, chance = Bars(), random.Random(options.seed)
    steps = plan(options, chance)
    receiver, servers = Receiver(), []

    def push_server(authority):
        servers.append(PushService(authority))
        return servers[0].url

    wires = "network" if options.arguments.namespaces else "sockets"
    with Cluster(options, wires=wires, push_server=push_server, limited=False) as cluster:
        pushes = servers[0]
        register(cluster, receiver)
        load = Load(cluster, options.seed)
        attack = Attack(cluster, load, pushes, receiver, chance)
        try:
            # The first payments begin while everything works.
            until(lambda: len(pushes.arrived) > 20, "no pushes arrived")
            for number, kind in enumerate(steps, 1):
                attack.do(kind)
                progress(
                    f"cluster: {number} of {len(steps)} ({kind}), {len(load.accepted)} accepted, "
                    f"{len(pushes.arrived)} pushed, {len(receiver.arrived)} told"
                )
        finally:
            load.end()
        wait_for_end(cluster, load, pushes, receiver)
        labels, lost = look(cluster, load.accepted)
        log = {node.name: node.heard.read_bytes() if node.heard.exists() else b"" for node in cluster.nodes}
        lanes = {node.output: node.name for node in cluster.nodes}
    judge(bars, load, attack, pushes, receiver, lost, labels, log, lanes)
    return bars


def wait_for_end(cluster, load, pushes, receiver):
    """Waits until everything was delivered, or nothing has been delivered for a while."""
    payments = load.accepted
    seen, since = None, time.monotonic()
    while (left := load.left(payments, pushes, receiver)) != (0, 0):
        now = left, sum(node.heard.stat().st_size for node in cluster.nodes if node.heard.exists())
        if now != seen:
            seen, since = now, time.monotonic()
            progress(f"cluster: waiting for {left[0]} pushes and {left[1]} messages")
        if time.monotonic() - since > (SET_ASIDE if set_aside(cluster) else 90):
            progress("cluster: nothing has been delivered for a while")
            return
        time.sleep(1)


def set_aside(cluster):
    """Returns how many deliveries the nodes have set aside."""
    count = 0
    for node in cluster.nodes:
        try:
            with node.connect(timeout=5, key=None) as connection:
                count += connection.request("GET", "/readyz").json()["checks"]["set_aside"]["waiting"]
        except (Lost, OSError, ValueError, KeyError):
            continue
    return count


def look(cluster, payments):
    """Reads each payment through nginx, and posts it again.

    Returns the ids of the payments by their labels in the logs, by output, and the payments that were lost or changed.
    """
    labels, lost = {}, []
    with cluster.connect() as connection:
        for payment in payments:
            read = connection.request("GET", f"/v1/announcements/{payment.id}")
            if read.status != 200:
                lost.append(f"{payment.id}: GET {read.status} {read.code}")
                continue
            if fault := report_fault(json.loads(payment.report), read.json()):
                lost.append(fault)
            if play := read.json()["delivery"]["play"]:
                # The name of a lane is that of the output, "@" and the name of the machine.
                output = play["lane"].rpartition("@")[0]
                labels.setdefault(output, {})[str(play["number"])] = payment.id
            again = post(connection, payment.body)
            if (again.status, again.body) != (200, payment.report):
                lost.append(f"{payment.id}: the same request was answered with {again.status} {again.code}")
    return labels, lost


def judge(bars, load, attack, pushes, receiver, lost, labels, log, lanes):
    payments, faults = load.accepted, attack.faults
    offset = time.time() * 1000 - time.monotonic() * 1000
    pushed = verdict.pushed(payments, list(pushes.arrived), faults)
    told = verdict.told(payments, list(receiver.arrived), faults)
    lanes_heard = [
        verdict.heard(
            node, log[node], labels.get(lane, {}), payments, faults, lambda at: at * 1000 + offset
        )
        for lane, node in lanes.items()
    ]
    unheard = [lane for lane in labels if lane not in lanes]
    bars.nothing_in(load.faults, "payments that were refused or not accepted")
    bars.nothing_in(lost, "payments that were lost or changed")
    bars.nothing_in(pushed.faults, "pushed wrongly")
    bars.nothing_in(told.faults, "told wrongly")
    bars.nothing_in([fault for lane in lanes_heard for fault in lane.faults] + unheard, "heard wrongly")
    bars.nothing_in(attack.missed, "what the nodes did wrong")
    bars.figures = {
        "done": attack.counts,
        "accepted": len(payments),
        "requests": sum(payment.requests for payment in load.payments),
        "requests_by_status": {str(status): count for status, count in sorted(load.statuses.items())},
        "lost": len(lost),
        "pushed": sum(len(payment.devices) for payment in payments),
        "pushed_again_with_the_same_id": pushed.repeated,
        "told": len({message.subject for message in receiver.arrived}),
        "told_again_with_the_same_id": told.repeated,
        "heard": sum(len(found) for found in labels.values()),
        "heard_again_after_a_kill": sum(lane.repeated for lane in lanes_heard),
        "wrong": len(pushed.faults) + len(told.faults) + sum(len(lane.faults) for lane in lanes_heard),
        "taken_over_within_s": TAKEN_OVER_WITHIN,
        "taken_over_s": {
            kind: {"count": len(times), "mean": round(mean(times), 2), "most": round(max(times), 2)}
            for kind, times in attack.taken_over.items()
        },
        "answered_s": {"most": round(max((one.answered - one.sent for one in payments), default=0), 2)},
    }


if __name__ == "__main__":
    sys.exit(main())

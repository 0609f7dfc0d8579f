# SPDX-License-Identifier: Apache-2.0
"""Runs a cluster on this machine until Ctrl-C: PostgreSQL with a synchronous standby, three nodes, and nginx with TLS.

Exit status: 0 after Ctrl-C, SIGTERM or a successful --check; 1 if --check found a fault; 69 if the cluster cannot run.
"""

import argparse
import json
import pathlib
import signal
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "Tests" / "service")]

from client import post  # noqa: E402
from cluster import Cluster  # noqa: E402
from database import until  # noqa: E402
from harness import Options, Unusable, progress  # noqa: E402

PAYMENT = {"id": "order-1", "amount": "12.50", "currency": "CNY", "locale": "zh-CN", "deliver": ["clip", "play"]}


def main():
    parser = argparse.ArgumentParser(prog="cluster", description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8443, help="the port of nginx; 0 for a free one (default: 8443)")
    parser.add_argument("--crier", default=str(ROOT / ".build" / "release" / "crier"), help="the crier program (default: %(default)s)")
    parser.add_argument("--check", action="store_true", help="announce one payment, and end when it was heard")
    parser.add_argument("--keep", action="store_true", help="keep the folder when the cluster ends")
    arguments = parser.parse_args()

    def end(*_):
        # The cluster is ended once; further signals do not stop the cleaning up.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        raise SystemExit(0)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, end)
    options = Options(arguments.crier, 1.0, 1, arguments.keep)
    try:
        with Cluster(options, port=0 if arguments.check else arguments.port, environment=None) as cluster:
            if arguments.check:
                return check(cluster)
            tell(cluster)
            while True:
                signal.pause()
    except Unusable as error:
        progress(f"cluster: {error}")
        return 69


def tell(cluster):
    header = cluster.folder / "key.header"
    header.touch(mode=0o600)
    header.write_text(f"Authorization: Bearer {cluster.key}\n")
    primary, standby = cluster.database.primary, cluster.database.standby
    curl = f"curl --cacert {cluster.authority.file} -H @{header}"
    payment = json.dumps(PAYMENT)
    lines = [
        f"The cluster runs in {cluster.folder}. Ctrl-C ends it.",
        "",
        f"  address    {cluster.front.url}    (nginx, with the authority {cluster.authority.file})",
        f"  key        {cluster.key}",
        *(f"  {node.name}     http://127.0.0.1:{node.port}    process {node.pid}, heard: {node.heard}" for node in cluster.nodes),
        f"  primary    psql -h {primary.folder} -p {primary.port} -U postgres crier    process {primary.process.pid}",
        f"  standby    psql -h {standby.folder} -p {standby.port} -U postgres crier    process {standby.process.pid}",
        "",
        "Announce a payment, and look at it:",
        "",
        f"  {curl} {cluster.front.url}/v1/announcements -H 'Content-Type: application/json' -d '{payment}'",
        f"  {curl} {cluster.front.url}/v1/announcements/{PAYMENT['id']}",
        "",
        "End a node, and start it again:",
        "",
        f"  kill -9 {cluster.nodes[0].pid}",
        f"  {cluster.options.crier} serve --home {cluster.nodes[0].home} --port {cluster.nodes[0].port} --output {cluster.nodes[0].output}",
    ]
    print("\n".join(lines), flush=True)


def check(cluster):
    """Announces a payment through nginx, asks each node for it, fetches the clip, and waits until it was heard."""
    faults = []
    start = time.monotonic()
    with cluster.connect() as connection:
        answer = post(connection, PAYMENT)
        if answer.status != 201:
            raise Unusable(f"the payment was answered with {answer.status} {answer.code}")
        report = answer.json()
        for node in cluster.nodes:
            with node.connect() as direct:
                again = post(direct, PAYMENT)
            if (again.status, again.body) != (200, answer.body):
                faults.append(f"{node.name} answered the same payment with {again.status} {again.code}")
        url = report["clip"]["url"].removeprefix(cluster.front.url)
        with cluster.front.connect() as stranger:
            for target, status in ((url, 200), (url, 200), (url + "0", 401), (url.partition("?")[0], 401)):
                found = stranger.request("GET", target).status
                if found != status:
                    faults.append(f"the clip was answered with {found} instead of {status}")

        def state():
            found = connection.request("GET", f"/v1/announcements/{PAYMENT['id']}").json()
            return found["delivery"]["play"]["state"] == "played"

        until(state, "the payment was not heard")
    heard = [node.name for node in cluster.nodes if node.heard.exists() and '"heard"' in node.heard.read_text()]
    if len(heard) != 1:
        faults.append(f"the payment was heard on {heard}")
    for fault in faults:
        progress(f"cluster: {fault}")
    print(json.dumps({"check": "cluster", "ok": not faults, "seconds": round(time.monotonic() - start, 1)}), flush=True)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: Apache-2.0
"""Checks the guarantees of `crier serve` against a running service.

Progress goes to standard error, and one line of JSON with the figures goes to standard output. Exit status: 0 all
checks passed; 1 a check failed; 69 the check could not be run.
"""

import argparse
import importlib
import json
import sys
import time

from harness import ROOT, Options, Unusable, end_on_signals, progress

CHECKS = {
    "mutations": "200,000 mutated bodies: no crash, and no 5xx status except 503",
    "load": "60 s of wrk while a speaker is killed every 200 ms: no wrong or lost answers, and no memory growth",
    "kill": "kill -9 under load, 50 times: each 201 survives the restart, and nothing is played twice",
    "interrupted": "kill -9 in every state of a delivery, 200 times, and work of each kind that ends the service by itself",
    "providers": "webhooks of payment providers in all orders, for a day and across kills: announced once; and 100,000 changed ones an endpoint: none announced",
    "clock": "steps of the service's clock by 5 s, an hour and a day, both ways: no delivery, key or signed request waits for them",
    "writes": "an announcement whose clip is known waits for the disk at most three times (needs strace)",
    "slow": "1,000 slow connections: other clients are not affected",
    "attack": "hostile requests with one key: other clients are not affected",
    "cost": "every call without sound costs at most ten times the median, and 16 clients of it hardly delay others",
    "disk": "a full disk: 507, and recovery without a restart (needs root, for a tmpfs)",
    "stop": "SIGTERM under load: every request is answered, and the service ends within 10 s",
    "schemathesis": "all calls of /openapi.json with 2,000 cases each, and the event stream",
}


def main():
    parser = argparse.ArgumentParser(prog="check-service", description=__doc__.splitlines()[0])
    parser.add_argument(
        "check", choices=[*CHECKS, "all"], help="; ".join(f"{name}: {text}" for name, text in CHECKS.items())
    )
    parser.add_argument(
        "--crier", default=str(ROOT / ".build" / "release" / "crier"), help="the crier program (default: %(default)s)"
    )
    parser.add_argument(
        "--scale", type=float, default=1.0, help="the scale of all numbers, such as 0.01 for a quick check (default: 1)"
    )
    parser.add_argument("--seed", type=int, default=1, help="the seed of all random choices (default: 1)")
    parser.add_argument("--keep", action="store_true", help="keep the folder with the home folder and the log")
    arguments, more = parser.parse_known_args()
    end_on_signals()
    options = Options(arguments.crier, arguments.scale, arguments.seed, arguments.keep, more)
    worst = 0
    for name in CHECKS if arguments.check == "all" else [arguments.check]:
        worst = max(worst, run(name, options))
    return worst


def run(name, options):
    progress(f"{name}: {CHECKS[name]}")
    start = time.monotonic()
    try:
        bars = importlib.import_module("conformance" if name == "schemathesis" else name).run(options)
    except Unusable as error:
        progress(f"{name}: {error}")
        print(json.dumps({"check": name, "ok": False, "error": str(error)}), flush=True)
        return 69
    result = {
        "check": name,
        "ok": not bars.missed,
        "seconds": round(time.monotonic() - start, 1),
        "scale": options.scale,
        "seed": options.seed,
        "figures": bars.figures,
        "missed": bars.missed,
    }
    print(json.dumps(result, ensure_ascii=False), flush=True)
    return 1 if bars.missed else 0


if __name__ == "__main__":
    sys.exit(main())

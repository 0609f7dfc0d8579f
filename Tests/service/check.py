# SPDX-License-Identifier: Apache-2.0
"""Proves what `crier serve` promises, against a running one.

Progress goes to standard error, and one line of JSON with the figures to standard output. Exit status: 0 every bar was
cleared; 1 one was missed; 69 the check could not be made.
"""

import argparse
import importlib
import json
import sys
import time

from harness import ROOT, Options, Unusable, end_on_signals, progress

CHECKS = {
    "mutations": "200,000 spoiled bodies: no crash, and no 5xx but 503",
    "load": "60 s of wrk while a speaker is killed every 200 ms: nothing wrong, nothing lost, memory flat",
    "kill": "kill -9 of the service under load, 50 times: every 201 is there after the restart, and none is heard twice",
    "slow": "1,000 slow connections: others are served as before",
    "attack": "hostile payloads, groups, half-sent batches and streams of one key: others are served as before",
    "disk": "a full disk: 507, and recovery without a restart (as root, for a tmpfs)",
    "stop": "SIGTERM under load: every request is answered, and it ends within 10 s",
    "schemathesis": "every call of /openapi.json, 2,000 cases each, all checks; and the event stream",
}


def main():
    parser = argparse.ArgumentParser(prog="check-service", description=__doc__.splitlines()[0])
    parser.add_argument(
        "check", choices=[*CHECKS, "all"], help="; ".join(f"{name}: {text}" for name, text in CHECKS.items())
    )
    parser.add_argument(
        "--crier", default=str(ROOT / ".build" / "release" / "crier"), help="the program (default: %(default)s)"
    )
    parser.add_argument(
        "--scale", type=float, default=1.0, help="of the full numbers; 0.01 is a quick look (default: 1)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of everything that is left to chance (default: 1)")
    parser.add_argument("--keep", action="store_true", help="leave the folder with the home and the log")
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

# SPDX-License-Identifier: Apache-2.0
"""Reads the targets of Package.swift, as SwiftPM itself understands them."""

import dataclasses
import json
import os
import pathlib
import subprocess


class ManifestError(Exception):
    """SwiftPM cannot read the manifest."""


@dataclasses.dataclass(frozen=True)
class Target:
    name: str
    # One of "regular", "executable", "system" and "test".
    kind: str
    # The folder, relative to that of the manifest.
    path: pathlib.PurePosixPath
    # The names of targets and of products of packages, and `lib` with the name of each linked library.
    dependencies: frozenset
    # Whether every unsafe expression must be marked.
    is_strict: bool


def read(root, swift=None):
    """Returns the targets by their names, those of the exhaustive checks and fuzzers too, and the names of packages."""
    environment = os.environ | {"CRIER_EXHAUSTIVE_CHECKS": "too", "CRIER_FUZZING": "1"}
    command = [swift or os.environ.get("SWIFT", "swift"), "package", "dump-package"]
    ended = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise ManifestError(f"Package.swift: {ended.stderr.strip()}")
    package = json.loads(ended.stdout)
    urls = [
        control["location"]["remote"][0]["urlString"]
        for dependency in package["dependencies"] for control in dependency["sourceControl"]
    ]
    names = {url.rstrip("/").rsplit("/", 1)[-1].removesuffix(".git") for url in urls}
    return {target["name"]: _target(target) for target in package["targets"]}, names


def _target(target):
    # A dependency is an object with one key, such as {"product": [name, package, …]}.
    dependencies = {values[0] for dependency in target["dependencies"] for values in dependency.values()}
    settings = [setting["kind"] for setting in target["settings"]]
    dependencies |= {"lib" + setting["linkedLibrary"]["_0"] for setting in settings if "linkedLibrary" in setting}
    folder = "Tests" if target["type"] == "test" else "Sources"
    return Target(
        name=target["name"], kind=target["type"], dependencies=frozenset(dependencies),
        path=pathlib.PurePosixPath(target.get("path") or f"{folder}/{target['name']}"),
        is_strict=any("strictMemorySafety" in setting for setting in settings))

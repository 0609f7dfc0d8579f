# SPDX-License-Identifier: Apache-2.0
"""Reads the targets of Package.swift, as SwiftPM itself understands them, and the imports of Swift files."""

import dataclasses
import json
import os
import pathlib
import re
import subprocess
import tempfile

# Settings that Xcode refuses in the packages of an app. It compiles these with `-suppress-warnings`, and without unsafe flags.
REFUSED_SETTINGS = {"treatAllWarnings", "treatWarning", "unsafeFlags"}


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
    # The upcoming features of the compiler, in their order.
    features: tuple
    # The names of the other settings, such as "treatAllWarnings".
    settings: frozenset
    # The files in the folder that are not built.
    excluded: frozenset


def dump(root, swift=None, warnings_as_errors=True, on_mac=False):
    """Returns the manifest as `swift package dump-package` prints it, with the exhaustive checks and the fuzzers.

    With `on_mac`, it is the manifest that SwiftPM and Xcode read on a Mac. `warnings_as_errors` says whether the variable
    is set that makes warnings errors.
    """
    environment = os.environ | {"CRIER_EXHAUSTIVE_CHECKS": "too", "CRIER_FUZZING": "1"}
    environment.pop("CRIER_WARNINGS_AS_ERRORS", None)
    if warnings_as_errors:
        environment["CRIER_WARNINGS_AS_ERRORS"] = "1"
    command = [swift or os.environ.get("SWIFT", "swift"), "package", "dump-package"]
    with tempfile.TemporaryDirectory() as copy:
        if on_mac:
            # SwiftPM evaluates the conditions for this machine, so the copy has the value that they have on a Mac.
            text = (root / "Package.swift").read_text(encoding="utf-8")
            conditions = set(re.findall(r"(?m)^\s*#(?:else)?if .*", text))
            if {condition.strip() for condition in conditions} != {"#if os(Linux)"}:
                raise ManifestError("Package.swift: has conditions other than #if os(Linux); teach scripts/manifest.py what a "
                                    "Mac reads.")
            (pathlib.Path(copy) / "Package.swift").write_text(text.replace("#if os(Linux)", "#if false"), encoding="utf-8")
        folder = copy if on_mac else root
        ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise ManifestError(f"Package.swift: {ended.stderr.strip()}")
    return json.loads(ended.stdout)


def read(root, swift=None, warnings_as_errors=True, on_mac=False):
    """Returns the targets of `dump` by their names, and the names of packages."""
    package = dump(root, swift, warnings_as_errors, on_mac)
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
    features = [setting["enableUpcomingFeature"]["_0"] for setting in settings if "enableUpcomingFeature" in setting]
    dependencies |= {"lib" + setting["linkedLibrary"]["_0"] for setting in settings if "linkedLibrary" in setting}
    folder = "Tests" if target["type"] == "test" else "Sources"
    return Target(
        name=target["name"], kind=target["type"], dependencies=frozenset(dependencies),
        path=pathlib.PurePosixPath(target.get("path") or f"{folder}/{target['name']}"),
        is_strict=any("strictMemorySafety" in setting for setting in settings), features=tuple(features),
        settings=frozenset(name for setting in settings for name in setting if name != "enableUpcomingFeature"),
        excluded=frozenset(target["exclude"]))


def imports(path):
    """Returns the modules that a Swift file imports."""
    attributes = r"(?:@\w+(?:\([^)]*\))?\s+|public |internal |private |fileprivate |package )*"
    kinds = r"(?:struct |class |enum |func |protocol |typealias |var |let |actor )?"
    return set(re.findall(rf"^[ \t]*{attributes}import {kinds}(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE))


def faults_for_apple(root, swift, needed):
    """Returns what Xcode refuses in the manifest, and what a Mac cannot build or test. `needed` are the targets of an app."""
    strict, _ = read(root, swift)
    strict = {name: target for name, target in strict.items() if target.kind != "system"}
    plain, _ = read(root, swift, warnings_as_errors=False)
    on_mac, packages = read(root, swift, warnings_as_errors=False, on_mac=True)
    faults = [f"{name} has the setting {setting}, with which Xcode does not build the package of an app"
              for name, target in sorted({**plain, **on_mac}.items()) for setting in sorted(target.settings & REFUSED_SETTINGS)]
    faults += [f"CRIER_WARNINGS_AS_ERRORS does not make warnings errors in {name}"
               for name, target in sorted(strict.items()) if "treatAllWarnings" not in target.settings]
    faults += [f"a Mac reads the package {name}, which each app would have to resolve" for name in sorted(packages)]
    tests = {name for name, target in plain.items() if target.kind == "test" and name.removesuffix("Tests") in on_mac}
    faults += [f"a Mac reads no target {name}" for name in sorted({*needed, *tests} - on_mac.keys())]
    known = plain.keys() | {name for target in plain.values() for name in target.dependencies}
    for name, target in sorted(on_mac.items()):
        for path in sorted((root / target.path).rglob("*.swift")):
            if str(path.relative_to(root / target.path)) not in target.excluded:
                faults += [f"a Mac builds {path.relative_to(root)}, which imports {module}"
                           for module in sorted(imports(path) & known - target.dependencies - {name})]
    return faults

# SPDX-License-Identifier: Apache-2.0
"""The privacy manifests name each listed function of Apple that the code for phones calls, with its reason."""

import pathlib
import plistlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import manifest  # noqa: E402

# Apple, "Describing use of required reason API": the categories, the names that need them, and the reasons for which
# Crier uses them. C617.1 is for files in the app's and its groups' containers, 1C8F.1 for defaults that a group shares.
CATEGORIES = {
    "FileTimestamp": (
        r"\b(f?stat|lstat|fstatat|f?getattrlist\w*)\(|\b(file|content)?([mM]odification|[cC]reation)Date(Key)?\b",
        ["C617.1"]),
    "UserDefaults": (r"\bUserDefaults\b", ["1C8F.1"]),
    "SystemBootTime": (r"\b(systemUptime|mach_absolute_time)\b", None),
    "DiskSpace": (r"\b(statv?fs|fstatv?fs)\(|\bvolumeAvailableCapacity|\bvolumeTotalCapacity|\.system(Free)?Size\b", None),
    "ActiveKeyboards": (r"\bactiveInputModes\b", None),
}


def used(folders):
    """Returns the categories of the functions that the Swift files of folders call."""
    text = "\n".join(
        re.sub(r"(?m)^\s*//.*", "", path.read_text(encoding="utf-8")) for folder in folders for path in folder.rglob("*.swift"))
    return {name for name, (pattern, _) in CATEGORIES.items() if re.search(pattern, text)}


def declared(file):
    """Returns the categories that a privacy manifest declares, with their reasons."""
    with file.open("rb") as opened:
        entries = plistlib.load(opened)["NSPrivacyAccessedAPITypes"]
    return {
        entry["NSPrivacyAccessedAPIType"].removeprefix("NSPrivacyAccessedAPICategory"):
        entry["NSPrivacyAccessedAPITypeReasons"] for entry in entries}


class PrivacyTests(unittest.TestCase):
    def test_the_manifests_declare_what_the_code_for_phones_calls(self):
        targets, _ = manifest.read(ROOT, on_mac=True)
        folders = [ROOT / target.path for target in targets.values() if str(target.path).startswith("Sources/")]
        folders.append(ROOT / "Examples/iOS")
        expected = {name: CATEGORIES[name][1] for name in used(folders)}
        self.assertEqual(set(expected), {"FileTimestamp", "UserDefaults"})
        places = ["Tools/phone-package", *(f"Examples/iOS/{name}" for name in ("App", "NotificationService", "FileProvider"))]
        for place in places:
            self.assertEqual(declared(ROOT / place / "PrivacyInfo.xcprivacy"), expected, place)

    def test_each_category_is_found_in_code_that_calls_it(self):
        calls = {
            "FileTimestamp": "stat(path, &status)", "UserDefaults": "UserDefaults(suiteName: group)",
            "SystemBootTime": "ProcessInfo.processInfo.systemUptime", "DiskSpace": "statfs(path, &status)",
            "ActiveKeyboards": "UITextInputMode.activeInputModes"}
        for name, call in calls.items():
            self.assertRegex(call, CATEGORIES[name][0])
        for call in ("values.contentModificationDate", "fileModificationDate()", "fgetattrlist(1, nil)"):
            self.assertRegex(call, CATEGORIES["FileTimestamp"][0])
        self.assertRegex("attributes[.systemSize]", CATEGORIES["DiskSpace"][0])
        self.assertNotRegex("var status = stat", CATEGORIES["FileTimestamp"][0])


if __name__ == "__main__":
    unittest.main()

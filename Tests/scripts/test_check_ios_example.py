# SPDX-License-Identifier: Apache-2.0
import importlib.machinery
import importlib.util
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "scripts" / "check-ios-example"

# The script's name has no ending, so it is loaded by its path. It imports a module beside it.
sys.path.insert(0, str(SCRIPT.parent))
loader = importlib.machinery.SourceFileLoader("check_ios_example", str(SCRIPT))
check_ios_example = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_ios_example", loader))
loader.exec_module(check_ios_example)


class YAML(unittest.TestCase):
    def test_maps_lists_and_texts_are_read(self):
        text = '# a\na: "1.0"  # b\nb:\n  - x\n  - c: d\n    e:\n      - f\ng:\n  h: true\n  i:\nj: ../k\n'
        self.assertEqual(check_ios_example.read_yaml(text), {
            "a": "1.0", "b": ["x", {"c": "d", "e": ["f"]}], "g": {"h": True, "i": None}, "j": "../k"})

    def test_what_the_check_cannot_read_is_refused(self):
        for text in ("a: [b]\n", "a: |\n  b\n", "a\n", "a: b\na: c\n", "a:\n    b: c\n  d: e\n", "a: *b\n"):
            with self.assertRaises(check_ios_example.Unclear, msg=text):
                check_ios_example.read_yaml(text)


class Payload(unittest.TestCase):
    good = json.loads((ROOT / "Examples/iOS/payment.apns").read_text(encoding="utf-8"))

    def faults(self, **changes):
        payload = json.loads(json.dumps(self.good))
        for path, value in changes.items():
            *parents, key = path.split("__")
            place = payload
            for parent in parents:
                place = place[parent]
            key = key.replace("_", "-") if parents == ["aps"] else key
            if value is None:
                del place[key]
            else:
                place[key] = value
        return check_ios_example.payload_faults(payload, "com.example.shop")

    def test_the_payload_of_the_example_is_no_fault(self):
        self.assertEqual(self.faults(), [])

    def test_a_payload_of_another_form_is_a_fault(self):
        for changes in (
                {"aps": None}, {"crier": None}, {"aps__alert": "text"}, {"aps__mutable_content": None}, {"aps__sound": 1},
                {"aps__interruption_level": "loud"}, {"crier__id": ""}, {"crier__locale": None}, {"crier__amount": 12.5},
                {"crier__currency": None}, {"crier__kind": "paid"}, {"crier__sequence": 4}, {"crier__clip": {}},
                {"crier__text": "a" * 4096}):
            self.assertEqual(len(self.faults(**changes)), 1, changes)
        self.assertEqual(len(check_ios_example.payload_faults(self.good, "com.example.other")), 1)
        self.assertEqual(check_ios_example.payload_faults([], "com.example.shop"), ["is not a JSON object"])


class Example(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for name in ("Examples/iOS", ".github"):
            shutil.copytree(ROOT / name, self.root / name)
        shutil.copy(ROOT / "Package.swift", self.root)
        for name in ("Templates", "Readers"):
            (self.root / name).mkdir()

    def faults_with(self, name, old, new):
        path = self.root / name
        text = path.read_text(encoding="utf-8")
        self.assertIn(old, text)
        path.write_text(text.replace(old, new), encoding="utf-8")
        faults = check_ios_example.Check(self.root).run()
        path.write_text(text, encoding="utf-8")
        return faults

    def test_the_example_has_no_fault(self):
        self.assertEqual(check_ios_example.Check(self.root).run(), [])

    def test_a_name_that_agrees_with_no_other_is_a_fault(self):
        for name, old, new in (
                ("Examples/iOS/project.yml", "path: Shared", "path: Common"),
                ("Examples/iOS/project.yml", "- Info.plist", "- Information.plist"),
                ("Examples/iOS/project.yml", "product: SoundLibrary", "product: FileSystem"),
                ("Examples/iOS/project.yml", "product: SoundLibrary", "product: Waveforms"),
                ("Examples/iOS/project.yml", 'iOS: "18.0"', 'iOS: "17.0"'),
                ("Examples/iOS/project.yml", "path: ../..\n", "path: ..\n"),
                ("Examples/iOS/project.yml", "com.example.shop.files", "com.example.other.files"),
                ("Examples/iOS/project.yml", "INFOPLIST_FILE: App/Info.plist", "INFOPLIST_FILE: App/App.plist"),
                ("Examples/iOS/project.yml", "- target: ShopFileProvider\n", "- target: ShopFiles\n"),
                ("Examples/iOS/project.yml", "path: ../../Readers", "path: Readers"),
                ("Examples/iOS/project.yml", "        Shop: all", "        Shops: all"),
                ("Examples/iOS/Shared/Shop.swift", '"com.example.shop"', '"com.example.bakery"'),
                ("Examples/iOS/Shared/Shop.swift", '"group.com.example.shop"', '"group.com.example.bakery"'),
                ("Examples/iOS/App/App.entitlements", "aps-environment", "environment"),
                ("Examples/iOS/App/App.entitlements", "<dict>", "<dictionary>"),
                ("Examples/iOS/FileProvider/Info.plist", "group.com.example.shop", "group.com.example.bakery"),
                ("Examples/iOS/FileProvider/Info.plist", ").FileProviderExtension", ").FileProvider"),
                ("Examples/iOS/FileProvider/Info.plist", "$(PRODUCT_MODULE_NAME).", ""),
                ("Examples/iOS/FileProvider/Info.plist", "NSExtensionPrincipalClass", "NSExtensionClass"),
                ("Examples/iOS/FileProvider/Info.plist", "NSExtensionFileProviderDocumentGroup", "NSExtensionGroup"),
                ("Examples/iOS/FileProvider/Info.plist", "fileprovider-nonui", "fileprovider"),
                ("Examples/iOS/NotificationService/Info.plist", "usernotifications.service", "usernotification.service"),
                ("Examples/iOS/project.yml", "type: app-extension", "type: app-extensions"),
                ("Examples/iOS/project.yml", "type: folder", "type: group"),
                ("Examples/iOS/payment.apns", '"mutable-content": 1', '"mutable-content": true'),
                ("Examples/iOS/payment.apns", "com.example.shop", "com.example.bakery"),
                ("Examples/iOS/payment.apns", '"aps": {', '"aps": ['),
                ("Examples/iOS/README.md", "com.example.shop.notifications", "com.example.shop.service"),
                ("Examples/iOS/project.yml", 'SWIFT_VERSION: "6.0"', 'SWIFT_VERSION: "5.0"'),
                ("Examples/iOS/project.yml", '    SWIFT_VERSION: "6.0"\n', ""),
                ("Examples/iOS/project.yml", "        INFOPLIST_FILE: App/Info.plist",
                 '        SWIFT_VERSION: "5.0"\n        INFOPLIST_FILE: App/Info.plist'),
                ("Package.swift", "swiftLanguageModes: [.v6]", "swiftLanguageModes: [.v5]"),
                ("Package.swift", "swiftLanguageModes: [.v6]", ""),
                (".github/workflows/ios.yml", "-scheme Shop", "-scheme Till"),
                (".github/workflows/ios.yml", "-scheme Shop", ""),
                (".github/workflows/ios.yml", "-scheme Shop", "-target Till"),
                (".github/workflows/ios.yml", "-scheme Shop", "-scheme Shop -target Till"),
                (".github/workflows/ios.yml", "-project Shop.xcodeproj", "-project Till.xcodeproj"),
                (".github/workflows/ios.yml", "working-directory: Examples/iOS", "working-directory: Examples/Phone"),
                (".github/workflows/ios.yml", "working-directory: Examples/iOS", "working-directory: Examples")):
            self.assertNotEqual(self.faults_with(name, old, new), [], (name, new))


if __name__ == "__main__":
    unittest.main()

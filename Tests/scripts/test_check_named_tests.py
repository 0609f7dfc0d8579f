# SPDX-License-Identifier: Apache-2.0
import importlib.machinery
import importlib.util
import pathlib
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
loader = importlib.machinery.SourceFileLoader("check_named_tests", str(ROOT / "scripts" / "check-named-tests"))
check_named_tests = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_named_tests", loader))
loader.exec_module(check_named_tests)


class NamedTests(unittest.TestCase):
    def faults(self, text):
        return check_named_tests.faults(ROOT, text + " `test_check_named_tests` “what exists is no fault”")

    def test_what_exists_is_no_fault(self):
        for text in (
                "", "`LibraryTurnTests` “an update holds no lock while it calls the service”",
                "`LibraryTurnTests`\n“an update holds no lock while\nit calls the service”", "`check-service kill`",
                "`check-apple --mutate` “nonisolated final”", "`scripts/check-apple`", "`make check-phone-package`"):
            self.assertEqual(self.faults(text), [], text)

    def test_what_does_not_exist_is_a_fault(self):
        for text in (
                "`LibraryTurnTests` “a lock is held”", "`NoTests` “an update holds no lock while it calls the service”",
                "`LibraryTurnTests` “an update holds no lock while it calls the service”, “no”", "`test_check_named_tests` “no”",
                "`test_nothing` “what exists is no fault”", "`check-service nothing`", "`check-apple --mutate` “no such text”",
                "`scripts/nothing`", "`make nothing`"):
            self.assertEqual(len(self.faults(text)), 1, text)

    def test_a_page_without_tests_is_a_fault(self):
        self.assertEqual(check_named_tests.faults(ROOT, "`make lint`"), ["the page names no tests"])


if __name__ == "__main__":
    unittest.main()

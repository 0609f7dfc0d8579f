# SPDX-License-Identifier: Apache-2.0
import importlib.machinery
import importlib.util
import pathlib
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "check-alerts"

# The script's name has no ending, so it is loaded by its path.
loader = importlib.machinery.SourceFileLoader("check_alerts", str(SCRIPT))
check_alerts = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_alerts", loader))
loader.exec_module(check_alerts)

RULES = "    rules:\n      - alert: Lost\n        expr: a > 0\n"
FIRES = "        alertname: Lost\n        exp_alerts:\n          - exp_labels: {}\n"
QUIET = "        alertname: Lost\n        exp_alerts: []\n"


class Untested(unittest.TestCase):
    def test_an_alert_that_is_tested_both_ways_is_no_fault(self):
        self.assertEqual(list(check_alerts.untested(RULES, FIRES + QUIET)), [])

    def test_an_alert_that_is_tested_one_way_is_a_fault(self):
        self.assertEqual(len(list(check_alerts.untested(RULES, FIRES))), 1)
        self.assertEqual(len(list(check_alerts.untested(RULES, QUIET))), 1)
        self.assertEqual(len(list(check_alerts.untested(RULES, ""))), 2)

    def test_a_test_of_an_alert_that_does_not_exist_is_a_fault(self):
        other = FIRES.replace("Lost", "Found")
        self.assertEqual(len(list(check_alerts.untested(RULES, FIRES + QUIET + other))), 1)

    def test_two_alerts_with_one_name_are_a_fault(self):
        self.assertTrue(list(check_alerts.untested(RULES + RULES, FIRES + QUIET)))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
import importlib.machinery
import importlib.util
import pathlib
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "check-example-files"

# The script's name has no ending, so it is loaded by its path.
loader = importlib.machinery.SourceFileLoader("check_example_files", str(SCRIPT))
check_example_files = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_example_files", loader))
loader.exec_module(check_example_files)

FILES = {"a.py": "# SPDX-License-Identifier: Apache-2.0\none\n\n  two\n"}
BLOCK = "<!-- Examples/backends/a.py -->\n\n    one\n\n      two\n"


class Blocks(unittest.TestCase):
    def test_a_block_that_shows_its_file_is_no_fault(self):
        for page in (BLOCK, f"Text.\n\n{BLOCK}\nText.\n"):
            self.assertEqual(check_example_files.checked(page, FILES), (page, ["a.py"], []))

    def test_a_block_that_differs_is_a_fault_and_is_written_again(self):
        right = f"Text.\n\n{BLOCK}\nText.\n"
        longer = right.replace("  two\n", "  two\n    3\n")
        for page in (right.replace("two", "three"), right.replace("    one\n", ""), longer):
            self.assertEqual(check_example_files.checked(page, FILES), (right, ["a.py"], ["a.py"]))

    def test_an_empty_block_is_filled(self):
        page = "<!-- Examples/backends/a.py -->\n\nText.\n"
        self.assertEqual(check_example_files.checked(page, FILES), (f"{BLOCK}\nText.\n", ["a.py"], ["a.py"]))

    def test_a_block_of_an_unknown_file_stays_and_is_named(self):
        self.assertEqual(check_example_files.checked(BLOCK, {}), (BLOCK, ["a.py"], []))


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Warnings(unittest.TestCase):
    def test_each_script_that_builds_makes_warnings_errors(self):
        """A build with another value of the variable would compile the project again."""
        paths = [ROOT / "Makefile", ROOT / ".ci" / "run", *(path for path in (ROOT / "scripts").iterdir() if path.is_file())]
        builds = re.compile(r"""^[^#\n]*(\$swift"|:-swift\}"|\$\(SWIFT\)) (build|test) (?!--skip-build)""", re.MULTILINE)
        texts = {path.name: path.read_text(encoding="utf-8") for path in paths}
        found = {name for name, text in texts.items() if builds.search(text)}
        self.assertLessEqual({"Makefile", "fuzz", "sanitize", "measure-understanding"}, found)
        for name in sorted({"run", *found}):
            self.assertRegex(texts[name], r"\bCRIER_WARNINGS_AS_ERRORS ?= ?1\b", name)

    def test_packages_are_built_without_the_variable(self):
        """Other compilers have other warnings."""
        self.assertRegex((ROOT / "Makefile").read_text(encoding="utf-8"), r"STATIC_BUILD = env -u CRIER_WARNINGS_AS_ERRORS ")


if __name__ == "__main__":
    unittest.main()

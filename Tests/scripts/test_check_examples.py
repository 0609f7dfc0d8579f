# SPDX-License-Identifier: Apache-2.0
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "examples"))

import markdown  # noqa: E402
import running  # noqa: E402


def only(text):
    """Returns the one example of a page."""
    found = markdown.examples("page.md", text)
    assert len(found) == 1, found
    return found[0]


class Blocks(unittest.TestCase):
    def test_a_block_has_its_lines_without_the_indentation(self):
        example = only("Text:\n\n    crier words 1 \\\n      --locale en-US\n\n    crier doctor\n\nText.\n")
        self.assertEqual(example.text, "crier words 1 \\\n  --locale en-US\n\ncrier doctor")
        self.assertEqual(example.place, "page.md:3")

    def test_a_block_of_a_list_is_found(self):
        self.assertEqual(only("1. Write:\n\n       endpoints:\n         - id: a\n").text, "endpoints:\n  - id: a")

    def test_wrapped_lines_of_a_paragraph_are_no_block(self):
        self.assertEqual(markdown.examples("page.md", "- One\n    goes on\n"), [])

    def test_the_first_line_tells_the_kind(self):
        for kind, text in [
            ("sh", "crier doctor"), ("sh", "CRIER_RATE=50 crier serve"), ("sh", "(echo a; seq 1) | crier batch -"),
            ("sh", "SECRET=whsec_… T=$(date +%s)"), ("sh", "scripts/simulate-phone --seed 1"), ("session", "$ crier words 1"),
            ("script", "#!/bin/sh"), ("php", "<?php"), ("java", "import java.io.IOException;"), ("swift", "import Foundation"),
            ("node", "import { a } from 'node:http'"), ("python", "import json, os"), ("python", "def verify(a):"),
            ("json", '{ "id": "1" }'), ("json", '"received": "x"'), ("http", "POST /hooks HTTP/1.1"), ("yaml", "apns:"),
            ("refusals", '{"id": "1"}\ncrier: amount: is missing'), ("csv", "id,amount,currency"), ("systemd", "[Service]"),
            ("nginx", "location = /hooks/upi {"), ("nginx", "server {"), ("swift", "let a = b()"), ("swift", "struct Shop: App {"),
            ("swift", "nonisolated final class A: B {"), ("swift", "@main struct Shop: App {"),
        ]:
            self.assertEqual(markdown.kind(text), kind, text)

    def test_a_block_of_no_kind_needs_a_comment(self):
        for text in ["crier: a: is missing", "2026-11-21T11:28:39+0000 info", "payload (JSON)"]:
            with self.assertRaises(markdown.Unclear):
                only(f"    {text}\n")
            self.assertEqual(only(f"<!-- example: text, an error -->\n\n    {text}\n").reason, "an error")


    def test_a_block_between_fences_is_refused_because_nothing_would_check_it(self):
        with self.assertRaises(markdown.Unclear):
            markdown.examples("page.md", "Text:\n\n```swift\nlet a = 1\n```\n")


class Swift(unittest.TestCase):
    def test_a_block_is_a_whole_file_with_its_place(self):
        self.assertEqual(
            markdown.swift_file(only("Text:\n\n    import Shop\n\n    struct B {}\n")),
            '#sourceLocation(file: "page.md", line: 3)\nimport Shop\n\nstruct B {}\n')

    def test_a_block_with_given_values_is_the_body_of_a_function_below_its_imports(self):
        example = only("<!-- example: given b: B;\n  c: (Int, D) -> Void -->\n\n    import Shop\n\n    let a = b.a { … }\n")
        self.assertEqual(example.given, {"b": "B", "c": "(Int, D) -> Void"})
        self.assertEqual(
            markdown.swift_file(example),
            '#sourceLocation(file: "page.md", line: 4)\nimport Shop\nfunc documented() async throws {\n'
            '#sourceLocation(file: "page.md", line: 5)\n\nlet a = b.a { () }\n}\n')

    def test_a_given_value_without_a_type_is_refused(self):
        with self.assertRaises(markdown.Unclear):
            only("<!-- example: given b -->\n\n    let a = b\n")

    def test_a_block_may_have_a_highest_number_of_lines(self):
        self.assertEqual(only("<!-- example: at most 40 lines -->\n\n    let a = b\n").most_lines, 40)
        self.assertIsNone(only("Text:\n\n    let a = b\n").most_lines)
        for rest in ("few lines", "40", "40 lines of code"):
            with self.assertRaises(markdown.Unclear):
                only(f"<!-- example: at most {rest} -->\n\n    let a = b\n")

    def test_the_blocks_of_doc_comments_are_found_with_their_lines(self):
        text = "import Shop\n\n/// A type:\n///\n///     let a = B()\n///     a.c()\npublic struct B {\n  /// - Parameter c:\n  ///     a\n}\n"
        found = markdown.examples("b.swift", markdown.doc_comments(text))
        self.assertEqual([(one.line, one.text) for one in found], [(5, "let a = B()\na.c()")])


class Comments(unittest.TestCase):
    def test_several_comments_hold_for_one_block(self):
        example = only("<!-- example: slow -->\n\n<!-- example: setup, cd .. -->\n\n<!-- example: file a.yaml -->\n\n    a: 1\n")
        self.assertEqual((example.is_slow, example.setup, example.file, example.kind), (True, "cd ..", "a.yaml", "yaml"))

    def test_a_text_of_a_command_has_a_reason_or_a_value(self):
        example = only("<!-- example: without a.wav, nobody has it -->\n\n<!-- example: with X = date +%F -->\n\n    crier X\n")
        self.assertEqual(example.without, {"a.wav": "nobody has it"})
        self.assertEqual(example.values, {"X": "date +%F"})

    def test_a_comment_without_a_reason_is_refused(self):
        for comment in ["skip", "text", "file", "setup", "output varies", "without a.wav", "with X", "status", "skipped, why"]:
            with self.assertRaises(markdown.Unclear, msg=comment):
                only(f"<!-- example: {comment} -->\n\n    crier doctor\n")

    def test_a_comment_before_a_paragraph_is_refused(self):
        with self.assertRaises(markdown.Unclear):
            markdown.examples("page.md", "<!-- example: skip, why -->\n\nText.\n\n    crier doctor\n")

    def test_a_shown_file_is_left_to_its_own_check(self):
        self.assertEqual(only("<!-- Deployment/a.conf -->\n\n    # A line\n").kind, "shown")


class Commands(unittest.TestCase):
    def test_a_command_has_all_its_lines(self):
        text = "crier a \\\n  --b\n# A comment.\nprintf '\nx'\nfor i in 1; do\n  echo\ndone"
        self.assertEqual(markdown.commands(text, running.is_whole),
                         ["crier a \\\n  --b", "printf '\nx'", "for i in 1; do\n  echo\ndone"])

    def test_a_command_that_does_not_end_is_refused(self):
        with self.assertRaises(markdown.Unclear):
            markdown.commands("printf 'x", running.is_whole)

    def test_a_session_has_commands_and_what_they_print(self):
        self.assertEqual(markdown.session("$ a \\\n  b\none\n$ c\ntwo\nthree"), [("a \\\n  b", ["one"]), ("c", ["two", "three"])])

    def test_what_changes_the_machine_is_not_run(self):
        for command in ["sudo apt-get install flite", "make deb", "cd a && systemctl stop crier", "A=1 podman run x",
                        "for one in a; do\n  swift build\ndone", "runuser -u a -- systemctl stop b"]:
            self.assertIsNotNone(running.reason_not_to_run(command), command)
        for command in ["crier serve", "make run", "echo make", "crier render git.json", "mkdir a && cd a"]:
            self.assertIsNone(running.reason_not_to_run(command), command)


class Output(unittest.TestCase):
    def test_what_is_left_out_and_measured_may_be_anything(self):
        printed = "/a/containers/9f00e1.wav\n3 rows: 1 made; 81.0 kB in 12.3 s, 1,014/s\n"
        self.assertIsNone(markdown.missing(["…/containers/9f…e1.wav", "3 rows: 1 made; 92.0 kB in 0.1 s, 54/s"], printed))

    def test_another_word_or_amount_is_noticed(self):
        for expected in ["twelve yuan", "Received 12.51 USD", "2 rows: 1 made; 92.0 kB in 0.1 s, 54/s"]:
            printed = "eleven yuan\nReceived 12.50 USD\n3 rows: 1 made; 92.0 kB in 0.1 s, 54/s\n"
            self.assertEqual(markdown.missing([expected], printed), expected)


class Data(unittest.TestCase):
    def test_values_may_leave_things_out(self):
        self.assertEqual(markdown.values('{ "a": [ … ], "b": { … }, "c": ["x", …] }'), [{"a": [], "b": {}, "c": ["x"]}])
        self.assertEqual(markdown.values('"a": 1, "b": "…"'), [{"a": 1, "b": "…"}])
        self.assertEqual(markdown.values('{"a": 1}\n{"b": 2}'), [{"a": 1}, {"b": 2}])

    def test_faulty_values_are_refused(self):
        for text in ['{"a": 1,}', '{"a": 1', "{'a': 1}", '{"a": …}']:
            with self.assertRaises(ValueError, msg=text):
                markdown.values(text)


class Shells(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.shell = running.Shell(pathlib.Path(folder.name) / "shell", folder.name, {"PATH": "/usr/bin:/bin"})
        self.addCleanup(self.shell.end)

    def test_variables_and_the_folder_stay(self):
        self.shell.run("A=1; mkdir a; cd a")
        self.assertEqual(self.shell.run("echo $A; basename $PWD; echo error >&2"), (0, "1\na\nerror\n"))
        self.assertEqual(self.shell.directory.name, "a")

    def test_the_status_of_a_failure_is_told(self):
        self.assertEqual(self.shell.run("(exit 3)"), (3, ""))

    def test_a_command_that_hangs_ends_at_its_deadline_and_the_next_one_runs(self):
        with self.assertRaises(running.Failed):
            self.shell.run("sleep 60", seconds=0.2)
        self.assertEqual(self.shell.run("echo on"), (0, "on\n"))

    def test_a_command_that_ends_the_shell_is_a_failure(self):
        with self.assertRaises(running.Failed):
            self.shell.run("exit 0")

    def test_what_a_page_started_ends_with_it(self):
        _, printed = self.shell.run("sleep 600 >/dev/null & echo $!")
        self.shell.end()
        running.wait(lambda: not pathlib.Path("/proc", printed.strip(), "exe").exists(), 5, "the end of the program")


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "check-traps"


# The script's name has no ending, so it is loaded by its path.
loader = importlib.machinery.SourceFileLoader("check_traps", str(SCRIPT))
check_traps = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_traps", loader))
loader.exec_module(check_traps)


def lines(text):
    """Returns the lines on which the script finds a trap."""
    return [number for number, _, _ in check_traps.traps(text)]


def reasons(text):
    return [reason for _, _, reason in check_traps.traps(text)]


class Traps(unittest.TestCase):
    def test_each_kind_of_trap_is_found(self):
        for code in [
            'precondition(a > 0, "text")', "preconditionFailure()", 'fatalError("text")', "try! read()", "a as! Int",
            "value!", "value!.count", "values[0]!", "call()!", "values![0]", "{ $0 }!", "value!)", "value!, other",
            "var value: Int!", "var values: [Int]!", "var value: Set<Int>!", '"\\(text)"!', "value!\n  .count",
            "value! = 3", "(value!) == other", "a?.b!.c",
        ]:
            self.assertEqual(lines(code), [1], code)

    def test_other_exclamation_marks_are_none(self):
        for code in [
            "a != b", "a !== b", "!a", "(!a)", "if !a {}", "[!a, !b]", "return !a", "a && !b", "a!=b",
            "eventLoop.preconditionInEventLoop()", "dispatchPrecondition(condition: .onQueue(queue))", "assert(a)",
            "handler.precondition(a)", "#!/usr/bin/swift",
        ]:
            self.assertEqual(lines(code), [], code)

    def test_comments_and_strings_are_no_code(self):
        for text in [
            "// value!", "/* value! */", "/* a /* b! */ c! */", "a /// value!", '"value!"', '"a\\"b!"', '#"a"b!"#',
            '"""\nvalue!\n"""', '#"""\n"""\nvalue! \\(value!)\n"""#', 'let a = "//" // fatalError()', "(/value!/)",
            "#/value!/a!/#", '"https://a!"',
        ]:
            self.assertEqual(lines(text), [], text)

    def test_code_in_an_interpolation_is_code(self):
        self.assertEqual(lines('"a \\(value!) b"'), [1])
        self.assertEqual(lines('"a \\(f(b)) c!"'), [])
        self.assertEqual(lines('"a \\("b \\(value!)") c"'), [1])
        self.assertEqual(lines('#"a \\#(value!)"#'), [1])
        self.assertEqual(lines('"""\n\\(f(\n  value!))\n"""'), [3])

    def test_code_after_a_string_or_a_comment_is_code(self):
        self.assertEqual(lines('let a = "b" + c!'), [1])
        self.assertEqual(lines("/* a */ b!"), [1])
        self.assertEqual(lines("a / b! / c"), [1])
        self.assertEqual(lines('"""\ntext\n"""\nvalue!'), [4])


class Reasons(unittest.TestCase):
    def test_a_reason_stands_on_the_line_or_directly_above_it(self):
        self.assertEqual(reasons("value!  // Not from outside: it is set above."), ["it is set above."])
        self.assertEqual(reasons("// Not from outside: it is set\n// above.\nvalue!"), ["it is set above."])
        self.assertEqual(reasons("// Another remark.\n// Not from outside: it is set.\nvalue!"), ["it is set."])

    def test_another_comment_is_no_reason(self):
        for text in [
            "value!", "value!  // It is set.", "// Not from outside: it is set.\n\nvalue!",
            "// Not from outside: it is set.\nlet a = 1\nvalue!", "value!  // Not from outside:",
            '"// Not from outside: a text" + value!',
        ]:
            self.assertEqual(reasons(text), [None], text)


class Sources(unittest.TestCase):
    def test_each_trap_of_the_sources_has_a_reason(self):
        self.assertEqual(check_traps.main([]), 0)

    def test_unknown_arguments_are_refused(self):
        with contextlib.redirect_stderr(io.StringIO()) as errors:
            self.assertEqual(check_traps.main(["--all"]), 64)
        self.assertIn("--list", errors.getvalue())


if __name__ == "__main__":
    unittest.main()

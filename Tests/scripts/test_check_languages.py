# SPDX-License-Identifier: Apache-2.0
import importlib.machinery
import importlib.util
import pathlib
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "check-languages"

# The script's name has no ending, so it is loaded by its path.
loader = importlib.machinery.SourceFileLoader("check_languages", str(SCRIPT))
check_languages = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_languages", loader))
loader.exec_module(check_languages)


def lines(text):
    """Returns the lines that name a language, if zh, id and es are the languages."""
    return [number for number, _ in check_languages.findings(text, {"zh", "id", "es"})]


class Languages(unittest.TestCase):
    def test_a_name_a_locale_and_a_comparison_with_a_code_are_found(self):
        for code in [
            'book.voice.hasPrefix("zh")', 'case "es":', '["es", "zh"].contains(book.language)', 'let all = ["es", "zh"]',
            "struct ChineseSounds {}", "let isHindi = true", 'let name = "Mandarin"', 'book(for: "zh-CN")',
            'if book.language != "es" {}', 'locale.hasPrefix("zh")', 'f("https://a", "es-MX")',
        ]:
            self.assertEqual(lines(code), [1], code)

    def test_comments_keys_and_other_names_are_none(self):
        for code in [
            "// In Spanish, mil is a thousand.", "/// Chinese characters", 'let keys = ["id", "locale"]',
            'fields.required("id", id)', "text.applyingTransform(.mandarinToLatin, reverse: false)",
            'let units = "http://a"  // Hindi',
        ]:
            self.assertEqual(lines(code), [], code)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
import unittest
import xml.etree.ElementTree

import drawing
from test_counts import GOOD_SUMMARY, Story

SVG = "{http://www.w3.org/2000/svg}"


def titles(story):
    root = xml.etree.ElementTree.fromstring(drawing.draw(story.events))
    return [title.text for title in root.iter(f"{SVG}title")]


class DrawingTests(unittest.TestCase):
    def test_each_payment_and_sound_is_in_the_picture(self):
        story = Story("1.25", "2.50", "9.00").push(4, 1).push(5, 2).heard(200, 3)
        story.sound(5000, 1, 2, text=GOOD_SUMMARY)
        found = titles(story)
        self.assertEqual(sum(text.startswith("payment ") for text in found), 3)
        self.assertIn(GOOD_SUMMARY, found)
        self.assertIn("3", found)

    def test_a_late_push_is_marked(self):
        in_order, reordered = Story("1.00", "2.00").push(5, 1).push(6, 2), Story("1.00", "2.00").push(5, 2).push(6, 1)
        # The legend has the mark too.
        self.assertEqual([titles(story).count("reordered") for story in (in_order, reordered)], [1, 2])

    def test_overlapping_sounds_are_framed(self):
        apart, together = Story("1.00", "2.00").heard(100, 1), Story("1.00", "2.00").heard(100, 1)
        frames = [
            drawing.draw(story.events).count('fill="none"') for story in (apart.heard(3000, 2), together.heard(900, 2))
        ]
        self.assertEqual(frames[1] - frames[0], 1)

    def test_a_text_cannot_break_the_picture(self):
        story = Story("1.00").push(5, 1).sound(100, 1, text="<b>&\"'")
        self.assertIn("<b>&\"'", titles(story))

    def test_a_timeline_without_phones_is_an_empty_picture(self):
        xml.etree.ElementTree.fromstring(drawing.draw([]))


if __name__ == "__main__":
    unittest.main()

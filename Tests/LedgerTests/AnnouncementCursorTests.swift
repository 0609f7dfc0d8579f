// SPDX-License-Identifier: Apache-2.0

import Ledger
import Testing

@Suite("Cursors of a list of announcements")
struct AnnouncementCursorTests {
  @Test(
    "a text that is not a cursor is refused",
    arguments: ["", "1", "1.e", "1.e.2.3", "1.x.2", " 1.e.2", "1.e.+2", "01.e.2", "9223372036854775808.e.1"])
  func cursors(text: String) {
    #expect(Ledger.AnnouncementCursor(text) == nil)
  }
}

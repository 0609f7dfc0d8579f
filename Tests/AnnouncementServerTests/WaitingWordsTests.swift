// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import AnnouncementServer

@Suite("The words of waiting announcements")
struct WaitingWordsTests {
  @Test("the words of an entry are written once, also if there are none, and forgotten when it no longer waits")
  func once() {
    let words = WaitingWords()
    var written = 0
    for number: Int64 in [1, 2, 1, 2] {
      let got = words.words(of: number) {
        written += 1
        return number == 1 ? (text: "one", locale: "en-US") : nil
      }
      #expect(got?.text == (number == 1 ? "one" : nil))
    }
    #expect(written == 2 && words.count == 2)
    words.keep([2, 3])
    #expect(words.count == 1)
    #expect(words.words(of: 1) { (text: "again", locale: "en-US") }?.text == "again")
  }
}

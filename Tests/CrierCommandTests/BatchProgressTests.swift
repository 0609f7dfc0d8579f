// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import crier

@Suite("Batch progress")
struct BatchProgressTests {
  /// Returns the progress of a batch at a constant speed. Each row has 100 bytes and makes a clip of 1,000 bytes.
  private func progress(_ rows: Int, aSecond: Int, totalBytes: Int?) -> BatchProgress {
    var progress = BatchProgress(totalBytes: totalBytes)
    for row in 1...rows {
      progress.add(.made(bytes: 1_000), endOffset: row * 100, at: .seconds(row) / aSecond)
    }
    return progress
  }

  @Test("the progress of a batch has the share of the rows, the rows per second, and the time left at that speed")
  func figures() {
    #expect(progress(50, aSecond: 10, totalBytes: 10_000).figures(at: .seconds(5)) == "50 %, 50 rows, 10/s, 0:05 left")
    let long = progress(2_000, aSecond: 100, totalBytes: 100_000_000)
    #expect(long.figures(at: .seconds(20)) == "0 %, 2,000 rows, 100/s, 2:46:20 left")
  }

  @Test("without a known total, the progress of a batch has a count and a rate, and at first only a count")
  func pipe() {
    #expect(progress(50, aSecond: 10, totalBytes: nil).figures(at: .seconds(5)) == "50 rows, 10/s")
    var first = BatchProgress(totalBytes: nil)
    first.add(.failed, endOffset: 5, at: .zero)
    #expect(first.figures(at: .zero) == "1 row, 1 failed")
  }

  @Test("the speed of a batch is measured over the last seconds, without the clips of an earlier run")
  func pace() {
    var progress = BatchProgress(totalBytes: 1_000_000)
    for row in 1...9_000 { progress.add(.cached, endOffset: row * 100, at: .milliseconds(row / 9)) }
    for row in 9_001...9_200 {
      progress.add(.made(bytes: 1), endOffset: row * 100, at: .seconds(1 + (row - 9_000) / 5))
    }
    #expect(progress.figures(at: .seconds(41)) == "92 %, 9,200 rows, 5.0/s, 2:40 left")
  }

  @Test("rows that end out of order do not lower a batch's progress, and a list that still grows stays at 100 %")
  func bounds() {
    var progress = BatchProgress(totalBytes: 100)
    progress.add(.cached, endOffset: 80, at: .seconds(1))
    progress.add(.cached, endOffset: 40, at: .seconds(2))
    #expect(progress.doneBytes == 80)
    progress.add(.cached, endOffset: 150, at: .seconds(2))
    #expect(progress.figures(at: .seconds(2)).hasPrefix("100 %, 3 rows, "))
    #expect(progress.figures(at: .seconds(2)).hasSuffix(", 0:00 left"))
  }

  @Test("the progress bar fills the rest of the line, up to 40 columns, and disappears if there is too little room")
  func bar() {
    let progress = progress(50, aSecond: 10, totalBytes: 10_000)
    let figures = progress.figures(at: .seconds(5))
    let half = String(repeating: "#", count: 20) + String(repeating: "-", count: 20)
    #expect(progress.bar(at: .seconds(5), columns: 120) == "[\(half)] \(figures)")
    #expect(progress.bar(at: .seconds(5), columns: figures.count + 14) == "[#####-----] \(figures)")
    #expect(progress.bar(at: .seconds(5), columns: figures.count + 11) == figures)
    for columns in 0...100 { #expect(progress.bar(at: .seconds(5), columns: columns).count <= max(0, columns - 1)) }
  }

  @Test("the summary of a batch counts the rows by outcome, the bytes and the seconds")
  func summary() {
    var progress = BatchProgress(totalBytes: nil)
    for row in 1...1_200 { progress.add(.made(bytes: 80_000), endOffset: row, at: .seconds(1)) }
    progress.add(.cached, endOffset: 1_201, at: .seconds(2))
    progress.add(.failed, endOffset: 1_202, at: .seconds(2))
    #expect(
      progress.summary(at: .milliseconds(8_060))
        == "1,202 rows: 1,200 made, 1 already there, 1 failed; 96.0 MB in 8.1 s, 149/s")
    #expect(
      BatchProgress(totalBytes: 0).summary(at: .zero) == "0 rows: 0 made, 0 already there, 0 failed; 0 B in 0.0 s")
  }
}

@Suite("Progress display")
struct ProgressDisplayTests {
  private let erased = "\r\u{1B}[K"

  private func progress(_ rows: Int) -> BatchProgress {
    var progress = BatchProgress(totalBytes: nil)
    for row in 1...rows { progress.add(.cached, endOffset: row, at: .zero) }
    return progress
  }

  @Test("the progress bar is drawn immediately, and redrawn after a tenth of a second")
  func bar() {
    var display = ProgressDisplay(style: .bar)
    #expect(display.update(progress(1), at: .zero) { 80 } == "\(erased)1 row")
    #expect(display.update(progress(2), at: .milliseconds(99)) { 80 } == "")
    #expect(display.update(progress(3), at: .milliseconds(100)) { 80 } == "\(erased)3 rows, 30/s")
  }

  @Test("a message appears above the progress bar, which is redrawn with the next row")
  func message() {
    var display = ProgressDisplay(style: .bar)
    #expect(display.message("a") == "a\n")
    #expect(display.update(progress(1), at: .zero) { 80 } == "\(erased)1 row")
    #expect(display.message("b") == "\(erased)b\n")
    #expect(display.message("c") == "c\n")
    #expect(display.update(progress(2), at: .milliseconds(1)) { 80 }.hasPrefix("\(erased)2 rows"))
  }

  @Test("without a terminal, the progress of a batch is one line every five seconds, without control characters")
  func lines() {
    var display = ProgressDisplay(style: .lines)
    #expect(display.update(progress(1), at: .milliseconds(4_999)) { 80 } == "")
    #expect(display.update(progress(10), at: .seconds(5)) { 80 } == "10 rows, 2.0/s\n")
    #expect(display.update(progress(11), at: .seconds(9)) { 80 } == "")
    #expect(display.message("a") == "a\n")
    #expect(display.update(progress(20), at: .seconds(10)) { 80 } == "20 rows, 2.0/s\n")
  }

  @Test("other work than a batch shows its progress at the same intervals, and its progress bar can be removed")
  func steps() {
    var terminal = ProgressDisplay(style: .bar)
    #expect(terminal.end() == "")
    #expect(terminal.update(at: .zero, bar: "1 of 3", line: "") == "\(erased)1 of 3")
    #expect(terminal.update(at: .milliseconds(99), bar: "2 of 3", line: "") == "")
    #expect(terminal.end() == erased && terminal.end() == "")
    var log = ProgressDisplay(style: .lines)
    #expect(log.update(at: .milliseconds(4_999), bar: "", line: "2 of 3") == "")
    #expect(log.update(at: .seconds(5), bar: "", line: "3 of 3") == "3 of 3\n")
    #expect(log.end() == "")
  }
}

// SPDX-License-Identifier: Apache-2.0

import Testing
import Waveforms

@Suite("Waveform.joined: one waveform of several")
struct WaveformJoiningTests {
  private let first = Waveform(
    samples: [1, 2, 3, 4], sampleRate: 1000, marks: [.init(text: "a", startMilliseconds: 1, endMilliseconds: 3)])
  private let second = Waveform(
    samples: [5, 6], sampleRate: 1000, marks: [.init(text: "b", startMilliseconds: 0, endMilliseconds: 2)])

  @Test("joined waveforms follow one another with silence between them, but not around them")
  func silence() throws {
    let joined = try Waveform.joined([first, second, first], pausesMilliseconds: [2, 2])
    #expect(joined.samples == [1, 2, 3, 4, 0, 0, 5, 6, 0, 0, 1, 2, 3, 4])
    #expect(joined.sampleRate == 1000)
  }

  @Test("the marks of joined waveforms move with their parts")
  func marks() throws {
    let joined = try Waveform.joined([first, second], pausesMilliseconds: [10])
    #expect(joined.marks.map(\.text) == ["a", "b"])
    #expect(joined.marks.map(\.startMilliseconds) == [1, 14])
    #expect(joined.marks.map(\.endMilliseconds) == [3, 16])
  }

  @Test("each pause between joined waveforms may have a different length")
  func pauses() throws {
    let joined = try Waveform.joined([second, second, second], pausesMilliseconds: [0, 1])
    #expect(joined.samples == [5, 6, 5, 6, 0, 5, 6])
  }

  @Test("rounding errors of many joins do not accumulate: the last mark matches its samples")
  func noDrift() throws {
    let part = Waveform(
      samples: Array(repeating: 7, count: 333), sampleRate: 22_050,
      marks: [.init(text: "x", startMilliseconds: 0, endMilliseconds: 15)])
    let joined = try Waveform.joined(
      Array(repeating: part, count: 1001), pausesMilliseconds: Array(repeating: 0, count: 1000))
    #expect(joined.marks.last?.startMilliseconds == 15_102)  // 333,000 samples
  }

  @Test("a single waveform that is joined stays unchanged")
  func one() throws {
    #expect(try Waveform.joined([first], pausesMilliseconds: []) == first)
  }

  @Test("joining is an error without parts, for different rates, and for a wrong number or length of pauses")
  func errors() {
    let other = Waveform(samples: [1], sampleRate: 8000)
    #expect(code { () throws(WaveformJoiningError) in try .joined([], pausesMilliseconds: []) } == .noParts)
    #expect(
      code { () throws(WaveformJoiningError) in try .joined([first, other], pausesMilliseconds: [0]) }
        == .differentSampleRates)
    #expect(
      code { () throws(WaveformJoiningError) in try .joined([first, second], pausesMilliseconds: []) }
        == .wrongPauseCount)
    #expect(
      code { () throws(WaveformJoiningError) in try .joined([first, second], pausesMilliseconds: [-1]) }
        == .pauseOutOfRange)
    #expect(
      code { () throws(WaveformJoiningError) in try .joined([first, second], pausesMilliseconds: [.max]) }
        == .pauseOutOfRange)
  }

  @Test("the error for joining different sample rates names both rates and the remedy")
  func description() {
    do {
      _ = try Waveform.joined([first, Waveform(samples: [1], sampleRate: 8000)], pausesMilliseconds: [0])
      Issue.record("no error")
    } catch {
      #expect(
        error.description
          == "The waveforms cannot be joined: one part has 1000 Hz and another 8000 Hz; convert them to one rate first."
      )
    }
  }

  private func code(
    _ action: () throws(WaveformJoiningError) -> Waveform
  ) -> WaveformJoiningError.Code? {
    do throws(WaveformJoiningError) {
      _ = try action()
      return nil
    } catch {
      return error.code
    }
  }
}

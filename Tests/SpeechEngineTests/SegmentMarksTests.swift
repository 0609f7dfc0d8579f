// SPDX-License-Identifier: Apache-2.0

import Announcements
import SpeechEngine
import Testing
import Waveforms

@Suite("Marks state when each piece is heard")
struct SegmentMarksTests {
  private func run(_ segments: [(String, Script.Role)], voice: String) -> Script.Run {
    Script.Run(language: "x", voice: voice, segments: segments.map { Script.Segment($0.0, $0.1) })
  }

  @Test("each segment of a spoken text has a mark, in order and without gaps")
  func chinese() async throws {
    let run = run(
      [
        ("支付宝", .channel), ("到账", .phrase), ("十", .amount), ("二", .amount), ("元", .amount), ("五", .amount),
        ("角", .amount),
      ],
      voice: "cmn-latn-pinyin+f2")
    let (waveform, total) = try await BuiltSpeaker.engine().waveform(of: run, rate: 170)
    #expect(waveform.marks.map(\.text) == ["支付宝", "到账", "十", "二", "元", "五", "角"])
    #expect(waveform.marks.first?.startMilliseconds ?? -1 <= 60)
    #expect(waveform.marks.last?.endMilliseconds == waveform.durationMilliseconds)
    for (mark, next) in zip(waveform.marks, waveform.marks.dropFirst()) {
      #expect(mark.endMilliseconds == next.startMilliseconds)
      #expect(mark.startMilliseconds < mark.endMilliseconds)
    }
    #expect(total == waveform.durationMilliseconds)
  }

  @Test("a name or note has a mark for each word, and a word that the engine merges shares its neighbour's mark")
  func words() async throws {
    let run = run([("Received ", .phrase), ("Lunch for the two of us", .note)], voice: "en-us+f2")
    let marks = try await BuiltSpeaker.engine().waveform(of: run, rate: 160).waveform.marks
    #expect(marks.map(\.text).joined(separator: " ") == "Received Lunch for the two of us")
    #expect(marks.count >= 5)
  }

  @Test("the marks of a spoken text contain all of its words, in every locale", arguments: ["hi+f2", "ko+f2", "ja+f2"])
  func otherLanguages(voice: String) async throws {
    let texts = ["hi+f2": "बारह रुपये पचास पैसे", "ko+f2": "만 이천삼백 원 입금되었습니다", "ja+f2": "ペイペイで、せんえんをうけとりました"]
    let text = try #require(texts[voice])
    let marks = try await BuiltSpeaker.engine().waveform(of: run([(text, .text)], voice: voice), rate: 160).waveform
      .marks
    #expect(marks.map(\.text).joined(separator: " ") == text)
  }
}

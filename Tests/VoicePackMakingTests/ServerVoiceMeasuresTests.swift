// SPDX-License-Identifier: Apache-2.0

import Testing
import VoicePackMaking

@Suite("ServerVoiceMeasures: whether the voice of a speech server may say amounts")
struct ServerVoiceMeasuresTests {
  /// Measures that pass.
  private var good: ServerVoiceMeasures {
    var measures = ServerVoiceMeasures(locale: "en-US")
    measures.asked = 200
    measures.milliseconds = Array(1...200)
    measures.lengths = [0.83, 1.27]
    measures.loudness = [-21.54, -14.5]
    measures.numbers = 31
    measures.understanding = .measured(understood: 96, amounts: 100)
    return measures
  }

  @Test(
    "a voice passes its test if all measures are good, and the report has each measure"
  )
  func passed() {
    #expect(good.isPassed)
    #expect(
      good.findings == [
        "200 of 200 utterances were spoken.", "Time to speak: p50 100 ms, p99 198 ms.",
        "Lengths are 0.83 to 1.27 times what the words need, and levels -21.5 to -14.5 LUFS.",
        "No two of 31 numbers sound the same.", "Each number sounds most like the same number of espeak-ng.",
        "A recogniser understood 96 of 100 amounts; 96 % are needed.",
      ])
  }

  @Test("one failed utterance fails the voice, and the report counts its reason")
  func failed() {
    var measures = good
    measures.milliseconds.removeLast()
    measures.failures = ["timed_out": 1]
    #expect(!measures.isPassed && !measures.isHopeless)
    #expect(measures.findings.prefix(2) == ["199 of 200 utterances were spoken.", "1 failed: timed_out."])
    // An implausible sound is a failure like any other.
    measures.failures = ["sound_refused:too_short": 1]
    #expect(!measures.isPassed)
  }

  @Test("after ten failed utterances, the test of a voice sends no more words")
  func hopeless() {
    var measures = good
    measures.failures = ["timed_out": 6, "server_failed": 3]
    #expect(!measures.isHopeless)
    measures.failures["timed_out"] = 7
    #expect(measures.isHopeless && !measures.isPassed)
    #expect(measures.findings.first == "200 of 200 utterances were spoken, and then no more were asked.")
  }

  @Test("a voice does not pass if two of its numbers sound the same")
  func alike() {
    var measures = good
    measures.alike = [ServerVoiceMeasures.Pair("thirteen", "thirty")]
    #expect(!measures.isPassed)
    #expect(measures.findings.contains("“thirteen” and “thirty” sound the same."))
  }

  @Test("a voice does not pass if its numbers were not compared with each other")
  func notCompared() {
    var measures = good
    measures.numbers = 0
    #expect(!measures.isPassed)
    #expect(measures.findings.contains("Whether numbers sound different was not measured."))
  }

  @Test("a number that sounds more like another number of espeak-ng is reported, and does not fail the voice")
  func nearer() {
    var measures = good
    measures.nearerToOthers = [ServerVoiceMeasures.Pair("six", "three")]
    #expect(measures.isPassed)
    #expect(
      measures.findings.contains(
        "These numbers sound more like another number of espeak-ng; listen to them: “six” (to “three”)."))
    measures.comparisonProblem = "engine_unavailable"
    #expect(measures.isPassed)
    #expect(measures.findings.contains("The numbers were not compared with espeak-ng: engine_unavailable."))
  }

  @Test(
    "if a recogniser is installed, it must understand 96 of 100 amounts of the voice",
    arguments: [
      (ServerVoiceMeasures.Recognition.measured(understood: 95, amounts: 100), false),
      (.measured(understood: 96, amounts: 100), true), (.measured(understood: 0, amounts: 0), false),
      (.unspoken, false), (.noRecognizer, true), (.notInstalled(packages: "a and b"), true),
    ])
  func understanding(_ understanding: ServerVoiceMeasures.Recognition, isPassed: Bool) {
    var measures = good
    measures.understanding = understanding
    #expect(measures.isPassed == isPassed)
  }

  @Test("the report on a voice says what was not measured")
  func notMeasured() {
    var measures = good
    (measures.locale, measures.understanding) = ("zh-CN", .noRecognizer)
    #expect(
      measures.findings.last == "No recogniser for zh-CN: whether people understand the amounts was not measured.")
    measures.understanding = .notInstalled(packages: "a and b")
    #expect(
      measures.findings.last
        == "Whether people understand the amounts was not measured; install the Debian packages a and b.")
  }

  @Test("a voice does not pass a test in which it spoke nothing")
  func nothing() {
    #expect(!ServerVoiceMeasures(locale: "en-US").isPassed)
  }
}

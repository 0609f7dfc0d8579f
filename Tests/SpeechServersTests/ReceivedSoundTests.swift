// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1
import SpeechServerTestSupport
import TestSupport
import Testing
import Waveforms

@testable import SpeechServers

@Suite("The sounds of speech servers")
struct ReceivedSoundTests {
  private static let limits = SpeechServerLimits()

  private static func read(_ bytes: [UInt8], endIsKnown: Bool = true) -> Result<Waveform, SpeechServerError> {
    Result { () throws(SpeechServerError) in
      try ReceivedWAV.waveform(bytes, endIsKnown: endIsKnown, within: limits)
    }
  }

  private static func code(_ bytes: [UInt8], endIsKnown: Bool = true) -> SpeechServerError.Code? {
    if case .failure(let error) = read(bytes, endIsKnown: endIsKnown) { error.code } else { nil }
  }

  @Test("a WAV file that already has the pipeline's sample rate keeps its samples")
  func sameRate() throws {
    let samples: [Int16] = [0, 1, -1, 32_767, -32_768, 7]
    #expect(try Self.read(StandInAnswer.wav(samples)).get() == Waveform(samples: samples, sampleRate: 22_050))
  }

  @Test("two channels of a sound become their mean, and another sample rate is converted to the pipeline's rate")
  func converted() throws {
    let stereo = StandInAnswer.wav([100, 300, -50, -150], channels: 2)
    #expect(try Self.read(stereo).get().samples == [200, -100])
    let slow = try Self.read(StandInAnswer.wav([Int16](repeating: 500, count: 8_000), rate: 8_000)).get()
    #expect(slow.sampleRate == 22_050 && abs(slow.samples.count - 22_050) <= 2)
  }

  @Test(
    "a WAV header that does not state the length is accepted only if the end of the answer is known",
    arguments: [0, 0xFFFF_FFFF, 0x7FFF_FFFF, 0x7FFF_F000, 0xFFFF_FFDB])
  func openEnd(stated: Int) throws {
    let samples = EncodedSpeech.samples(for: "one")
    let wav = StandInAnswer.wav(samples, statedBytes: stated)
    #expect(try EncodedSpeech.text(in: Self.read(wav).get().samples) == "one")
    #expect(Self.code(wav, endIsKnown: false) == .lengthMismatch)
  }

  @Test("a WAV file that is shorter than its header says is refused, wherever it was cut")
  func truncated() {
    let wav = StandInAnswer.wav(Array(1...400))
    for count in stride(from: 0, to: wav.count, by: 7) {
      #expect(Self.code(Array(wav.prefix(count))) != nil, "\(count) bytes")
    }
  }

  @Test("random bytes, and WAV files with random damage, give a sound or an error, and never trap")
  func random() {
    var random = SplitMix64(seed: 4)
    let wav = StandInAnswer.wav(Array(1...400))
    var errors = 0
    for _ in 0..<2_000 {
      var bytes = wav
      for _ in 0...Int.random(in: 0...4, using: &random) {
        bytes[Int.random(in: 0..<60, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      guard case .failure(let error) = Self.read(bytes) else { continue }
      errors += 1
      #expect(error.isOfServer)
    }
    #expect(errors > 1_000)
  }

  @Test("two channels become their mean, also at full scale")
  func channels() throws {
    let format = try PCMFormat(rate: 22_050, width: 2, channels: 2, within: Self.limits)
    var sound = ReceivedSound(format, within: Self.limits)
    try sound.append(StandInAnswer.bytes(of: [-32_768, -32_768, 32_767, 32_767, 3, 4]))
    #expect(try sound.waveform().samples == [-32_768, 32_767, 3])
  }

  @Test("an HTTP answer whose parts arrive in an impossible order is refused")
  func order() throws {
    let head = HTTPClientResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok))
    for parts in [[.end(nil)], [head, head], [head, .end(nil), .end(nil)], [head, .end(nil), head]] {
      var answer = HTTPAnswer(mostBytes: 10)
      #expect { for part in parts { _ = try answer.take(part) } } throws: {
        ($0 as? SpeechServerError)?.code == .answerInvalid
      }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import DownloadTestSupport
import Foundation
import SoundDownloads
import SoundLibrary
import SoundMeasurement
import TestSupport
import Testing
import Waveforms

@testable import NotificationServiceKit

@Suite("The level of downloaded messages", .timeLimit(.minutes(5)))
struct MessageLevelTests {
  /// Returns noise in bursts, which is as uneven as speech.
  private static func noise(milliseconds: Int, level: Double, sampleRate: Int = 22_050) -> Waveform {
    var random = SplitMix64(seed: 3)
    let samples = (0..<milliseconds * sampleRate / 1_000).map { index -> Int16 in
      let burst = 0.3 + 0.7 * abs(sin(Double(index) / Double(sampleRate) * 5))
      return Int16(Double.random(in: -1...1, using: &random) * burst * level * 32_767)
    }
    return Waveform(samples: samples, sampleRate: sampleRate)
  }

  /// Returns the loudness in LUFS as libebur128 measures it.
  private func measuredLoudness(_ waveform: Waveform) throws -> Double {
    let phone = try PhoneFolder()
    let file = try phone.library.publish(WAVFile.encode(waveform), as: "sound.wav")
    return try SoundReport.measure(file: file.path(percentEncoded: false)).loudnessLUFS
  }

  private static let payload = Data(
    #"{"aps":{"alert":"Hello","sound":"default"},"sound-url":"https://sounds.example/talk.wav"}"#.utf8)

  private static func handOver(_ bytes: [UInt8], _ phone: PhoneFolder) async -> HandOver.Sound? {
    let service = phone.service(script: { _, _ in SoundAnswer(200, ["Content-Type": "audio/wav"], [bytes]) })
    return await service.handOver(payload).first?.sound
  }

  @Test(
    "the measured loudness of a downloaded message equals that of libebur128 at every sample rate",
    arguments: [8_000, 16_000, 22_050, 44_100, 48_000])
  func loudness(sampleRate: Int) throws {
    let waveform = Self.noise(milliseconds: 3_000, level: 0.2, sampleRate: sampleRate)
    let own = try #require(MessageLevel.loudness(of: waveform))
    let other = try measuredLoudness(waveform)
    #expect(abs(own - other) < 0.1)
  }

  @Test("a downloaded message of any level is played as loud as an announcement", arguments: [0.01, 0.05, 0.2])
  func leveled(level: Double) async throws {
    let phone = try PhoneFolder()
    let bytes = WAVFile.encode(Self.noise(milliseconds: 2_000, level: level))
    guard case .named(let name)? = await Self.handOver(bytes, phone) else {
      Issue.record("The message is not heard.")
      return
    }
    let (waveform, _) = try WAVFile.decode(try #require(try phone.library.contents(of: name)))
    let measured = try measuredLoudness(waveform)
    #expect(abs(measured + 16) < 1)
  }

  @Test("a loud peak of a downloaded message is never clipped")
  func peak() throws {
    var waveform = Self.noise(milliseconds: 2_000, level: 0.01)
    waveform.samples[5_000] = 32_767
    var leveled = waveform
    #expect(MessageLevel.level(&leveled))
    #expect(leveled.samples.map { abs(Int($0)) }.max() ?? 0 <= 26_030)
  }

  @Test("a downloaded message that is silent, too long or in another format is refused")
  func refused() async throws {
    let phone = try PhoneFolder()
    #expect(await Self.handOver(WAVFile.encode(Self.noise(milliseconds: 900, level: 0)), phone) == .systemDefault)
    #expect(await Self.handOver(WAVFile.encode(Self.noise(milliseconds: 30_000, level: 0.1)), phone) == .systemDefault)
    var stereo = WAVFile.encode(Self.noise(milliseconds: 900, level: 0.1))
    stereo[22] = 2
    #expect(await Self.handOver(stereo, phone) == .systemDefault)
    #expect(phone.errorCodes == [.soundRefused, .lengthRefused, .soundRefused])
  }

  @Test("a push with an announcement never plays a downloaded message in place of the announcement")
  func announcementFirst() async throws {
    let phone = try PhoneFolder()
    var payload = String(decoding: try TestPush().payload, as: UTF8.self)
    payload = "{\"sound-url\":\"https://sounds.example/talk.wav\"," + payload.dropFirst()
    let service = phone.service(script: { _, _ in
      SoundAnswer(200, [:], [WAVFile.encode(Self.noise(milliseconds: 900, level: 0.1))])
    })
    #expect(await service.handOver(Data(payload.utf8)).first?.sound == .systemDefault)
  }
}

// SPDX-License-Identifier: Apache-2.0

import DownloadTestSupport
import Foundation
import SoundDoctor
import SoundLibrary
import Testing

@testable import SoundDownloads

/// The downloader with the doctor for sound files as its check, as a service on Linux can have it.
@Suite("Downloads that the doctor for sound files checks")
struct DoctorCheckTests {
  struct Answer: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var bytes: [UInt8]
    var code: DownloadError.Code?
    /// A part of the doctor's message.
    var reason: String?

    init(_ name: String, _ bytes: [UInt8], _ code: DownloadError.Code? = nil, _ reason: String? = nil) {
      (testDescription, self.bytes, self.code, self.reason) = (name, bytes, code, reason)
    }

    /// A second of the sample has 44,100 bytes.
    static let all = [
      Answer("a sound of 1 s", Sample.wav(44_100)),
      Answer("a sound just below 30 s", Sample.wav(30 * 44_100 - 2)),
      Answer("a sound of 30 s", Sample.wav(30 * 44_100), .contentRefused, "30.00 s"),
      Answer("a sound that was cut", Array(Sample.wav(44_100).dropLast(10_000)), .contentRefused, "header"),
      Answer("silence", silence, .contentRefused, "Nothing can be heard"),
      Answer("MP3 in a WAV file", mp3InWAV, .contentRefused, "MP3"),
      Answer("MP3", [0xFF, 0xFB, 0x90, 0x00] + [UInt8](repeating: 0, count: 413), .notASound),
      Answer("a page", Array("<!DOCTYPE html><html><body>Not found</body></html>".utf8), .notASound),
    ]

    private static let silence = Array(Sample.wav(44_100).prefix(44)) + [UInt8](repeating: 0, count: 44_100)

    /// The number of the format follows "fmt " and the size of the part.
    private static let mp3InWAV: [UInt8] = {
      var bytes = Sample.wav(44_100)
      bytes[20] = 0x55
      return bytes
    }()
  }

  struct Refusal: Error, CustomStringConvertible { var description: String }

  /// The doctor as a check: an error of its diagnosis refuses the sound, and a warning does not.
  private func check(_ bytes: [UInt8]) throws {
    let facts = SoundExamination(of: bytes, path: "a.wav", folder: "Library/Sounds").facts
    guard let error = SoundDiagnosis(of: facts).problems.first(where: { $0.severity == .error }) else { return }
    throw Refusal(description: error.message)
  }

  @Test(
    "a downloaded sound is published only if iOS plays it; otherwise the error has the words of 'crier sounds check'",
    arguments: Answer.all)
  func published(_ answer: Answer) async throws {
    let home = try TemporaryLibrary()
    let old = Sample.wav(seed: 9)
    _ = try home.library.publish(old, as: "a.wav")
    let fetcher = ScriptedFetcher { _, _ in SoundAnswer(200, ["content-type": "audio/wav"], [answer.bytes]) }
    let downloader = SoundDownloader(
      library: home.library, fetcher: fetcher, resolver: TableResolver(), clock: HeldClock(), check: check)
    let error = await failure { try await downloader.download(Sample.url("https://sounds.example/a.wav"), as: "a.wav") }
    #expect(error?.code == answer.code, "\(error.map { "\($0)" } ?? "published")")
    #expect(home.files == ["a.wav": answer.code == nil ? answer.bytes : old])
    if let reason = answer.reason {
      #expect(error?.description.contains(reason) == true, "\(error.map { "\($0)" } ?? "published")")
    }
  }
}

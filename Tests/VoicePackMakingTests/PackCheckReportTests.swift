// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport
import Testing
import VoicePackMaking
import VoicePacks
import Waveforms

/// The result of checking a whole pack, as text and as JSON, and the check's robustness.
extension PackCheckTests {
  @Test("all faults of a pack are found at once, errors before warnings, and the most severe first")
  func order() throws {
    let report = try check(seal: false) { pack in
      try Data().write(to: pack.directory.appending(path: "stray.wav"))
      try FileManager.default.removeItem(at: pack.directory.appending(path: "0005.wav"))
      try pack.set(bytes: [1, 2, 3], file: "0004.wav")
      try pack.write(manifest: try pack.manifest.json)
    }
    #expect(
      codes(report) == [
        "error wrong_digest manifest.json", "error clip_missing 0005.wav", "error clip_unreadable 0004.wav",
        "warning stray_file stray.wav",
      ])
  }

  @Test("the text of a pack check has a line for each finding, a line for each required block, and a summary")
  func text() throws {
    let report = try check { pack in
      try FileManager.default.removeItem(at: pack.directory.appending(path: "0003.wav"))
      try Data().write(to: pack.directory.appending(path: "a\nb\u{202E}.wav"))
    }
    let lines = report.text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines[0].hasPrefix("error    clip_missing  0003.wav: does not exist; import the recording of “"))
    #expect(lines[1].hasPrefix("warning  stray_file  a\u{FFFD}b\u{FFFD}.wav: is in the folder, but not in the"))
    #expect(lines[2] == "not sayable  every whole amount under 10 in KRW")
    #expect(lines.count == 2 + report.coverage.filter(\.isRequired).count + 2 && lines.last == "")
    #expect(lines[lines.count - 2].hasPrefix("tones (ko-KR): \(report.clips.count) clips, "))
    #expect(lines[lines.count - 2].hasSuffix("; 1 error, 1 warning"))
  }

  @Test("the JSON of a pack check has the findings, the coverage and the totals")
  func json() throws {
    let report = try check { try FileManager.default.removeItem(at: $0.directory.appending(path: "0003.wav")) }
    let object = try JSONSerialization.jsonObject(with: report.json) as? [String: Any]
    let fields = try object.orThrow("an object")
    #expect(
      fields.keys.sorted() == ["clips", "coverage", "errors", "findings", "locale", "pack", "usable", "warnings"])
    #expect(fields["usable"] as? Bool == false && fields["errors"] as? Int == 1)
    let finding = try (fields["findings"] as? [[String: String]])?.first.orThrow("a finding")
    #expect(finding?["code"] == "clip_missing" && finding?["severity"] == "error")
    #expect(finding?.keys.sorted() == ["code", "problem", "remedy", "severity", "subject"])
    let block = try (fields["coverage"] as? [[String: Any]])?.first.orThrow("a block")
    #expect(block?["sayable"] as? Bool == false && block?["missing"] as? Int == 1)
  }

  @Test("no bytes in a clip or in the manifest make the check of a pack trap")
  func hostileBytes() throws {
    let pack = try CheckedPack()
    var random = SplitMix64(seed: 3)
    let manifest = Array(try pack.manifest.json)
    let clip = WAVFile.encode(try Tones.clip(3))
    // One block and its clips are enough, so that many checks take little time.
    var vocabulary = pack.vocabulary
    vocabulary.blocks.removeLast(vocabulary.blocks.count - 1)
    let used = try Set(vocabulary.words.map { try pack.file($0.token) })
    pack.manifest.clips = pack.manifest.clips.filter { used.contains($0.key) }
    pack.manifest.tokens = pack.manifest.tokens.filter { used.contains($0.value.plain) }
    try pack.seal()
    for _ in 0..<30 {
      var bytes = clip
      for _ in 0..<4 { bytes[Int.random(in: 0..<60, using: &random)] = UInt8.random(in: 0...255, using: &random) }
      try Data(bytes).write(to: pack.directory.appending(path: "0003.wav"))
      let report = PackCheck.check(directory: pack.directory, vocabulary: vocabulary)
      #expect(report.findings.contains { $0.code == .clipChanged })
    }
    for _ in 0..<30 {
      var bytes = manifest
      for _ in 0..<4 {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 32...126, using: &random)
      }
      try pack.write(manifest: Data(bytes))
      #expect(!PackCheck.check(directory: pack.directory, vocabulary: vocabulary).findings.isEmpty)
    }
  }
}

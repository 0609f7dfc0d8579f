// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport
import Testing
import VoicePackMaking
import VoicePacks
import Waveforms

/// A pack without faults has no finding, and each fault has its own. Faults that can make announcements fail are
/// errors.
@Suite("Pack check")
struct PackCheckTests {
  /// Returns the result for a damaged pack. It is sealed again, so that it has no other fault.
  func check(
    seal: Bool = true, damage: (CheckedPack) throws -> Void
  ) throws -> PackCheckReport {
    let pack = try CheckedPack()
    try damage(pack)
    if seal { try pack.seal() }
    let report = pack.check()
    // A pack that the program would refuse to load must not pass the check.
    #expect(pack.loads || !report.isUsable)
    return report
  }

  func codes(_ report: PackCheckReport) -> [String] {
    report.findings.map { "\($0.severity) \($0.code.rawValue) \($0.subject)" }
  }

  // MARK: A whole pack

  @Test("a pack with every word, all levelled and trimmed, has no finding and full coverage")
  func clean() throws {
    for locale in ["ko-KR", "zh-CN"] {
      let pack = try CheckedPack(locale)
      let report = pack.check()
      #expect(codes(report) == [])
      #expect(report.isUsable && pack.loads)
      #expect(report.coverage.map(\.coverage) == pack.vocabulary.blocks.map(\.coverage))
      #expect(report.coverage.allSatisfy { $0.isSayable && $0.missing == 0 })
    }
  }

  @Test("the check of a pack counts and measures the clips")
  func measured() throws {
    let pack = try CheckedPack()
    let clips = pack.check().clips
    let files = try pack.manifest.clips.keys.map { try Data(contentsOf: pack.directory.appending(path: $0)) }
    #expect(clips.count == pack.vocabulary.words.count)
    #expect(clips.bytes == files.reduce(0) { $0 + $1.count })
    #expect(abs(clips.seconds - Double(clips.bytes - 44 * clips.count) / 44_100) < 0.001)
    let median = try clips.medianLUFS.orThrow("a median")
    #expect(abs(median - ClipPreparation.loudnessLUFS) < 0.3)
    #expect(try clips.softestLUFS.orThrow("softest") <= median && median <= clips.loudestLUFS.orThrow("loudest"))
  }

  // MARK: Words

  @Test("a missing word is reported with the smallest amount that needs it, and with its share of everyday amounts")
  func missingToken() throws {
    let pack = try CheckedPack()
    for token in ["십", "만"] { pack.manifest.clips[try pack.file(token)] = nil }
    for token in ["십", "만"] {
      try FileManager.default.removeItem(at: pack.directory.appending(path: pack.file(token)))
      pack.manifest.tokens[token] = nil
    }
    try pack.seal()
    let won = try Currency(code: "KRW").orThrow("KRW")
    let report = pack.check(amounts: EverydayAmounts(writer: try Templates.writer("ko-KR"), currency: won))
    #expect(codes(report) == ["error missing_token 십", "error missing_token 만"])
    #expect(report.findings[0].problem.contains("so 10 KRW cannot be spoken"))
    #expect(report.findings[0].problem.hasSuffix("90 % of the amounts under 10,000 KRW need it"))
    #expect(report.findings[1].problem.hasSuffix("the amounts under 10,000 KRW do not need it"))
    #expect(report.coverage.map(\.isSayable).first == true)
    #expect(report.coverage.dropFirst().allSatisfy { !$0.isSayable })
    #expect(report.coverage.filter { $0.missing == 1 }.count == 2)
  }

  @Test("a share of amounts below one in a thousand is reported as small, not as zero")
  func smallShare() throws {
    let pack = try CheckedPack("en-US")
    pack.manifest.clips[try pack.file("dollar")] = nil
    try FileManager.default.removeItem(at: pack.directory.appending(path: pack.file("dollar")))
    pack.manifest.tokens["dollar"] = nil
    try pack.seal()
    let dollars = try Currency(code: "USD").orThrow("USD")
    let report = pack.check(amounts: EverydayAmounts(writer: try Templates.writer("en-US"), currency: dollars))
    #expect(codes(report) == ["error missing_token dollar"])
    #expect(report.findings[0].problem.hasSuffix("less than 0.1 % of the amounts under 10,000 USD need it"))
  }

  @Test("the finding for a missing word of a sentence says which payments need it")
  func missingPhrase() throws {
    let pack = try CheckedPack("en-US")
    let file = try pack.file("Received")
    pack.manifest.tokens["Received"] = nil
    pack.manifest.clips[file] = nil
    try FileManager.default.removeItem(at: pack.directory.appending(path: file))
    try pack.seal()
    let report = pack.check()
    #expect(codes(report) == ["error missing_token Received"])
    #expect(
      report.findings[0].problem.hasSuffix(
        "for the words around every payment that is received, without channel and names"))
  }

  @Test("missing optional words of a pack give one warning for each block")
  func missingOptional() throws {
    let report = try check { pack in
      let block = try pack.vocabulary.blocks.first { $0.coverage.hasPrefix("the channels") }.orThrow("channels")
      for word in block.words {
        let file = try pack.file(word.token)
        pack.manifest.tokens[word.token] = nil
        pack.manifest.clips[file] = nil
        try FileManager.default.removeItem(at: pack.directory.appending(path: file))
      }
    }
    #expect(codes(report) == ["warning missing_optional the channels of the phrase book"])
    #expect(report.isUsable)
  }

  @Test("a number word with a different text is an error, because the amount would not read back")
  func wrongNumberText() throws {
    let report = try check { pack in pack.manifest.clips[try pack.file("삼")]?.text = "사" }
    #expect(codes(report) == ["error wrong_text 삼"])
    #expect(report.coverage[0].missing == 1)
  }

  @Test("any word with a different text is an error, because a refund could be announced as a payment")
  func wrongPhraseText() throws {
    let report = try check { pack in
      let word = try pack.vocabulary.words.first { $0.role == .channel }.orThrow("a channel")
      pack.manifest.clips[try pack.file(word.token)]?.text = "something else"
    }
    #expect(report.findings.map(\.code) == [.wrongText] && report.errorCount == 1)
  }

  @Test("the words of a phrase's text may be joined or separated, but must be the words of the phrase")
  func phraseText() throws {
    func report(_ text: String) throws -> PackCheckReport {
      try check { pack in
        try pack.set(try Tones.clip(90), file: "phrase.wav", text: text)
        pack.manifest.phrases = [
          PackManifest.Phrase(tokens: ["이", "십"], clips: PackManifest.Alternates(plain: "phrase.wav"))
        ]
      }
    }
    #expect(try codes(report("이십")) == [])
    #expect(try codes(report("이 십")) == [])
    #expect(try codes(report("삼십")) == ["error wrong_text 이 십"])
  }

  @Test("two numbers with one recording are an error, because one number must be wrong")
  func duplicateNumbers() throws {
    let report = try check { pack in
      try pack.set(try Tones.clip(0), file: pack.file("삼"))
      try pack.set(try Tones.clip(0), file: pack.file("사"))
    }
    #expect(report.findings.map(\.code) == [.duplicateClip] && report.errorCount == 1)
    #expect(report.findings[0].subject.contains("삼") && report.findings[0].subject.contains("사"))
  }

  @Test("a number and another currency's word may sound alike, so one recording for both is a warning")
  func homophones() throws {
    let pack = try CheckedPack()
    for token in ["삼", "십"] { try pack.set(try Tones.clip(90), file: pack.file(token)) }
    try pack.seal()
    var vocabulary = pack.vocabulary
    let ten = try vocabulary.blocks.firstIndex { $0.words.contains { $0.token == "십" } }.orThrow("십")
    #expect(PackCheck.check(directory: pack.directory, vocabulary: vocabulary).errorCount == 1)
    vocabulary.blocks[ten].isRequired = false
    let report = PackCheck.check(directory: pack.directory, vocabulary: vocabulary)
    #expect(codes(report) == ["warning duplicate_clip 삼, 십"])
  }

  @Test("one recording for two words that are not numbers is a warning")
  func duplicateOthers() throws {
    let report = try check { pack in
      let words = pack.vocabulary.words.filter { $0.role == .channel }
      try pack.set(try Tones.clip(90), file: pack.file(words[0].token))
      try pack.set(try Tones.clip(90), file: pack.file(words[1].token))
    }
    #expect(report.findings.map(\.code) == [.duplicateClip] && report.warningCount == 1)
  }

  @Test("a word may use the same recording in two positions")
  func sameWordTwice() throws {
    let report = try check { pack in
      let file = try pack.file("원")
      pack.manifest.tokens["원"]?.final = file
    }
    #expect(codes(report) == [])
  }

  @Test("a token that the phrase book never uses is a warning")
  func unknownToken() throws {
    let report = try check { pack in
      try pack.set(try Tones.clip(90), file: "extra.wav", text: "zilch")
      pack.manifest.tokens["zilch"] = PackManifest.Alternates(plain: "extra.wav")
    }
    #expect(codes(report) == ["warning unknown_token zilch"])
  }

  // MARK: The manifest

  @Test("if the manifest is missing, this is the only finding, because nothing else can be checked")
  func noManifest() throws {
    let report = try check(seal: false) { pack in
      try FileManager.default.removeItem(at: pack.directory.appending(path: PackManifest.fileName))
    }
    #expect(codes(report) == ["error manifest_unreadable manifest.json"])
    #expect(report.coverage.allSatisfy { !$0.isSayable } && report.clips.count == 0 && report.pack == "tones")
  }

  @Test("a missing folder of a pack is reported as a missing manifest")
  func noFolder() throws {
    let vocabulary = try Templates.writer("ko-KR").vocabulary()
    let folder = URL(filePath: "/nonexistent/\(UUID().uuidString)", directoryHint: .isDirectory)
    let report = PackCheck.check(directory: folder, vocabulary: vocabulary)
    #expect(report.findings.map(\.code) == [.manifestUnreadable])
  }

  @Test(
    "a manifest that is invalid or of another format is reported as unreadable",
    arguments: ["", "no JSON", "[]", "{\"format\": 1}", String(repeating: "[", count: 100_000)])
  func unreadableManifest(_ text: String) throws {
    let report = try check(seal: false) { try $0.write(manifest: Data(text.utf8)) }
    #expect(codes(report) == ["error manifest_unreadable manifest.json"])
  }

  @Test("a manifest of another format is reported, and the rest of it is not read")
  func otherFormat() throws {
    let report = try check { $0.manifest.format = 2 }
    #expect(codes(report) == ["error manifest_unreadable manifest.json"])
  }

  @Test("a pack is an error if its locale is not that of the phrase book")
  func wrongLocale() throws {
    let report = try check { $0.manifest.locale = "ko-KP" }
    #expect(codes(report) == ["error wrong_locale manifest.json"])
  }

  @Test("a manifest that was edited is an error")
  func wrongDigest() throws {
    let report = try check(seal: false) { pack in
      pack.manifest.speaker = "somebody else"
      try pack.write(manifest: try pack.manifest.json)
    }
    #expect(codes(report) == ["error wrong_digest manifest.json"])
  }

  @Test("a manifest that contradicts itself is an error")
  func invalidManifest() throws {
    let file = PackManifest.Alternates(plain: "0001.wav")
    let damages: [(CheckedPack) -> Void] = [
      { $0.manifest.id = "other" },
      { $0.manifest.phrases = [PackManifest.Phrase(tokens: [$0.vocabulary.words[0].token], clips: file)] },
    ]
    for damage in damages {
      #expect(try codes(check(damage: damage)) == ["error manifest_invalid manifest.json"])
    }
  }

  // MARK: Files

  @Test("a word of the pack is an error if its clip's file is missing, or if the manifest does not list the clip")
  func clipMissing() throws {
    let gone = try check { try FileManager.default.removeItem(at: $0.directory.appending(path: "0003.wav")) }
    #expect(codes(gone) == ["error clip_missing 0003.wav"])
    #expect(gone.coverage[0].missing == 1)
    let unlisted = try check { pack in
      pack.manifest.clips["0003.wav"] = nil
      try FileManager.default.removeItem(at: pack.directory.appending(path: "0003.wav"))
    }
    #expect(codes(unlisted) == ["error clip_missing 0003.wav"])
  }

  @Test("the check reads only plain files in the folder itself, and no folders, links, pipes or huge files")
  func notAFile() throws {
    let damages: [(URL) throws -> Void] = [
      { try FileManager.default.createDirectory(at: $0, withIntermediateDirectories: false) },
      { try FileManager.default.createSymbolicLink(at: $0, withDestinationURL: URL(filePath: "/dev/zero")) },
      { #expect(mkfifo($0.path, 0o600) == 0) },
      { try Data(count: 2_000_000).write(to: $0) },
    ]
    for damage in damages {
      let report = try check { pack in
        let file = pack.directory.appending(path: "0003.wav", directoryHint: .notDirectory)
        try FileManager.default.removeItem(at: file)
        try damage(file)
      }
      #expect(codes(report) == ["error clip_unreadable 0003.wav"])
    }
  }

  @Test(
    "a clip's name in the manifest cannot lead out of the folder",
    arguments: ["../0003.wav", "/etc/hostname", "", ".hidden.wav"])
  func nameOutside(_ name: String) throws {
    let report = try check { pack in
      let clip = try pack.manifest.clips.removeValue(forKey: "0003.wav").orThrow("a clip")
      try FileManager.default.moveItem(
        at: pack.directory.appending(path: "0003.wav"), to: pack.folder.appending(path: "0003.wav"))
      let token = try pack.manifest.tokens.first { $0.value.plain == "0003.wav" }.orThrow("a token").key
      pack.manifest.clips[name] = clip
      pack.manifest.tokens[token]?.plain = name
    }
    #expect(codes(report) == ["error clip_unreadable \(name)"])
  }

  @Test("a clip that is truncated or not a WAV file is an error")
  func unreadable() throws {
    let whole = WAVFile.encode(try Tones.clip(3))
    for bytes in [[], Array("not a sound".utf8), Array(whole.dropLast(100)), whole + [0]] {
      #expect(try codes(check { try $0.set(bytes: bytes, file: "0003.wav") }) == ["error clip_unreadable 0003.wav"])
    }
  }

  @Test("a clip whose bytes do not match the manifest is an error")
  func changed() throws {
    let report = try check { pack in
      let other = WAVFile.encode(try Tones.clip(91))
      try Data(other).write(to: pack.directory.appending(path: "0003.wav"))
    }
    #expect(codes(report) == ["error clip_changed 0003.wav"])
  }

  @Test("a clip of two channels is an error")
  func stereo() throws {
    var bytes = WAVFile.encode(try Tones.clip(3))
    bytes[22] = 2
    #expect(try codes(check { try $0.set(bytes: bytes, file: "0003.wav") }) == ["error not_mono 0003.wav"])
  }

  @Test("a clip at another sample rate is an error")
  func wrongRate() throws {
    let waveform = Waveform(samples: try Tones.clip(3).samples, sampleRate: 16_000)
    #expect(try codes(check { try $0.set(waveform, file: "0003.wav") }) == ["error wrong_sample_rate 0003.wav"])
  }

  @Test("clips that no word uses, and sound files that the manifest does not list, are warnings")
  func unlisted() throws {
    let report = try check { pack in
      try pack.set(try Tones.clip(90), file: "unused.wav", text: "unused")
      try Data().write(to: pack.directory.appending(path: "stray.WAV"))
    }
    #expect(codes(report) == ["warning unused_clip unused.wav", "warning stray_file stray.WAV"])
  }
}

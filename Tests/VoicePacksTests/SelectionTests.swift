// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import VoicePacks

@testable import Announcements

@Suite("Selection: the choice of clips for tokens")
struct SelectionTests {
  private let voices: VoicesFolder
  private let pack: VoicePack

  init() throws {
    voices = try VoicesFolder()
    var manifest = VoicesFolder.manifest(tokens: ["received", "twenty", "one", "dollars", "and"])
    for (name, text) in [
      ("rising", "one"), ("final", "one"), ("twenty-one", "twenty-one"), ("twenty-one-final", "twenty-one"),
      ("twenty-one-dollars", "twenty-one dollars"), ("received-twenty", "received twenty"), ("other", "two"),
    ] {
      manifest.clips["\(name).wav"] = .init(text: text, sha256: "")
    }
    manifest.tokens["one"] = .init(plain: "one.wav", rising: "rising.wav", final: "final.wav")
    manifest.tokens["two"] = .init(plain: "one.wav")
    manifest.tokens["four"] = .init(plain: "four.wav", final: "other.wav")
    manifest.clips["four.wav"] = .init(text: "four", sha256: "")
    manifest.phrases = [
      .init(tokens: ["one", "dollars"], clips: .init(plain: "twenty-one-dollars.wav")),
      .init(tokens: ["twenty", "one"], clips: .init(plain: "twenty-one.wav", final: "twenty-one-final.wav")),
      .init(tokens: ["twenty", "one", "dollars"], clips: .init(plain: "twenty-one-dollars.wav")),
      .init(tokens: ["received", "twenty"], clips: .init(plain: "received-twenty.wav")),
    ]
    pack = try VoicePack(directory: try voices.write(manifest))
  }

  @Test("a token gets its clip, with the text in the manifest, its pause and its role")
  func single() {
    let selections = pack.selection(for: [ClipToken(name: "dollars", role: .amount, pause: .clause)])
    guard case .clip(let clip) = selections.first else {
      Issue.record("no clip")
      return
    }
    #expect(selections.count == 1)
    #expect(clip.tokens == 0..<1 && clip.file == "dollars.wav" && clip.text == "dollars")
    #expect(clip.pause == .clause && clip.role == .amount)
  }

  @Test(
    "before a comma the rising clip is chosen, and before a full stop and at the end the final clip, if they exist",
    arguments: [
      (.word, "one.wav"), (.piece, "one.wav"), (.clause, "rising.wav"), (.sentence, "final.wav"), (.end, "final.wav"),
    ] as [(ClipToken.Pause, String)])
  func alternates(pause: ClipToken.Pause, file: String) {
    #expect(files([("one", .amount, pause)]) == [file])
    #expect(files([("and", .amount, pause)]) == ["and.wav"])
  }

  @Test("a clip, alternate or phrase is ignored if its words are not the token's")
  func otherWords() {
    #expect(files([("two", .amount, .word)]) == ["missing"])
    #expect(files([("four", .amount, .end)]) == ["four.wav"])
    #expect(files([("one", .amount, .word), ("dollars", .amount, .end)]) == ["one.wav", "dollars.wav"])
  }

  @Test("the longest recorded phrase is chosen, then a shorter one, then the single clips")
  func longest() {
    #expect(
      files([("twenty", .amount, .word), ("one", .amount, .piece), ("dollars", .amount, .end)])
        == ["twenty-one-dollars.wav"])
    #expect(
      files([("twenty", .amount, .word), ("one", .amount, .piece), ("and", .amount, .end)])
        == ["twenty-one.wav", "and.wav"])
    #expect(
      files([("twenty", .amount, .word), ("dollars", .amount, .end)]) == ["twenty.wav", "dollars.wav"])
  }

  @Test("for a recorded phrase, the alternate for the place after its last token is used")
  func phraseAlternates() {
    #expect(files([("twenty", .amount, .word), ("one", .amount, .end)]) == ["twenty-one-final.wav"])
    #expect(files([("twenty", .amount, .word), ("one", .amount, .clause)]) == ["twenty-one.wav"])
  }

  @Test(
    "a recorded phrase is never used across a comma or a full stop",
    arguments: [ClipToken.Pause.clause, .sentence, .end])
  func comma(pause: ClipToken.Pause) {
    #expect(files([("twenty", .amount, pause), ("one", .amount, .word)]) == ["twenty.wav", "one.wav"])
  }

  @Test("a recorded phrase never mixes the amount's words with others, so that the amount can be read back")
  func roles() {
    #expect(files([("received", .phrase, .piece), ("twenty", .amount, .end)]) == ["received.wav", "twenty.wav"])
    #expect(files([("received", .phrase, .piece), ("twenty", .channel, .end)]) == ["received-twenty.wav"])
    #expect(files([("received", .amount, .piece), ("twenty", .amount, .end)]) == ["received-twenty.wav"])
  }

  @Test("adjacent tokens without a clip are reported as one range, and every token is covered once")
  func missing() {
    let tokens = ["x", "y", "one", "z", "twenty"].map { ClipToken(name: $0, role: .amount, pause: .word) }
    let ranges = pack.selection(for: tokens).map { selection in
      switch selection {
      case .clip(let clip): clip.tokens
      case .missing(let range): range
      }
    }
    #expect(ranges == [0..<2, 2..<3, 3..<4, 4..<5])
    #expect(pack.selection(for: tokens).first == .missing(0..<2))
    #expect(pack.selection(for: []) == [])
  }

  @Test("the coverage of a pack counts the tokens with a clip of their own, in the vocabulary's order")
  func coverage() {
    func word(_ token: String) -> Vocabulary.Word {
      Vocabulary.Word(
        token: token, text: token, role: .amount, mayEnd: false, example: token, smallestAmount: nil)
    }
    let vocabulary = Vocabulary(
      locale: "en-US",
      blocks: [
        .init(coverage: "first", isRequired: true, words: [word("one"), word("three"), word("twenty")]),
        .init(coverage: "second", isRequired: false, words: [word("cents"), word("dollars")]),
      ])
    #expect(pack.missing(from: vocabulary).map(\.token) == ["three", "cents"])
  }

  private func files(_ tokens: [(String, Script.Role, ClipToken.Pause)]) -> [String] {
    pack.selection(for: tokens.map { ClipToken(name: $0.0, role: $0.1, pause: $0.2) }).map { selection in
      if case .clip(let clip) = selection { clip.file } else { "missing" }
    }
  }
}

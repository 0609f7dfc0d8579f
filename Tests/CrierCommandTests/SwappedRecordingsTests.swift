// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The recordings are the engine's, in a voice with which `import` does not compare them.
@Suite("crier voices: swapped recordings")
struct SwappedRecordingsTests {
  private static let words = [
    "Received", "one", "two", "three", "seven", "eleven", "twenty", "hundred", "thousand", "dollars", "and", "cents",
  ]

  private func recordings(_ crier: Command) throws -> URL {
    let folder = crier.directory.appending(path: "recordings")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for word in Self.words {
      let result = try crier(
        "render", "--text", word, "--locale", "en-US", "--voice", "en-us+m7", "--rate", "150", "--output",
        folder.appending(path: "\(word).wav").path)
      #expect(result.status == 0)
    }
    return folder
  }

  private func swap(_ first: String, _ second: String, in folder: URL) throws {
    let (one, two) = (folder.appending(path: "\(first).wav"), folder.appending(path: "\(second).wav"))
    let bytes = (try Data(contentsOf: one), try Data(contentsOf: two))
    try bytes.1.write(to: one)
    try bytes.0.write(to: two)
  }

  private func imports(_ crier: Command, _ folder: URL, _ options: String...) throws -> Command.Result {
    try crier.run(["voices", "import", folder.path, "--locale", "en-US", "--id", "shop"] + options)
  }

  @Test(
    "crier voices import refuses swapped recordings, --accept-swapped imports them, and check reports them"
  )
  func swapped() throws {
    let crier = try Command()
    defer { crier.remove() }
    let folder = try recordings(crier)
    try swap("one", "two", in: folder)

    let refused = try imports(crier, folder)
    #expect(refused.status == 65)
    #expect(
      refused.message.contains(
        """
        The recordings: seem to include 1 swapped pair, so nothing was imported; listen to both recordings of each \
        pair, and rename them or import them unchanged with --accept-swapped.
          row 2 (one, one.wav): sounds like row 4 (two, two.wav), and the other way round
        """), "\(refused.message)")
    #expect(!FileManager.default.fileExists(atPath: crier.home.appending(path: "Voices/shop").path))

    let accepted = try imports(crier, folder, "--accept-swapped")
    #expect(accepted.status == 0)
    #expect(
      accepted.message.contains("row 2 (one, one.wav): sounds like row 4 (two, two.wav), and the other way round"))
    let check = try crier("voices", "check", "shop")
    #expect(check.status == 65)
    #expect(check.output.contains("error    swapped_clips  one ("), "\(check.output)")
    let checked = try crier("voices", "check", "shop", "--accept-swapped")
    #expect(checked.output.contains("warning  swapped_clips  one ("))
  }

  @Test("correct recordings are imported and checked without a suspicion of swapped or wrong words")
  func right() throws {
    let crier = try Command()
    defer { crier.remove() }
    let imported = try imports(crier, try recordings(crier))
    #expect(imported.status == 0)
    #expect(!imported.message.contains("sounds"), "\(imported.message)")
    let check = try crier("voices", "check", "shop")
    for code in ["swapped_clips", "other_words", "not compared"] { #expect(!check.output.contains(code)) }
  }

  @Test("without an engine, recordings are imported, and import and check say that the recordings were not compared")
  func withoutEngine() throws {
    let crier = try Command()
    defer { crier.remove() }
    let folder = try recordings(crier)
    // Here, the program has no speaker program beside it.
    let alone = crier.directory.appending(path: "bin/crier")
    try FileManager.default.createDirectory(at: alone.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Command.linkProgram(to: alone)
    let imported = try crier.run(
      ["voices", "import", folder.path, "--locale", "en-US", "--id", "shop"], program: alone)
    #expect(imported.status == 0)
    #expect(imported.message.contains("The recordings were not compared with what they should say. "))
    let check = try crier.run(["voices", "check", "shop"], program: alone)
    #expect(check.output.contains("not compared: whether the recordings say what they should ("))
  }
}

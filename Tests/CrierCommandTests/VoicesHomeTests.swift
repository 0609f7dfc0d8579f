// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The home folder of crier voices")
struct VoicesHomeTests {
  /// The program, whose `CRIER_HOME` is a decoy: its lexicon cannot be read, so a command that uses it fails.
  private let crier: Command
  /// The home folder that the commands name.
  private let home: URL

  init() throws {
    crier = try Command()
    home = crier.directory.appending(path: "service")
    try FileManager.default.createDirectory(at: crier.home, withIntermediateDirectories: true)
    try Data("?".utf8).write(to: crier.home.appending(path: "lexicon.csv"))
  }

  /// Makes recordings by the engine and returns their folder.
  private func recordings(_ words: [String]) throws -> URL {
    let folder = crier.directory.appending(path: "recordings")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let empty = crier.directory.appending(path: "empty").path
    for word in words {
      let file = folder.appending(path: "\(word).wav").path
      #expect(
        try crier(
          "render", "--text", word, "--locale", "en-US", "--output", file, environment: ["CRIER_HOME": empty]
        ).status == 0)
    }
    return folder
  }

  private func run(_ words: String..., home: URL? = nil) throws -> Command.Result {
    try crier.run(["voices"] + words + ["--home", (home ?? self.home).path])
  }

  @Test("crier voices import, sheet, check and listen use the home folder that --home names, and no other")
  func decoy() throws {
    defer { crier.remove() }
    let folder = try recordings(["two", "dollars"])
    let imported = try run("import", folder.path, "--locale", "en-US", "--id", "shop")
    #expect(imported.status == 0, "\(imported.message)")
    #expect(imported.output == home.appending(path: "Voices/shop").path + "\n")
    #expect(
      imported.message.hasSuffix("\nen-US: shop speaks, because it is the first recorded pack that has the words.\n"))
    #expect(try run("sheet", "--locale", "en-US").output.hasPrefix("number,file,"))
    let check = try run("check", "shop")
    #expect(check.status == 65 && check.output.contains("shop"), "\(check.message)")
    #expect(try run("check").output == check.output)

    let log = crier.directory.appending(path: "played.log").path
    let heard = try run("listen", "shop", "two", "--output", "file:\(log)")
    #expect(heard.status == 0 && heard.output.hasPrefix("two.wav\tplain\ttwo\t"), "\(heard.message)")
    let manifest = try String(contentsOf: home.appending(path: "Voices/shop/manifest.json"), encoding: .utf8)
    let digest = try #require(manifest.firstMatch(of: /"two.wav" : \{\s*"sha256" : "([0-9a-f]+)"/)?.1)
    try Data(#"{"marked": {"two.wav": "\#(digest)"}}"#.utf8)
      .write(to: home.appending(path: "Voices/shop.marks.json"))
    #expect(try run("listen", "shop", "--wrong").output.hasSuffix("\tplain\ttwo\n"))
    #expect(try run("use", "shop").output == "en-US\tshop\n")
    #expect(try run("list").output.hasSuffix("\tspeaks (chosen)\n"))
    #expect(try run("remove", "shop").status == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: crier.home.path) == ["lexicon.csv"])
  }

  @Test(
    "an unreadable lexicon is an error only in the home folder that the command uses",
    arguments: [
      ["sheet", "--locale", "en-US"], ["build", "--locale", "en-US"],
      ["import", ".", "--locale", "en-US", "--id", "x"],
      ["build", "--with", "true {text} {output}", "--locale", "en-US", "--id", "x"],
    ])
  func lexicon(words: [String]) throws {
    defer { crier.remove() }
    let result = try crier.run(["voices"] + words)
    #expect(result.status == 65 && result.message.contains("lexicon.csv"), "\(result)")
    let other = try crier.run(
      ["voices"] + words + ["--home", crier.home.path], environment: ["CRIER_HOME": home.path])
    #expect(other.status == 65 && other.message == result.message)
  }

  @Test(
    "each command of crier voices refuses an empty --home",
    arguments: ["import", "build", "check", "sheet", "listen", "list"])
  func empty(command: String) throws {
    defer { crier.remove() }
    let words = ["import": [".", "--locale", "en-US", "--id", "x"], "listen": ["x"]]
    let locale = ["build", "sheet"].contains(command) ? ["--locale", "en-US"] : []
    let result = try crier.run(["voices", command] + (words[command] ?? locale) + ["--home", ""])
    #expect(result.status == 64 && result.message.contains("--home is empty: name a folder."), "\(result)")
  }

  @Test("crier voices import, use and remove warn if the setting 'packs' selects another pack or the removed pack")
  func settings() throws {
    defer { crier.remove() }
    let folder = try recordings(["two"])
    try FileManager.default.createDirectory(at: home, withIntermediateDirectories: true)
    try Data("packs: en-US=shop\n".utf8).write(to: home.appending(path: "crier.yaml"))
    func imported(_ id: String) throws -> String {
      try run("import", folder.path, "--locale", "en-US", "--id", id).message
    }
    #expect(
      try imported("a").hasSuffix(
        "The service's setting 'packs' selects shop for en-US, but there is no such pack: change the setting.\n"))
    #expect(
      try imported("shop").hasSuffix(
        "The service still uses shop for en-US, because the service's setting 'packs' selects that pack.\n"))
    #expect(
      try run("use", "a").message
        == "en-US: a speaks, because it is chosen.\n"
        + "The service still uses shop for en-US, because the service's setting 'packs' selects that pack.\n")
    #expect(try run("use", "shop").message == "en-US: shop speaks, because it is chosen.\n")
    #expect(
      try run("remove", "shop").message
        == "en-US: a speaks, because it is the first recorded pack that has the words.\n"
        + "The service's setting 'packs' selects shop for en-US, but there is no such pack: change the setting.\n")
    try Data("packs: fr-FR=a\n".utf8).write(to: home.appending(path: "crier.yaml"))
    #expect(
      try run("remove", "a").message
        == "en-US: the speech engine speaks.\n"
        + "The service's setting 'packs' selects a for fr-FR, but there is no such pack: change the setting.\n")
  }
}

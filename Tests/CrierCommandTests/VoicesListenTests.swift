// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import crier

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("crier voices listen")
struct VoicesListenTests {
  @Test("Enter goes to the next clip, r repeats the clip, w marks it and goes on, q ends, and other input is ignored")
  func session() {
    var session = ListeningSession(count: 3)
    var heard: [Int] = []
    var marked: [Int] = []
    for line in ["", "r", "W", "x", " q "] {
      guard let answer = ListeningSession.Answer(line), let current = session.current else { continue }
      heard.append(current)
      if session.next(answer) { marked.append(current) }
    }
    #expect(heard == [0, 1, 1, 2] && marked == [1])
    #expect(session.current == nil)
    #expect(ListeningSession.Answer("x") == nil)
    #expect(ListeningSession(count: 0).current == nil)
  }

  @Test("crier voices listen --no-sound lists each clip on a line, and a token selects the clips that say the token")
  func lines() throws {
    let crier = try Command()
    defer { crier.remove() }
    try pack(of: crier, ["Received", "two", "dollars"])
    let all = try crier("voices", "listen", "shop", "--no-sound")
    #expect(all.status == 0)
    let lines = all.output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
    #expect(lines.map { $0[0] } == ["received.wav", "two.wav", "dollars.wav"], "in the order of the sheet")
    #expect(lines.allSatisfy { $0.count == 4 && $0[1] == "plain" && $0[3].hasSuffix(" ms") })
    let one = try crier("voices", "listen", "shop", "TWO", "--no-sound", "--json")
    #expect(one.output.contains(#""file":"two.wav""#) && one.output.contains(#""is_marked":false"#))
    #expect(one.output.split(separator: "\n").count == 1)
    let none = try crier("voices", "listen", "shop", "three", "--no-sound")
    #expect(none.status == 64)
    #expect(
      none.message == "crier: The pack shop has no clip of three: see crier voices listen shop --no-sound.\n")
    #expect(try crier("voices", "listen", "other").status == 64)
  }

  @Test("without a terminal, crier voices listen plays all clips, and a sound output that does not work is an error")
  func played() throws {
    let crier = try Command()
    defer { crier.remove() }
    try pack(of: crier, ["two", "dollars"])
    let log = crier.directory.appending(path: "played.log")
    let result = try crier("voices", "listen", "shop", "--output", "file:\(log.path)", "--gap", "0")
    #expect(result.status == 0, "\(result.message)")
    #expect(result.output.split(separator: "\n").count == 2)
    #expect(try String(contentsOf: log, encoding: .utf8).isEmpty == false)
    #expect(try crier("voices", "listen", "shop", "two", "--output", "alsa:no-such-device").status == 69)
  }

  @Test("the question after a clip says that a letter needs Enter, and a letter with Enter answers the question")
  func asked() throws {
    let crier = try Command()
    defer { crier.remove() }
    try pack(of: crier, ["two", "dollars"])
    let log = crier.directory.appending(path: "played.log").path
    let listening = try TerminalCommand(["voices", "listen", "shop", "--output", "file:\(log)"], of: crier)
    let question = "Enter: next clip. Or a letter and Enter: r (again), w (wrong), q (quit): "
    try eventually("the question is asked") { listening.messages.hasSuffix(question) }
    try listening.type("w\n")
    try eventually("the next clip is asked about") {
      listening.messages.hasSuffix(question) && listening.messages.contains("two.wav: marked as wrong.")
    }
    try listening.type("q\n")
    #expect(listening.wait() == 0)
    #expect(listening.messages.contains("1 clip is marked as wrong"))
  }

  @Test("an interrupt ends crier voices listen while it waits for an answer", arguments: [SIGINT, SIGTERM])
  func interrupted(number: Int32) throws {
    let crier = try Command()
    defer { crier.remove() }
    try pack(of: crier, ["two", "dollars"])
    let log = crier.directory.appending(path: "played.log").path
    let listening = try TerminalCommand(["voices", "listen", "shop", "--output", "file:\(log)"], of: crier)
    try eventually("the question is asked") { listening.messages.hasSuffix(ListeningSession.prompt) }
    listening.signal(number)
    try eventually("the program ends") { listening.hasEnded }
    #expect(listening.wait() == 128 + number)
  }

  @Test("while a service runs, crier voices listen says in one line that the service also plays the clips")
  func besideService() throws {
    let crier = try Command()
    defer { crier.remove() }
    try pack(of: crier, ["two", "dollars"])
    let output = "file:\(crier.directory.appending(path: "played.log").path)"
    let service = try RunningService(of: crier, ["--port", "0", "--output", output])
    let result = try crier("voices", "listen", "shop", "--output", output)
    #expect(result.status == 0 && result.output.split(separator: "\n").count == 2)
    #expect(
      result.message.wholeMatch(of: /Process \d+ plays on file:\S+, so it plays this too\.\n/) != nil,
      "\(result.message)")
    withExtendedLifetime(service) {}
  }

  @Test("crier voices listen lists marked clips with the rows to record again, until the clips are recorded again")
  func wrong() throws {
    let crier = try Command()
    defer { crier.remove() }
    let folder = try pack(of: crier, ["two", "dollars"])
    let none = try crier("voices", "listen", "shop", "--wrong")
    #expect(none.output.isEmpty && none.message == "No clip of shop is marked as wrong.\n")
    let manifest = try Data(contentsOf: crier.home.appending(path: "Voices/shop/manifest.json"))
    let text = String(decoding: manifest, as: UTF8.self)
    let digest = try #require(text.firstMatch(of: /"two.wav" : \{\s*"sha256" : "([0-9a-f]+)"/)?.1)
    try Data(#"{"marked": {"two.wav": "\#(digest)"}}"#.utf8)
      .write(to: crier.home.appending(path: "Voices/shop.marks.json"))
    let marked = try crier("voices", "listen", "shop", "--wrong")
    let sheet = try crier("voices", "sheet", "--locale", "en-US").output
    let row = try #require(sheet.firstMatch(of: /(\d+),(\d+),two,two,plain/))
    #expect(marked.output == "\(row.1)\t\(row.2).wav\tplain\ttwo\n")
    #expect(marked.message.hasPrefix("Record these rows again"))
    #expect(try crier("voices", "listen", "shop", "two", "--no-sound").output.hasSuffix("\twrong\n"))
    let other = try crier(
      "render", "--text", "two two", "--locale", "en-US", "--output", folder.appending(path: "two.wav").path)
    #expect(other.status == 0)
    let again = try crier("voices", "import", folder.path, "--locale", "en-US", "--id", "shop", "--replace")
    #expect(again.status == 0)
    #expect(try crier("voices", "listen", "shop", "--wrong").output.isEmpty)
  }

  @Test("marking a clip of an installed pack is refused with a message, and listening continues")
  func markedInInstallation() throws {
    let crier = try Command()
    defer { crier.remove() }
    try pack(of: crier, ["two", "dollars"])
    let voices = crier.data.appending(path: "Voices")
    try FileManager.default.moveItem(at: crier.home.appending(path: "Voices"), to: voices)
    let log = crier.directory.appending(path: "played.log").path
    let listening = try TerminalCommand(["voices", "listen", "shop", "--output", "file:\(log)"], of: crier)
    try eventually("the question is asked") { listening.messages.hasSuffix(ListeningSession.prompt) }
    try listening.type("w\n")
    try eventually("the next clip is asked about") {
      listening.messages.hasSuffix(ListeningSession.prompt) && listening.messages.contains("The clip was not marked")
    }
    try listening.type("q\n")
    #expect(listening.wait() == 0)
    #expect(!FileManager.default.fileExists(atPath: voices.appending(path: "shop.marks.json").path))
  }

  @Test("a row to record again has its number in the given sheet; without a sheet, an ambiguous number is omitted")
  func wrongOfLimitedSheet() throws {
    let crier = try Command()
    defer { crier.remove() }
    try pack(of: crier, ["Received", "two", "euros"])
    let text = try String(contentsOf: crier.home.appending(path: "Voices/shop/manifest.json"), encoding: .utf8)
    let digests = try ["two", "euros"].map { word in
      let clip = try Regex("\"\(word).wav\" : \\{\\s*\"sha256\" : \"([0-9a-f]+)\"")
      return "\"\(word).wav\": \"\(try #require(text.firstMatch(of: clip)?.output[1].substring))\""
    }
    try Data(#"{"marked": {\#(digests.joined(separator: ", "))}}"#.utf8)
      .write(to: crier.home.appending(path: "Voices/shop.marks.json"))
    let sheet = crier.directory.appending(path: "euros.csv")
    let options = ["--locale", "en-US", "--currency", "EUR"]
    #expect(try crier.run(["voices", "sheet", "--output", sheet.path] + options).status == 0)
    let rows = try String(contentsOf: sheet, encoding: .utf8)
    let two = try #require(rows.firstMatch(of: /(\d+),(\d+),two,two,plain/))
    let euros = try #require(rows.firstMatch(of: /(\d+),(\d+),euros,euros,plain/))
    let expected = "\(two.1)\t\(two.2).wav\tplain\ttwo\n\(euros.1)\t\(euros.2).wav\tplain\teuros\n"
    func wrong(_ options: String...) throws -> Command.Result {
      try crier.run(["voices", "listen", "shop", "--wrong"] + options)
    }
    #expect(try wrong("--currency", "EUR").output == expected)
    let given = try wrong("--sheet", sheet.path)
    #expect(given.output == expected && given.message.hasSuffix("The numbers come from \(sheet.path).\n"))
    let unknown = try wrong()
    #expect(unknown.output == "\(two.1)\t\(two.2).wav\tplain\ttwo\n-\teuros\tplain\teuros\n")
    #expect(unknown.message.contains("give this sheet with --sheet, or its currencies with --currency."))
    #expect(try wrong("--sheet", "none.csv").message == "crier: --sheet none.csv cannot be read: give a CSV file.\n")
    #expect(try wrong("--sheet", sheet.path, "--currency", "EUR").status == 64)
    #expect(try crier("voices", "listen", "shop", "--no-sound", "--currency", "EUR").status == 64)
  }

  /// Imports a pack of words that the engine says, and returns the folder of its recordings.
  @discardableResult private func pack(of crier: Command, _ words: [String]) throws -> URL {
    let folder = crier.directory.appending(path: "recordings")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for word in words {
      let file = folder.appending(path: "\(word).wav").path
      #expect(try crier("render", "--text", word, "--locale", "en-US", "--output", file).status == 0)
    }
    #expect(try crier("voices", "import", folder.path, "--locale", "en-US", "--id", "shop").status == 0)
    return folder
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@Suite("crier book")
struct BookCommandTests {
  /// A data folder with the books and readers of the checkout.
  private func dataFolder() throws -> URL {
    let checkout = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardizedFileURL
    let folder = FileManager.default.temporaryDirectory.appending(path: "data-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in ["Templates", "Readers"] {
      try FileManager.default.copyItem(at: checkout.appending(path: name), to: folder.appending(path: name))
    }
    return folder
  }

  @Test("crier book new writes the phrase book and the reader, and replaces neither")
  func new() throws {
    let crier = try Command()
    let data = try dataFolder()
    defer {
      crier.remove()
      try? FileManager.default.removeItem(at: data)
    }
    let made = try crier("book", "new", "da-DK", "--data", data.path)
    #expect(made.status == 0, "\(made.message)")
    let paths = made.output.split(separator: "\n")
    #expect(paths.first?.hasSuffix("/Templates/da-DK.json") == true)
    #expect(paths.last?.hasSuffix("/Readers/da.json") == true)
    let again = try crier("book", "new", "da-DK", "--data", data.path)
    #expect(again.status == 73)
    #expect(again.message.contains("it is there already"))
  }

  @Test("crier book check of a new locale names the unfinished reader and the sentences that are not translated")
  func unfinished() throws {
    let crier = try Command()
    let data = try dataFolder()
    defer {
      crier.remove()
      try? FileManager.default.removeItem(at: data)
    }
    #expect(try crier("book", "new", "da-DK", "--data", data.path).status == 0)
    let check = try crier("book", "check", "da-DK", "--data", data.path, "--no-sound")
    #expect(check.status == 65)
    #expect(check.output.hasPrefix("problem: The file in Readers/ for the locale da-DK is invalid"))
    #expect(check.output.contains("problem: sentences.received is still the text of en-"))
    #expect(check.output.hasSuffix(" problems.\n"))
  }

  @Test("crier book check of a correct locale prints the number of amounts and ends with status 0")
  func check() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("book", "check", "sv-SE")
    #expect(result.status == 0, "\(result.output)")
    #expect(result.output.firstMatch(of: #/sv-SE: 1[0-9]{5} amounts, 0 problems\.\n$/#) != nil)
    #expect(result.output.contains("note: No native speaker has signed the words."))
  }

  @Test("crier book check compares the words with the signed sheet")
  func sheet() throws {
    let crier = try Command()
    let data = try dataFolder()
    defer {
      crier.remove()
      try? FileManager.default.removeItem(at: data)
    }
    let sheet = try crier("book", "sheet", "en-GB", "--data", data.path).output
    #expect(sheet.split(separator: "\n").count { !$0.hasPrefix("#") } == 60)
    let folder = data.appending(path: "Templates/sheets")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let wrong = sheet.replacing(" pounds", with: " quid")
    try #require(wrong != sheet)
    try Data(wrong.utf8).write(to: folder.appending(path: "en-GB.tsv"))
    let check = try crier("book", "check", "en-GB", "--data", data.path, "--no-sound")
    #expect(check.status == 65)
    #expect(check.output.contains(" quid"))
  }

  @Test("crier book check without the engine prints all other findings, and says that the sounds were not checked")
  func checkWithoutEngine() throws {
    let crier = try Command()
    defer { crier.remove() }
    // The program looks for the speaker in its own folder.
    let program = crier.directory.appending(path: "crier")
    try Command.linkProgram(to: program)
    let check = try crier.run(["book", "check", "sv-SE"], program: program)
    #expect(check.status == 65)
    #expect(check.output.contains("note: No native speaker has signed the words."))
    #expect(check.output.contains("problem: The sounds were not checked. "))
    #expect(check.output.hasSuffix(" amounts, 1 problem.\n"))
  }

  @Test("crier book listen prints the words of the first payments")
  func listen() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("book", "listen", "en-US", "--first", "2", "--no-sound")
    #expect(result.status == 0, "\(result.message)")
    let lines = result.output.split(separator: "\n").map { $0.split(separator: "\t") }
    #expect(lines.count == 2)
    #expect(lines.allSatisfy { $0.count == 3 && $0[2].hasPrefix("Received ") })
  }

  @Test(
    "crier book refuses an unknown locale, a language without a country, and a command without a payment to play",
    arguments: [
      (["check", "xx-XX"], "there is no such book"), (["new", "danish"], "write it as in sv-SE"),
      (["new", "da-DK", "--like", "xx-XX"], "--like xx-XX: there is no such book"),
      (["new", "da-DK", "--like", "en-GB"], "--like en-GB: this book only extends en-US"),
      (["listen", "en-US", "--first", "0"], "--first 0 is out of range"),
    ])
  func wrong(arguments: [String], message: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run(["book"] + arguments)
    #expect(result.status == 64)
    #expect(result.message.contains(message), "\(result.message)")
  }
}

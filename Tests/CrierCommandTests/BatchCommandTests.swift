// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("crier batch")
struct BatchCommandTests {
  private func files(_ folder: URL) throws -> [String: Data] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { !$0.hasPrefix(".") }
    return Dictionary(uniqueKeysWithValues: try names.map { ($0, try Data(contentsOf: folder.appending(path: $0))) })
  }

  private func objects(_ output: String) throws -> [[String: Any]] {
    try output.split(separator: "\n").map { line in
      try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
  }

  /// Returns the summary without its last part, which contains times.
  private func counts(_ message: String) -> Substring? {
    message.split(separator: "\n").last?.split(separator: ";").first
  }

  private static let list = """
    id,amount,currency,locale,shop
    1,12.50,CNY,zh-CN,A
    2,12.505,CNY,zh-CN,A
    3,5,USD,en-US,B

    """

  @Test("crier batch renders the clips, reports each error with its line, prints no output, and ends with status 1")
  func rows() throws {
    let crier = try Command()
    defer { crier.remove() }
    try Data(Self.list.utf8).write(to: crier.directory.appending(path: "list.csv"))
    let result = try crier("batch", "list.csv")
    #expect(result.status == 1)
    #expect(result.output.isEmpty)
    let lines = result.message.split(separator: "\n")
    #expect(lines.first == "unknown column, not spoken: \"shop\"")
    #expect(
      lines.dropFirst().first
        == "line 3: amount: has more decimal digits than CNY has; CNY has 2, and nothing is rounded.")
    #expect(counts(result.message) == "3 rows: 2 made, 0 already there, 1 failed")
    #expect(lines.count == 3)
    #expect(try files(crier.sounds).count == 2)
  }

  @Test("a list without a row and an incomplete JSON array give status 65, and an error has the number of its element")
  func forms() throws {
    let crier = try Command()
    defer { crier.remove() }
    let empty = try crier("batch", "-", input: "amount;currency\n;\n")
    #expect(empty.status == 65 && empty.output.isEmpty)
    #expect(empty.message == "crier: list: has a header and no row; write at least one announcement.\n")
    let array = try crier("batch", "-", "--json", input: "[{\"text\":\"Hello\"},\n{\"amount\":\"5\"}]\n")
    #expect(array.status == 1 && array.message.hasPrefix("line 2, element 2: "))
    let fault = try #require(try objects(array.output).first { $0["error"] != nil })
    #expect(fault["line"] as? Int == 2 && fault["element"] as? Int == 2)
    let cut = try crier("batch", "-", input: "[{\"text\":\"Hello\"},\n{\"text\":")
    #expect(cut.status == 65 && cut.message.contains("line 2, element 2: does not end"))
  }

  @Test("crier batch --json prints one line for each row, with the report of render or the error")
  func json() throws {
    let crier = try Command()
    defer { crier.remove() }
    let objects = try objects(try crier("batch", "-", "--json", input: Self.list).output)
    #expect(objects.count == 3)
    let fault = try #require(objects.first { $0["error"] != nil })
    #expect(fault["line"] as? Int == 3)
    #expect(fault["id"] as? String == "2")
    #expect((fault["error"] as? [String: String])?["code"] == "field_invalid")
    let report = try #require(objects.first { $0["id"] as? String == "1" })
    let rendered = try crier("render", "--amount", "12.50", "--currency", "CNY", "--locale", "zh-CN", "--json")
    var expected = try #require(try self.objects(rendered.output).first)
    #expect(expected["cached"] as? Bool == true)
    expected["cached"] = false
    expected["id"] = "1"
    #expect(report as NSDictionary == expected as NSDictionary)
  }

  @Test("a second run of crier batch finds all clips, changes no file, and ends with status 0")
  func again() throws {
    let crier = try Command()
    defer { crier.remove() }
    let list = "{\"text\": \"Hello\"}\n{\"amount\": \"5\", \"currency\": \"USD\"}\n"
    let first = try crier("batch", "-", "--locale", "en-US", input: list)
    #expect(first.status == 0)
    #expect(counts(first.message) == "2 rows: 2 made, 0 already there, 0 failed")
    let before = try files(crier.sounds)
    let second = try crier("batch", "-", "--locale", "en-US", "--jobs", "1", input: list)
    #expect(counts(second.message) == "2 rows: 0 made, 2 already there, 0 failed")
    #expect(second.message.contains("; 0 B in "))
    #expect(try files(crier.sounds) == before)
  }

  @Test("a batch that is killed twice and run again leaves the same bytes as an undisturbed run")
  func killed() throws {
    let crier = try Command()
    defer { crier.remove() }
    let list = "amount,currency,locale\n" + (1...60).map { "\($0),CNY,zh-CN\n" }.joined()
    let file = crier.directory.appending(path: "list.csv")
    try Data(list.utf8).write(to: file)
    #expect(try crier("batch", "list.csv", "--containers", "calm").status == 0)
    let sounds = ["calm", "shaken"].map { crier.directory.appending(path: "\($0)/group.crier/Library/Sounds") }

    // The second run skips the clips of the first run, and is killed while it renders its own.
    for lines in [8, 35] {
      let batch = try RunningCommand(
        ["batch", file.path, "--json", "--containers", crier.directory.appending(path: "shaken").path], of: crier)
      var newlines = 0
      while newlines < lines {
        let bytes = batch.output.availableData
        try #require(!bytes.isEmpty)
        newlines += bytes.count { $0 == UInt8(ascii: "\n") }
      }
      batch.signal(SIGKILL)
      #expect(batch.wait() == 128 + SIGKILL)
      #expect(try files(sounds[1]).count >= lines)
    }

    let left = try files(sounds[1]).count
    let again = try crier("batch", "list.csv", "--containers", "shaken")
    #expect(counts(again.message) == "60 rows: \(60 - left) made, \(left) already there, 0 failed")
    #expect(try files(sounds[1]) == files(sounds[0]))
  }

  @Test("an interrupted batch prints its counts and how to make the remaining rows, and ends with the signal")
  func interrupted() throws {
    let crier = try Command()
    defer { crier.remove() }
    let batch = try RunningCommand(["batch", "-", "--json", "--containers", crier.directory.path], of: crier)
    try batch.input.write(contentsOf: Data("{\"text\": \"One\"}\n{\"text\": \"Two\"}\n".utf8))
    var newlines = 0
    while newlines < 2 {
      let bytes = batch.output.availableData
      try #require(!bytes.isEmpty)
      newlines += bytes.count { $0 == UInt8(ascii: "\n") }
    }
    batch.signal(SIGINT)
    #expect(batch.wait() == 128 + SIGINT)
    let message = try batch.messages()
    #expect(message.contains("2 rows: 2 made, 0 already there, 0 failed"), "\(message)")
    #expect(message.hasSuffix("Interrupted. Run the command again to make the remaining rows.\n"), "\(message)")
  }

  @Test("crier batch renders each row when it arrives, so that a writer can wait for each answer")
  func conversation() throws {
    let crier = try Command()
    defer { crier.remove() }
    let batch = try RunningCommand(["batch", "-", "--json", "--containers", crier.directory.path], of: crier)
    for text in ["One", "Two", "Three"] {
      try batch.input.write(contentsOf: Data("{\"text\": \"\(text)\"}\n".utf8))
      var line = Data()
      while line.last != UInt8(ascii: "\n") {
        let bytes = batch.output.availableData
        try #require(!bytes.isEmpty)
        line += bytes
      }
      #expect(try objects(String(decoding: line, as: UTF8.self)).first?["text"] as? String == text)
    }
    try batch.input.close()
    #expect(batch.wait() == 0)
  }

  @Test("crier batch ends with status 73 when the reader of its output closes, even while the list is still open")
  func closedOutput() throws {
    let crier = try Command()
    defer { crier.remove() }
    let batch = try RunningCommand(
      ["batch", "-", "--json", "--containers", crier.directory.path], of: crier, isRead: false)
    try batch.input.write(contentsOf: Data("{\"text\": \"One\"}\n".utf8))
    #expect(batch.wait() == 73)
    try batch.input.close()
  }

  @Test(
    "an error of the whole list is printed as one line and gives status 65, and nothing is rendered",
    arguments: [
      ("amount,locale\n5,en-US\n", "crier: line 1, column currency: is missing; an amount needs a currency.\n"),
      (
        "", "crier: list: is empty; give CSV with a header, JSON lines that begin with {, or a JSON array of objects.\n"
      ),
      ("text,text\na,b\n", "crier: line 1, column text: occurs twice; name each column once.\n"),
    ])
  func wholeList(list: String, message: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("batch", "-", input: list)
    #expect(result.status == 65)
    #expect(result.message == message)
    #expect(!FileManager.default.fileExists(atPath: crier.sounds.path))
  }

  @Test("crier batch ends with status 65 for a list that cannot be read", arguments: ["nothing.csv", "."])
  func unreadable(path: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("batch", path)
    #expect(result.status == 65)
    #expect(
      result.message
        == "crier: \(path): cannot be read; give a CSV or JSON lines file, or - for standard input.\n")
  }

  @Test("an output that cannot be written ends the batch with status 73, and the finished clips are kept")
  func unwritable() throws {
    let crier = try Command()
    defer { crier.remove() }
    try Data().write(to: crier.directory.appending(path: "boxes"))
    let result = try crier("batch", "-", "--containers", "boxes", input: Self.list)
    #expect(result.status == 73)
    #expect(result.message.contains("crier: "))
  }

  @Test(
    "a wrong command line of crier batch gives status 64, and the message names the argument as typed",
    arguments: [
      (["batch"], "Missing expected argument '<file>'"),
      (["batch", "-", "--jobs", "0"], "--jobs 0 is out of range: give 1 to 256."),
      (["batch", "-", "--jobs", "257"], "--jobs 257 is out of range: give 1 to 256."),
      (["batch", "-", "--containers", ""], "--containers is empty: name a folder."),
      (["batch", "-", "--input-format", "xml"], "The value 'xml' is invalid for '--input-format <input-format>'"),
      (["batch", "-", "--rate", "9"], "--rate: is out of range; give 80 to 450 words a minute."),
      (["batch", "-", "--group", "../x"], "The group name \"../x\" is invalid"),
    ])
  func usage(arguments: [String], message: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run(arguments, input: Self.list)
    #expect(result.status == 64)
    #expect(result.message.contains(message), "\(result.message)")
    #expect(result.output.isEmpty)
  }

  @Test("--input-format of crier batch decides how rows are read, whatever their first character is")
  func inputFormat() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("batch", "-", "--input-format", "csv", "--locale", "en-US", input: "text\n{\"a\"\n\"{x\"\n")
    #expect(result.status == 1)
    #expect(counts(result.message) == "2 rows: 1 made, 0 already there, 1 failed")
  }
}

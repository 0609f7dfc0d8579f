// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundMeasurement
import Testing

@Suite("crier render")
struct RenderCommandTests {
  /// The locales of this checkout's phrase books, as an error lists them.
  private static let locales = {
    let folder = Command.checkout.appending(path: "Templates").path(percentEncoded: false)
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return files.filter { $0.contains("-") }.map { $0.replacing(".json", with: "") }.sorted().joined(separator: ", ")
  }()

  @Test("crier render prints the path of a clip in the group's Library/Sounds, and nothing else on standard output")
  func path() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier(
      "render", "--amount", "12.50", "--currency", "CNY", "--channel", "alipay", "--locale", "zh-CN")
    #expect(result.status == 0)
    let path = result.output.trimmingCharacters(in: .newlines)
    #expect(path.hasPrefix(crier.sounds.path + "/"))
    #expect(path.hasSuffix(".wav"))
    #expect(try SoundReport.measure(file: path).sampleRate == 22_050)
    #expect(result.message.hasPrefix("支付宝到账十二元五角 (2."))
  }

  @Test("crier render renders every sample, from a file and from standard input")
  func samples() throws {
    let crier = try Command()
    defer { crier.remove() }
    let samples = try FileManager.default.contentsOfDirectory(
      at: Command.checkout.appending(path: "Samples"), includingPropertiesForKeys: nil)
    #expect(samples.count >= 7)
    for sample in samples {
      let fromFile = try crier("render", sample.path)
      let fromInput = try crier("render", "-", input: try String(contentsOf: sample, encoding: .utf8))
      #expect(fromFile.status == 0, "\(fromFile.message)")
      #expect(fromFile.output == fromInput.output)
      #expect(fromInput.message.hasSuffix(", from cache)\n"))
    }
  }

  @Test("two processes with different homes give a clip the same name and the same bytes")
  func twoHomes() throws {
    let crier = try Command()
    defer { crier.remove() }
    let sample = Command.checkout.appending(path: "Samples/mixed-zh.json").path
    let clips = try ["one", "two"].map { home in
      let result = try crier.run(
        ["render", sample, "--json"], environment: ["CRIER_HOME": home, "LANG": "\(home)_XX"])
      return try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    }
    let files = clips.compactMap { $0["clip"] as? [String: Any] }
    #expect(files.map { $0["name"] as? String }[0] == files.map { $0["name"] as? String }[1])
    #expect(files.map { $0["sha256"] as? String }[0] == files.map { $0["sha256"] as? String }[1])
    #expect(clips.allSatisfy { $0["cached"] as? Bool == false })
  }

  @Test("crier render --json prints the report as one line")
  func json() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("render", "--text", "Hello", "--locale", "en-US", "--json")
    #expect(result.output.split(separator: "\n").count == 1)
    let report = try #require(
      try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    #expect(report["text"] as? String == "Hello")
    #expect(result.message.isEmpty)
  }

  @Test("crier render --output writes to the file and publishes nothing")
  func output() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier(
      "render", "--text", "Hello", "--output", "here.caf", "--encoding", "alaw")
    #expect(result.status == 0)
    #expect(result.output == crier.directory.appending(path: "here.caf").path + "\n")
    #expect(!FileManager.default.fileExists(atPath: crier.sounds.path))
    #expect(try SoundReport.measure(file: crier.directory.appending(path: "here.caf").path).frames > 8_000)
  }

  @Test("--group and --containers determine the folder of a clip")
  func group() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("render", "--text", "Hello", "--group", "group.shop", "--containers", "boxes")
    #expect(result.output.contains("/boxes/group.shop/Library/Sounds/"))
  }

  @Test(
    "a wrong command line of crier render gives status 64, and the message names the argument as typed",
    arguments: [
      (["render"], "Nothing to announce: give a PAYLOAD, or --amount and --currency, or --text."),
      (["render", "x.json", "--text", "y"], "PAYLOAD and --text cannot be given together: choose one."),
      (["render", "--amount", "5"], "--amount needs --currency, such as --currency CNY."),
      (
        ["render", "--text", "x", "--payer", "y"],
        "--payer needs --amount: drop it, or put it into the payload or the text."
      ),
      (["render", "--text", "x", "--method", "sing"], "The value 'sing' is invalid for '--method <method>'"),
      (["render", "--text", "x", "--rate", "9"], "--rate: is out of range; give 80 to 450 words a minute."),
      (["render", "--text", "x", "--voice", "en-us+nobody"], "--voice: the engine has no such voice"),
      (
        ["render", "--text", "x", "--voice", "de"],
        "--voice: cannot read the words of en-US; choose one of en-us, en,"
      ),
      (
        ["render", "--text", "x", "--format", "wav", "--output", "x.caf"],
        "--format wav and --output x.caf contradict each other: drop one."
      ),
      (["render", "--text", "x", "--group", "../x"], "The group name \"../x\" is invalid"),
      (["render", "--text", "x", "--format", "caf", "--encoding", "ima4"], "choose one of pcm16, ulaw, alaw."),
      (["sing"], "Unknown subcommand 'sing'. Choose one of render, "),
    ])
  func usage(arguments: [String], message: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run(arguments)
    #expect(result.status == 64)
    #expect(result.message.contains(message), "\(result.message)")
    #expect(result.output.isEmpty)
  }

  @Test("an output file with an unknown extension is an error that names the formats, unless --format chooses a format")
  func unknownEnding() throws {
    let crier = try Command()
    defer { crier.remove() }
    let refused = try crier.run(["render", "--text", "x", "--output", "x.mp3"])
    #expect(refused.status == 64 && refused.output.isEmpty)
    #expect(
      refused.message.hasPrefix(
        "Error: --output x.mp3: mp3 is not an available format; use wav, aiff or caf, or choose the format with --format."
      ), "\(refused.message)")
    for flags in [["--output", "x.mp3", "--format", "wav"], ["--output", "x"], ["--output", "X.CAF"]] {
      #expect(try crier.run(["render", "--text", "x"] + flags).status == 0, "\(flags)")
    }
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: crier.directory.path).filter {
        $0.lowercased().hasPrefix("x")
      }
      .sorted() == ["X.CAF", "x", "x.mp3"])
  }

  @Test(
    "wrong input gives status 65 and a message of one line that names the field or the option",
    arguments: [
      (
        ["render", "--amount", "5.005", "--currency", "USD"],
        "crier: --amount: has more decimal digits than USD has; USD has 2, and nothing is rounded.\n"
      ),
      (
        ["render", "--amount", "5", "--currency", "usd"],
        "crier: --currency usd: is not an active ISO 4217 code; did you mean USD?\n"
      ),
      (
        ["render", "--amount", "12,50", "--currency", "USD"],
        "crier: --amount: has a comma; write a point before the decimals, such as 12.50, and no separators between "
          + "thousands.\n"
      ),
      (["render", "--text", "😀"], "crier: --text: has no word that a voice can say; give at least one word.\n"),
      (
        ["render", "--text", "x", "--locale", "xx"],
        "crier: --locale: xx has no phrase book; choose one of \(Self.locales).\n"
      ),
      (
        ["render", "nothing.json"], "crier: nothing.json: cannot be read; give a JSON file, or - for standard input.\n"
      ),
      (["render", "-"], "crier: payload: is empty; send one JSON object: a payment, or an APNs payload.\n"),
    ])
  func input(arguments: [String], message: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run(arguments)
    #expect(result.status == 65)
    #expect(result.message == message)
    #expect(result.output.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: crier.sounds.path))
  }

  @Test("without the engine, crier render ends with status 69, and the message says what to do")
  func noEngine() throws {
    let crier = try Command()
    defer { crier.remove() }
    // The program is alone in a folder without the speaker, and its data is given with --data.
    let alone = crier.directory.appending(path: "crier")
    try Command.linkProgram(to: alone)
    let process = Process()
    let message = Pipe()
    process.executableURL = alone
    process.arguments = ["render", "--text", "x", "--data", Command.checkout.path]
    process.standardError = message
    process.standardOutput = Pipe()
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 69)
    let text = String(decoding: message.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(
      text
        == "crier: starting the speech engine: the speaker program is missing; build or install it beside crier (make install).\n"
    )
  }

  @Test("without phrase books, crier render ends with status 69")
  func noBooks() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("render", "--text", "x", "--data", "nowhere")
    #expect(result.status == 69)
    #expect(result.message.contains("--data or CRIER_DATA"))
  }

  @Test("crier render --output follows a link and writes into a pipe, without replacing either")
  func specialOutput() throws {
    let crier = try Command()
    defer { crier.remove() }
    let (link, target) = (crier.directory.appending(path: "link.wav"), crier.directory.appending(path: "target.wav"))
    try Data([1]).write(to: target)
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
    #expect(try crier("render", "--text", "x", "--output", "link.wav").status == 0)
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path).hasSuffix("target.wav"))
    #expect(try SoundReport.measure(file: target.path).frames > 1_000)
    #expect(try crier("render", "--text", "x", "--output", "/dev/null").status == 0)
    #expect(
      try FileManager.default.attributesOfItem(atPath: "/dev/null")[.type] as? FileAttributeType
        == .typeCharacterSpecial)
  }

  @Test("crier render ends with status 73 if it cannot print the result, and ignores a message that cannot be printed")
  func closedOutputs() throws {
    let crier = try Command()
    defer { crier.remove() }
    for (output, message, status) in [("/dev/full", "/dev/null", 73), ("/dev/null", "/dev/full", 0)] {
      let process = Process()
      process.executableURL = Command.program
      process.environment = crier.environment
      process.arguments = ["render", "--text", "x", "--containers", crier.directory.path]
      process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
      process.standardError = try FileHandle(forWritingTo: URL(filePath: message))
      try process.run()
      process.waitUntilExit()
      #expect(process.terminationReason == .exit)
      #expect(process.terminationStatus == Int32(status))
    }
  }

  @Test(
    "crier render ends with status 73 if it cannot write the output, and leaves no partial file",
    arguments: ["containers is a file", "output in no folder"])
  func unwritable(fault: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result: Command.Result
    if fault == "containers is a file" {
      try Data().write(to: crier.directory.appending(path: "boxes"))
      result = try crier("render", "--text", "x", "--containers", "boxes")
    } else {
      result = try crier("render", "--text", "x", "--output", "no/such/folder/x.wav")
    }
    #expect(result.status == 73)
    #expect(result.output.isEmpty)
    #expect(result.message.hasPrefix("crier: "))
    let left = try FileManager.default.subpathsOfDirectory(atPath: crier.directory.path)
    #expect(!left.contains { $0.hasSuffix(".wav") || $0.contains("publishing") })
  }
}

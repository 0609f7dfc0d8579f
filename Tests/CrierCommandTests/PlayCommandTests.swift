// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PlaybackOrder
import SoundOutputTestSupport
import SQLiteLedger
import Testing
import Waveforms

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A loudspeaker, replaced by a pipe. Each line arrives when a sound begins or ends, so tests wait without a clock.
private final class Loudspeaker {
  struct Line: Decodable, Equatable {
    var event: String
    var label: String
    var length_ms: Int?  // swift-format-ignore: AlwaysUseLowerCamelCase
    var heard_ms: Int?  // swift-format-ignore: AlwaysUseLowerCamelCase
    var outcome: String?
  }

  let path: String
  private let handle: FileHandle
  private var bytes = Data()

  init(in command: Command) throws {
    path = command.directory.appending(path: "speaker").path
    guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
    // Also opened for writing, because otherwise the pipe would end whenever a program closes it.
    handle = try FileHandle(forUpdating: URL(filePath: path))
  }

  var output: String { "file:\(path)" }

  /// Returns the next line, after waiting for it.
  func next() throws -> Line {
    while true {
      if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
        defer { bytes = Data(bytes[(end + 1)...]) }
        return try JSONDecoder().decode(Line.self, from: bytes[..<end])
      }
      bytes += handle.availableData
    }
  }

  func next(_ count: Int) throws -> [Line] { try (0..<count).map { _ in try next() } }
}

@Suite("crier play, crier queue and the sound of crier preview", .timeLimit(.minutes(10)))
struct PlayCommandTests {
  private func tone(_ name: String, milliseconds: Int, in command: Command) throws -> String {
    let file = command.directory.appending(path: name)
    try Data(WAVFile.encode(Tone.sine(440, milliseconds: milliseconds, rate: 22_050))).write(to: file)
    return file.path
  }

  private func snapshot(_ crier: Command, _ output: String) throws -> Data {
    let result = try crier("queue", "--json", "--output", output)
    #expect(result.status == 0)
    return Data(result.output.utf8)
  }

  private struct Snapshot: Decodable {
    struct Playing: Decodable { var length_ms: Int }  // swift-format-ignore: AlwaysUseLowerCamelCase
    struct Waiting: Decodable { var category: String }
    var running: Bool
    var paused: Bool
    var playing: Playing?
    var waiting: [Waiting]
  }

  @Test("crier play plays files in the given order, each to its end before the next")
  func inOrder() throws {
    let crier = try Command()
    defer { crier.remove() }
    let log = crier.directory.appending(path: "played.log")
    let files = [try tone("b.wav", milliseconds: 120, in: crier), try tone("a.wav", milliseconds: 80, in: crier)]
    let result = try crier("play", files[0], files[1], files[0], "--output", "file:\(log.path)", "--gap", "0")
    #expect(result.status == 0 && result.output.isEmpty && result.message.isEmpty)
    let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
      .map { try JSONDecoder().decode(Loudspeaker.Line.self, from: Data($0.utf8)) }
    #expect(lines.map(\.event) == ["begin", "end", "begin", "end", "begin", "end"])
    #expect(lines.compactMap(\.length_ms) == [120, 80, 120])
    #expect(lines.compactMap(\.outcome) == ["heard", "heard", "heard"])
  }

  @Test("crier play plays nothing if one of the files is not a sound, and the message names the file")
  func wrongFiles() throws {
    let crier = try Command()
    defer { crier.remove() }
    let whole = try tone("a.wav", milliseconds: 80, in: crier)
    let text = crier.directory.appending(path: "b.wav").path
    try Data("no sound".utf8).write(to: URL(filePath: text))
    let unstated = try tone("c.wav", milliseconds: 80, in: crier)
    var bytes = try Data(contentsOf: URL(filePath: unstated))
    bytes.replaceSubrange(40..<44, with: [0, 0, 0, 0])  // The length of the chunk “data”.
    try bytes.write(to: URL(filePath: unstated))
    let empty = crier.directory.appending(path: "d.wav").path
    try Data(WAVFile.encode(Waveform(samples: [], sampleRate: 22_050))).write(to: URL(filePath: empty))
    for (file, words) in [
      ("missing.wav", "does not exist"), (text, "is not a complete sound file"), (unstated, "contains no sound"),
      (empty, "contains no sound"),
    ] {
      let result = try crier("play", whole, file, "--output", "file:played.log")
      #expect(result.status == 65)
      #expect(result.message.contains(file) && result.message.contains(words))
    }
    #expect(!FileManager.default.fileExists(atPath: crier.directory.appending(path: "played.log").path))
  }

  @Test(
    "an output that is invalid or cannot be opened is an error before any file is accepted",
    arguments: [("hw:1", 64), ("alsa:nosuch", 69), ("file:/nosuch/played.log", 73), ("", 64)])
  func wrongOutputs(output: String, status: Int32) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("play", try tone("a.wav", milliseconds: 80, in: crier), "--output", output)
    #expect(result.status == status, "\(result.message)")
    #expect(result.message.hasPrefix("crier: ") && !result.message.contains("Fatal"))
  }

  @Test(
    "a number out of range is an error that names the option",
    arguments: [
      ["--volume", "101"], ["--gap=-1"], ["--chime", ""], ["--chimes", ""], ["--chimes", "bonus=none"],
      ["--chimes", "refunded"], ["--lead-in", "2001"],
      ["--wake-sound", "noise"], ["--keep-awake", "0"], ["--keep-awake", "ever"],
    ])
  func wrongNumbers(flags: [String]) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier.run(["play", "a.wav"] + flags)
    #expect(result.status == 64)
    #expect(result.message.contains(String(flags[0].prefix { $0 != "=" })))
  }

  @Test("crier play plays a chime before each file")
  func chime() throws {
    let crier = try Command()
    defer { crier.remove() }
    let (file, chime) = (
      try tone("a.wav", milliseconds: 200, in: crier), try tone("c.wav", milliseconds: 300, in: crier)
    )
    let speaker = try Loudspeaker(in: crier)
    // Playing a file does not need phrase books.
    let result = try crier("play", file, "--output", speaker.output, "--chime", chime, "--data", "nowhere")
    #expect(result.status == 0)
    // A chime of 300 ms, a pause of 120 ms, and a sound of 200 ms. Trimming shortens the chime by a few ms.
    let length = try #require(try speaker.next().length_ms)
    #expect((590...640).contains(length), "\(length)")
  }

  /// The pitches of the two notes of a tone before the words, in Hz.
  private func notes(of samples: [Int16]) -> [Double] {
    let begin = samples.firstIndex { $0.magnitude > 200 } ?? 0
    return [20..<160, 320..<520].map { part in
      Tone.frequency(
        of: samples[begin + part.lowerBound * 22_050 / 1000..<begin + part.upperBound * 22_050 / 1000], rate: 22_050)
    }
  }

  @Test("Crier's own chimes rise for a payment and fall for a refund, and a failed payment has no chime")
  func chimesOfKinds() throws {
    let crier = try Command()
    defer { crier.remove() }
    let device = try RawDevice(in: crier)
    func heard(_ kind: String, _ flags: [String]) throws -> [Int16] {
      let result = try crier.run(
        [
          "preview", "--amount", "5", "--currency", "USD", "--locale", "en-US", "--kind", kind, "--output",
          device.output,
        ]
          + flags, environment: device.environment)
      #expect(result.status == 0, "\(result.message)")
      return device.samples
    }
    let chimes = ["--chime", "tone:rising", "--chimes", "refunded=tone:falling, failed=none"]
    for (kind, second) in [("received", 987.77), ("withdrawn", 987.77), ("refunded", 440)] {
      let notes = notes(of: try heard(kind, chimes))
      #expect(abs(notes[0] / 659.26 - 1) < 0.02 && abs(notes[1] / second - 1) < 0.02, "\(kind): \(notes)")
    }
    let (plain, failed) = (try heard("failed", []), try heard("failed", chimes))
    let length = try #require(plain.lastIndex { $0 != 0 })
    let isSame = failed.prefix(length).elementsEqual(plain.prefix(length))
    #expect(isSame)
  }

  @Test("both crier play and the service write a lead-in to the device before the first sound")
  func leadIn() throws {
    let crier = try Command()
    defer { crier.remove() }
    let device = try RawDevice(in: crier)
    let file = try tone("a.wav", milliseconds: 200, in: crier)
    let result = try crier(
      "play", file, "--output", device.output, "--lead-in", "700", "--wake-sound", "tone", "--keep-awake", "always",
      environment: device.environment)
    #expect(result.status == 0, "\(result.message)")
    #expect(device.leadIn() == 700)
    let settings = ["CRIER_LEAD_IN_MS": "400", "CRIER_WAKE_SOUND": "tone", "CRIER_LOCALE": "en-US"]
    let service = try RunningService(
      of: crier, ["--port", "0", "--output", device.output], environment: device.environment.merging(settings) { $1 })
    #expect(try service.announce(#"{"id":"1","amount":"1.00","currency":"USD","deliver":["play"]}"#).status == 201)
    try eventually("the sound has the lead-in of the settings") { device.leadIn() == 400 }
  }

  @Test("two programs that play on one output play one after the other")
  func together() throws {
    let crier = try Command()
    defer { crier.remove() }
    let speaker = try Loudspeaker(in: crier)
    let file = try tone("a.wav", milliseconds: 250, in: crier)
    let programs = try (0..<3).map { _ in
      try RunningCommand(["play", file, file, "--output", speaker.output, "--gap", "0"], of: crier)
    }
    let lines = try speaker.next(12)
    #expect(lines.map(\.event) == (0..<6).flatMap { _ in ["begin", "end"] })
    #expect(Set(lines.map(\.label)).count == 6, "each once")
    for program in programs { #expect(program.wait() == 0) }
  }

  @Test(
    "an interrupt stops playback, cancels the waiting files, and ends the program with the signal",
    arguments: [SIGINT, SIGTERM])
  func interrupt(number: Int32) throws {
    let crier = try Command()
    defer { crier.remove() }
    let speaker = try Loudspeaker(in: crier)
    let file = try tone("a.wav", milliseconds: 60_000, in: crier)
    let program = try RunningCommand(["play", file, file, "--output", speaker.output], of: crier)
    #expect(try speaker.next().event == "begin")
    program.signal(number)
    #expect(try speaker.next().outcome == "stopped")
    #expect(program.wait() == 128 + number)
    let left = try JSONDecoder().decode(Snapshot.self, from: try snapshot(crier, speaker.output))
    #expect(!left.running && left.waiting.isEmpty && left.playing == nil)
  }

  @Test("files that a killed program did not finish are played from their start before the next program's own files")
  func killed() throws {
    let crier = try Command()
    defer { crier.remove() }
    let speaker = try Loudspeaker(in: crier)
    let (long, short) = (
      try tone("a.wav", milliseconds: 1_000, in: crier), try tone("b.wav", milliseconds: 50, in: crier)
    )
    let program = try RunningCommand(["play", long, long, "--output", speaker.output], of: crier)
    let first = try speaker.next()
    program.signal(SIGKILL)
    #expect(program.wait() == 128 + SIGKILL)
    #expect(try crier("play", short, "--output", speaker.output, "--gap", "0").status == 0)
    let lines = try speaker.next(6)
    #expect(lines.compactMap(\.length_ms) == [1_000, 1_000, 50])
    #expect(lines.first?.label == first.label)
  }

  @Test("crier queue shows the playing file, and pause, resume, skip and replay take effect")
  func queue() throws {
    let crier = try Command()
    defer { crier.remove() }
    let speaker = try Loudspeaker(in: crier)
    let (long, short) = (
      try tone("a.wav", milliseconds: 60_000, in: crier), try tone("b.wav", milliseconds: 50, in: crier)
    )
    let program = try RunningCommand(["play", long, short, long, "--output", speaker.output], of: crier)
    let label = try speaker.next().label
    func seen(_ isSo: (Snapshot) -> Bool) throws {
      while try !isSo(JSONDecoder().decode(Snapshot.self, from: try snapshot(crier, speaker.output))) {}
    }
    try seen {
      $0.running && $0.playing?.length_ms == 60_000 && $0.waiting.map(\.category) == ["information", "information"]
    }
    let text = try crier("queue", "--output", speaker.output).output
    #expect(text.contains("> \(label)  a.wav") && text.contains("b.wav") && text.contains("2 waiting"))
    #expect(try crier("queue", "pause", "--output", speaker.output).status == 0)
    try seen(\.paused)
    #expect(try crier("queue", "resume", "--output", speaker.output).status == 0)
    try seen { !$0.paused }
    #expect(try crier("queue", "skip", "--output", speaker.output).status == 0)
    #expect(try speaker.next().outcome == "stopped")
    #expect(try speaker.next(2).map(\.event) == ["begin", "end"])
    let last = try speaker.next()
    #expect(try crier("queue", "replay", label, "--output", speaker.output).status == 0)
    #expect(try crier("queue", "cancel", last.label, "--output", speaker.output).status == 0)
    #expect(try speaker.next().outcome == "stopped")
    // The program's own files have ended. The replay is left to the next player.
    #expect(program.wait() == 0)
    #expect(try program.messages().contains("skipped"))
  }

  @Test(
    "a command of crier queue is an error if no player runs",
    arguments: [["pause"], ["resume"], ["skip"], ["replay"], ["volume", "50"]])
  func nobody(words: [String]) throws {
    let crier = try Command()
    defer { crier.remove() }
    _ = try SQLiteLedger(at: crier.home.appending(path: "ledger.sqlite"))
    let result = try crier.run(["queue"] + words + ["--output", "null"])
    #expect(result.status == 69)
    #expect(result.message == "crier: no player is running on null; start one, or give another --output.\n")
    #expect(try crier("queue", "--output", "null").output == "null: no player is running; nothing waiting\n")
    #expect(try crier("queue", "volume", "101").status == 64)
  }

  @Test("a command of crier queue is an error for an announcement in the wrong state and for an unknown number")
  func wrongNumbersOfQueue() throws {
    let crier = try Command()
    defer { crier.remove() }
    let speaker = try Loudspeaker(in: crier)
    let (long, short) = (
      try tone("a.wav", milliseconds: 60_000, in: crier), try tone("b.wav", milliseconds: 50, in: crier)
    )
    let program = try RunningCommand(["play", short, long, "--output", speaker.output, "--gap", "0"], of: crier)
    let first = try speaker.next(2)[0].label
    let second = try speaker.next().label
    for (words, problem) in [
      (["cancel", first], "has already ended (played)"), (["replay", second], "has not ended yet"),
      (["cancel", "999"], "is not in"),
    ] {
      let result = try crier.run(["queue"] + words + ["--output", speaker.output])
      #expect(result.status == 65)
      #expect(result.message.hasPrefix("crier: NUMBER \(words[1]): \(problem)"), "\(result.message)")
    }
    program.signal(SIGINT)
    #expect(program.wait() == 128 + SIGINT)
  }

  @Test("crier preview plays once, for the stated duration, and leaves no file")
  func preview() throws {
    let crier = try Command()
    defer { crier.remove() }
    let log = crier.directory.appending(path: "played.log")
    let result = try crier(
      "preview", "--amount", "5", "--currency", "USD", "--locale", "en-US", "--output", "file:\(log.path)")
    #expect(result.status == 0, "\(result.message)")
    let lines = try String(contentsOf: log, encoding: .utf8).split(separator: "\n")
      .map { try JSONDecoder().decode(Loudspeaker.Line.self, from: Data($0.utf8)) }
    #expect(lines.count == 2)
    let length = try #require(lines.first?.length_ms)
    #expect(result.message.contains("(\(length / 1000).\(length % 1000 / 100) s"))
    let left = try FileManager.default.contentsOfDirectory(
      atPath: crier.directory.appending(path: "home/previews").path)
    #expect(left.isEmpty)
  }

  @Test("each queue shows an announcement on an output without a player, and can cancel it without a player")
  func unplayed() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let ledger = try SQLiteLedger(at: crier.home.appending(path: "ledger.sqlite"))
    let number = try await ledger.accept(
      StoredAnnouncement(
        account: "shop", id: "p1", lane: "file:/former", category: .payment,
        payload: Data(#"{"id":"p1","amount":"12.50","currency":"USD"}"#.utf8))
    ).number
    let queue = try crier("queue", "--output", "null").output
    #expect(queue.contains("1 waiting on file:/former: nothing plays it; see crier queue --output file:/former"))
    #expect(try crier("queue", "cancel", "999", "--output", "file:/former").status == 65)
    #expect(try crier("queue", "cancel", "\(number)", "--output", "file:/former").status == 0)
    #expect(try await ledger.entry(number)?.state == .cancelled)
    #expect(try crier("queue", "cancel", "\(number)", "--output", "file:/former").status == 65)
    #expect(try crier("queue", "--output", "null").output == "null: no player is running; nothing waiting\n")
  }

  @Test("a preview that is cancelled while another process holds the output is an error, and that process is named")
  func previewBesideAnother() async throws {
    let crier = try Command()
    defer { crier.remove() }
    let ledger = try SQLiteLedger(at: crier.home.appending(path: "ledger.sqlite"))
    let seat = try ledger.takeSeat(lane: "null")
    var report = PlayerReport(processID: 4_711, startedAt: Date(), reportedAt: Date())
    (report.isDeviceLost, report.deviceCode) = (true, "device_missing")
    report.deviceLostSince = Date(timeIntervalSince1970: 1_795_000_000)
    try seat.report(report)
    let preview = try RunningCommand(["preview", "--text", "Hello", "--output", "null"], of: crier)
    var number: Int64?
    while number == nil { number = try await ledger.unfinished(lane: "null").first?.number }
    try eventually("the obstacle is told") { try preview.messages().contains("device_missing") }
    let message = try preview.messages()
    #expect(message.contains("Process 4711 plays on null"), "\(message)")
    #expect(message.contains("process 4711 cannot use the device of null since 2026-11-18T11:06:40Z (device_missing)"))
    try await ledger.set(try #require(number), .cancelled)
    #expect(preview.wait() == 69)
    #expect(try preview.messages().contains("was not heard to its end"))
    withExtendedLifetime(seat) {}
  }
}

/// A device of ALSA that writes what it plays to a file, anew each time it is opened.
private struct RawDevice {
  let output = "alsa:raw"
  let environment: [String: String]
  private let file: URL

  init(in crier: Command) throws {
    file = crier.directory.appending(path: "raw")
    let configuration = crier.directory.appending(path: "asound.conf")
    try Data(
      """
      </usr/share/alsa/alsa.conf>
      pcm.raw { type file slave.pcm { type null } file "\(file.path)" format "raw" }

      """.utf8
    ).write(to: configuration)
    environment = ["ALSA_CONFIG_PATH": configuration.path]
  }

  /// All that was played since the device was last opened.
  var samples: [Int16] {
    let bytes = [UInt8]((try? Data(contentsOf: file)) ?? Data())
    return stride(from: 0, to: bytes.count - 1, by: 2).map {
      Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
    }
  }

  /// The length in ms of what was played before the first sound, at 22,050 Hz; nil if no sound was played.
  func leadIn() -> Int? {
    guard let begin = samples.firstIndex(where: { $0.magnitude > 200 }) else { return nil }
    // The tone is at most 33 high. Words and tones begin with a few quiet samples.
    let isTone = samples.prefix(begin).contains { (30...33).contains($0) }
    return isTone ? Int((Double(begin) / 22_050 * 10).rounded(.down)) * 100 : 0
  }
}

// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import SoundMeasurement
import Testing
import Waveforms

@Suite("crier sounds tone")
struct SoundsToneTests {
  static let own = ["bell", "chime", "coins", "falling", "knock", "marimba", "rising"]

  let crier: Command

  init() throws { crier = try Command() }

  private var preference: URL {
    crier.home.appending(path: "containers/group.crier/Library/Preferences/group.crier.json")
  }

  private var stored: String? { try? String(contentsOf: preference, encoding: .utf8) }

  private func names() -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: crier.sounds.path)) ?? []).sorted()
  }

  private func put(_ name: String, _ bytes: [UInt8]) throws {
    try FileManager.default.createDirectory(at: crier.sounds, withIntermediateDirectories: true)
    try Data(bytes).write(to: crier.sounds.appending(path: name))
  }

  /// A WAV file of a number of samples at 8,000 Hz.
  private func sound(samples: Int) -> [UInt8] {
    WAVFile.encode(Waveform(samples: (0..<samples).map { Int16($0 % 100 * 100) }, sampleRate: 8000))
  }

  // MARK: - get and set

  @Test("crier sounds tone get prints 'default' while no tone is chosen, and creates nothing")
  func nothingChosen() throws {
    defer { crier.remove() }
    let result = try crier("sounds", "tone", "get")
    #expect(result.status == 0 && result.output == "default\n" && result.message.isEmpty)
    #expect(try crier("sounds", "tone", "get", "--json").output == "{\"exists\":true,\"name\":\"default\"}\n")
    #expect(!FileManager.default.fileExists(atPath: crier.home.path))
  }

  @Test("crier sounds tone set stores the choice of a tone's file, and the argument 'default' removes the choice")
  func chooses() throws {
    defer { crier.remove() }
    try put("shop.wav", sound(samples: 8000))
    let result = try crier("sounds", "tone", "set", "shop.wav")
    #expect(result.status == 0 && result.output == "shop.wav\n" && result.message.isEmpty)
    #expect(stored == "{\"sound\":\"shop.wav\"}\n")
    #expect(try crier("sounds", "tone", "get").output == "shop.wav\n")
    #expect(try crier("sounds", "tone", "get", "--json").output == "{\"exists\":true,\"name\":\"shop.wav\"}\n")
    #expect(try crier("sounds", "tone", "set", "default").output == "default\n")
    #expect(stored == nil)
    #expect(try crier("sounds", "tone", "get").output == "default\n")
    #expect(try crier("sounds", "tone", "set", "default").status == 0)
  }

  @Test(
    "crier sounds tone set makes one of Crier's own tones, by its name or its file's name",
    arguments: ["chime", "chime.wav"])
  func makesOnDemand(_ typed: String) throws {
    defer { crier.remove() }
    let result = try crier("sounds", "tone", "set", typed, "--json")
    #expect(result.status == 0 && result.output == "{\"exists\":true,\"name\":\"chime.wav\"}\n", "\(result.message)")
    #expect(names() == ["chime.wav"])
    #expect(try crier("sounds", "tone", "get").output == "chime.wav\n")
  }

  @Test("crier sounds tone set uses an existing file with the name of a tone of Crier, and does not change it")
  func ownFile() throws {
    defer { crier.remove() }
    let bytes = sound(samples: 4000)
    try put("chime.wav", bytes)
    #expect(try crier("sounds", "tone", "set", "chime").output == "chime.wav\n")
    #expect(try Data(contentsOf: crier.sounds.appending(path: "chime.wav")) == Data(bytes))
  }

  @Test("crier sounds tone set stores the name as the folder has it, whatever the Unicode form of the argument")
  func normalForms() throws {
    defer { crier.remove() }
    try put("cafe\u{301}.wav", sound(samples: 4000))
    #expect(try crier("sounds", "tone", "set", "caf\u{e9}.wav").status == 0)
    #expect(stored.map { Array($0.utf8) } == Array("{\"sound\":\"cafe\u{301}.wav\"}\n".utf8))
  }

  @Test(
    "an unknown name of a tone is refused with the choices and the name that was probably meant",
    arguments: [
      ("chmie", "Did you mean chime?"), ("shp.wav", "Did you mean shop.wav?"), ("loud", "Did you mean loud.caf?"),
    ])
  func unknown(_ typed: String, _ meant: String) throws {
    defer { crier.remove() }
    try put("shop.wav", sound(samples: 4000))
    try put("loud.caf", sound(samples: 4000))
    _ = try crier("sounds", "tone", "set", "shop.wav")
    let result = try crier("sounds", "tone", "set", typed)
    #expect(result.status == 64 && result.output.isEmpty)
    #expect(result.message.contains("there is no tone \"\(typed)\" in "))
    #expect(result.message.contains(meant), "\(result.message)")
    #expect(
      result.message.contains(
        "The tones are loud.caf, shop.wav, bell, chime, coins, falling, knock, marimba, rising, default."))
    #expect(stored == "{\"sound\":\"shop.wav\"}\n")
  }

  @Test("a misspelt name of one of Crier's tones gets a suggestion, also after the tone was made")
  func unknownAfterMaking() throws {
    defer { crier.remove() }
    _ = try crier("sounds", "tone", "make", "chime")
    let result = try crier("sounds", "tone", "set", "chme")
    #expect(result.status == 64 && result.message.contains("Did you mean chime.wav?"), "\(result.message)")
  }

  @Test("a clip of an announcement is not accepted as a tone")
  func clip() throws {
    defer { crier.remove() }
    let name = String(repeating: "0a", count: 32) + ".wav"
    try put(name, sound(samples: 4000))
    let result = try crier("sounds", "tone", "set", name)
    #expect(result.status == 64 && result.message.contains("which may be removed at any time"))
    #expect(stored == nil)
  }

  @Test("a tone file that iOS would not play is refused with the reason and the remedy, and the old choice stays")
  func unplayable() throws {
    defer { crier.remove() }
    let tone = sound(samples: 8000)
    try put("29.wav", sound(samples: 30 * 8000 - 1))
    #expect(try crier("sounds", "tone", "set", "29.wav").status == 0)
    let export = "Export or download the sound again."
    func fix(_ name: String) -> String { "crier sounds check --fix \(crier.sounds.path)/\(name)" }
    for (name, bytes, reason, remedy) in [
      (
        "30.wav", sound(samples: 30 * 8000),
        "The sound lasts 30.00 s. iOS plays the default sound instead of a sound of 30 s or more.", fix("30.wav")
      ),
      (
        "long.wav", sound(samples: 61 * 8000),
        "The sound lasts 61.00 s. iOS plays the default sound instead of a sound of 30 s or more.", fix("long.wav")
      ),
      ("text.wav", Array("no sound".utf8), "The file is a text.", export),
      ("zero.wav", [], "The file is empty: it has 0 bytes.", export),
      (
        "none.wav", sound(samples: 0), "The file is complete, but has no sound in it: 0 frames.",
        "Export the sound again."
      ),
      (
        "cut.wav", Array(tone.dropLast(8000)),
        "The header states 1.00 s of sound, but only 0.50 s is there: the file was cut off.", fix("cut.wav")
      ),
      (
        "wave.caf", tone, "The content is WAV, but the name ends in .caf.",
        "mv -n \(crier.sounds.path)/wave.caf \(crier.sounds.path)/wave.wav"
      ),
      (
        "silent.wav", WAVFile.encode(Waveform(samples: Array(repeating: 0, count: 8000), sampleRate: 8000)),
        "Nothing can be heard: the highest level is more than 60 dB below full scale.",
        "Export the sound again, and listen to it first."
      ),
    ] as [(String, [UInt8], String, String)] {
      try put(name, bytes)
      let result = try crier("sounds", "tone", "set", name)
      #expect(result.status == 65 && result.output.isEmpty, "\(name)")
      #expect(result.message == "crier: The tone \(name) cannot be played. \(reason)\n  \(remedy)\n")
      #expect(try crier("sounds", "check", crier.sounds.path + "/" + name).status == 65, "\(name)")
    }
    #expect(stored == "{\"sound\":\"29.wav\"}\n")
  }

  @Test("an MP3 file named .wav is refused as a tone, and the copy that the remedy makes is accepted")
  func mended() throws {
    defer { crier.remove() }
    try put("shop.wav", sound(samples: 12_000))
    let mp3 = crier.sounds.appending(path: "shop.mp3")
    let convert = Process()
    convert.executableURL = URL(filePath: "/usr/bin/env")
    convert.arguments = ["ffmpeg", "-nostdin", "-loglevel", "error", "-y", "-i", "shop.wav", mp3.path]
    convert.currentDirectoryURL = crier.sounds
    try convert.run()
    convert.waitUntilExit()
    try #require(convert.terminationStatus == 0)
    let file = crier.sounds.appending(path: "shop.wav")
    try FileManager.default.removeItem(at: file)
    try FileManager.default.moveItem(at: mp3, to: file)
    let refused = try crier("sounds", "tone", "set", "shop.wav")
    #expect(refused.status == 65 && refused.message.contains("The sound is MP3. "), "\(refused.message)")
    #expect(refused.message.hasSuffix("\n  crier sounds check --fix \(file.path)\n"))
    #expect(try crier("sounds", "check", "--fix", file.path).status == 65)
    #expect(try crier("sounds", "tone", "set", "shop-fixed.wav").status == 0)
    #expect(stored == "{\"sound\":\"shop-fixed.wav\"}\n")
  }

  @Test("a tone file with only warnings is accepted")
  func warned() throws {
    defer { crier.remove() }
    try put(
      "loud.wav",
      WAVFile.encode(Waveform(samples: (0..<8000).map { $0 % 20 < 10 ? 30_000 : -30_000 }, sampleRate: 8000)))
    #expect(try crier("sounds", "check", crier.sounds.path + "/loud.wav").output.contains("warning too_loud"))
    let result = try crier("sounds", "tone", "set", "loud.wav")
    #expect(result.status == 0 && result.message.isEmpty, "\(result.message)")
  }

  @Test("if the file of the chosen tone is missing, crier sounds tone get still prints its name, with a message")
  func gone() throws {
    defer { crier.remove() }
    try put("shop.wav", sound(samples: 4000))
    _ = try crier("sounds", "tone", "set", "shop.wav")
    try FileManager.default.removeItem(at: crier.sounds.appending(path: "shop.wav"))
    let result = try crier("sounds", "tone", "get")
    #expect(result.status == 0 && result.output == "shop.wav\n")
    #expect(result.message.contains("The file of the chosen tone shop.wav does not exist in "))
    #expect(try crier("sounds", "tone", "get", "--json").output == "{\"exists\":false,\"name\":\"shop.wav\"}\n")
    let list = try crier("sounds", "tone", "list")
    #expect(list.output.split(separator: "\n").contains("shop.wav\t-\tmissing\tchosen"))
  }

  @Test("a damaged file with the chosen tone counts as no choice, and the next choice replaces the file")
  func damaged() throws {
    defer { crier.remove() }
    try FileManager.default.createDirectory(
      at: preference.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data("{\"sound\":".utf8).write(to: preference)
    #expect(try crier("sounds", "tone", "get").output == "default\n")
    #expect(try crier("sounds", "tone", "set", "bell").status == 0)
    #expect(try crier("sounds", "tone", "get").output == "bell.wav\n")
  }

  @Test("a choice of a tone that cannot be written is an error with status 73")
  func unwritable() throws {
    defer { crier.remove() }
    try put("shop.wav", sound(samples: 4000))
    try Data().write(to: preference.deletingLastPathComponent())
    let result = try crier("sounds", "tone", "set", "shop.wav")
    #expect(result.status == 73 && result.output.isEmpty)
    #expect(result.message.contains("Storing the chosen tone in "))
  }

  @Test("--group and --containers select the folder with the chosen tone")
  func groups() throws {
    defer { crier.remove() }
    let containers = crier.directory.appending(path: "elsewhere").path
    let place = ["--group", "group.shop", "--containers", containers]
    #expect(try crier.run(["sounds", "tone", "set", "bell"] + place).status == 0)
    #expect(try crier.run(["sounds", "tone", "get"] + place).output == "bell.wav\n")
    #expect(
      FileManager.default.fileExists(
        atPath: containers + "/group.shop/Library/Preferences/group.shop.json"))
    #expect(try crier("sounds", "tone", "get").output == "default\n")
    let home = crier.directory.appending(path: "other").path
    #expect(try crier("sounds", "tone", "set", "coins", "--home", home).status == 0)
    #expect(try crier("sounds", "tone", "get", "--home", home).output == "coins.wav\n")
  }

  @Test("programs that choose a tone at the same time all succeed, and the last choice is complete")
  func together() throws {
    defer { crier.remove() }
    let crier = crier
    _ = try crier.run(["sounds", "tone", "make"] + Self.own)
    let statuses = ConcurrentStatuses()
    DispatchQueue.concurrentPerform(iterations: 10) { index in
      let action = index % 2 == 0 ? ["set", Self.own[index / 2]] : ["get"]
      let result = try? crier.run(["sounds", "tone"] + action)
      statuses.add(result.map { $0.status } ?? -1, result?.output ?? "")
    }
    #expect(statuses.all.allSatisfy { $0.status == 0 })
    let possible = Swift.Set(Self.own.map { "\($0).wav\n" } + ["default\n"])
    #expect(statuses.all.allSatisfy { possible.contains($0.output) })
    let last = try crier("sounds", "tone", "get").output
    #expect(last != "default\n" && possible.contains(last))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: preference.deletingLastPathComponent().path)
        == ["group.crier.json"])
  }

  // MARK: - list

  @Test(
    "crier sounds tone list shows the default sound, the files that are not clips, and Crier's tones that can be made")
  func lists() throws {
    defer { crier.remove() }
    let empty = try crier("sounds", "tone", "list")
    #expect(empty.status == 0 && empty.message.isEmpty)
    let lines = empty.output.split(separator: "\n").map { $0.split(separator: "\t").map(String.init) }
    #expect(lines.map { $0[0] } == ["default"] + Self.own)
    #expect(lines[0] == ["default", "-", "the phone's default sound", "chosen"])
    #expect(lines.dropFirst().allSatisfy { $0.count == 3 && $0[2] == "can be made" })
    #expect(names().isEmpty)

    try put("shop.wav", sound(samples: 12_000))
    try put("broken.wav", Array("x".utf8))
    try put(String(repeating: "0a", count: 32) + ".wav", sound(samples: 8000))
    _ = try crier("sounds", "tone", "set", "chime")
    let full = try crier("sounds", "tone", "list")
    let rows = full.output.split(separator: "\n").map(String.init)
    #expect(rows[0] == "default\t-\tthe phone's default sound")
    #expect(rows[1] == "broken.wav\t-\tcannot be played")
    #expect(rows[2].hasPrefix("chime.wav\t1.") && rows[2].hasSuffix(" s\tfile\tchosen"))
    #expect(rows[3] == "shop.wav\t1.50 s\tfile")
    #expect(
      rows.dropFirst(4).map { $0.split(separator: "\t")[0] } == [
        "bell", "coins", "falling", "knock", "marimba", "rising",
      ])
    #expect(full.message.contains("The tone broken.wav cannot be played"))
  }

  @Test("crier sounds tone list --json has one line for each tone")
  func listJSON() throws {
    defer { crier.remove() }
    try put("shop.wav", sound(samples: 12_000))
    _ = try crier("sounds", "tone", "set", "shop.wav")
    let lines = try crier("sounds", "tone", "list", "--json").output.split(separator: "\n").map(String.init)
    #expect(
      lines[0] == "{\"chosen\":false,\"duration_ms\":null,\"name\":\"default\",\"state\":\"system\",\"title\":null}")
    #expect(
      lines[1] == "{\"chosen\":true,\"duration_ms\":1500,\"name\":\"shop.wav\",\"state\":\"file\",\"title\":null}")
    #expect(lines[2].contains("\"name\":\"bell\",\"state\":\"available\",\"title\":\"Two strokes of a shop bell\""))
    #expect(lines.count == 2 + Self.own.count)
  }

  // MARK: - make

  @Test("crier sounds tone make writes the tones and prints their paths, and every run gives the same bytes")
  func makes() throws {
    defer { crier.remove() }
    let result = try crier("sounds", "tone", "make", "bell", "knock.wav")
    #expect(result.status == 0, "\(result.message)")
    let files = result.output.split(separator: "\n").map { URL(filePath: String($0)) }
    #expect(files.map(\.lastPathComponent) == ["bell.wav", "knock.wav"])
    #expect(names() == ["bell.wav", "knock.wav"])
    let bytes = try files.map { try Data(contentsOf: $0) }
    let again = try crier("sounds", "tone", "make", "bell", "knock")
    #expect(again.status == 0 && again.output == result.output)
    for file in files { try FileManager.default.removeItem(at: file) }
    _ = try crier("sounds", "tone", "make", "bell", "knock")
    #expect(try files.map { try Data(contentsOf: $0) } == bytes)
  }

  @Test("crier sounds check reports no problem and no warning for any tone that crier sounds tone make writes")
  func withoutProblems() throws {
    defer { crier.remove() }
    let made = try crier.run(["sounds", "tone", "make"] + Self.own)
    let files = made.output.split(separator: "\n").map(String.init)
    #expect(files.count == Self.own.count)
    let checked = try crier.run(["sounds", "check", "--json"] + files)
    #expect(checked.status == 0)
    let lines = try checked.output.split(separator: "\n").map {
      try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
    }
    #expect(lines.map { $0["file"] as? String } == files)
    for line in lines {
      #expect(line["playable"] as? Bool == true && (line["problems"] as? [Any])?.isEmpty == true, "\(line)")
    }
  }

  @Test("crier sounds tone make --json states the measured loudness, true peak and length of the file")
  func makeJSON() throws {
    defer { crier.remove() }
    let output = try crier("sounds", "tone", "make", "coins", "--json").output
    let line = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    #expect(Swift.Set(line.keys) == ["name", "path", "bytes", "duration_ms", "loudness_lufs", "true_peak_dbtp"])
    let path = try #require(line["path"] as? String)
    let report = try SoundReport.measure(file: path)
    #expect(line["name"] as? String == "coins.wav")
    let bytes = try Data(contentsOf: URL(filePath: path))
    #expect(line["bytes"] as? Int == bytes.count)
    let (milliseconds, loudness) = (line["duration_ms"] as? Double ?? 0, line["loudness_lufs"] as? Double ?? 0)
    #expect(abs(milliseconds - report.durationMilliseconds) <= 1)
    #expect(abs(loudness - report.loudnessLUFS) <= 0.05 && abs(loudness + 12) <= 1)
  }

  @Test("crier sounds tone make keeps another file with the tone's name, unless --replace is given")
  func replaces() throws {
    defer { crier.remove() }
    let bytes = sound(samples: 4000)
    try put("bell.wav", bytes)
    let result = try crier("sounds", "tone", "make", "bell")
    #expect(result.status == 73 && result.output.isEmpty)
    #expect(result.message.contains("already contains another file bell.wav. Give --replace"))
    let file = crier.sounds.appending(path: "bell.wav")
    #expect(try Data(contentsOf: file) == Data(bytes))
    #expect(try crier("sounds", "tone", "make", "bell", "--replace").status == 0)
    #expect(try Data(contentsOf: file) != Data(bytes))
  }

  @Test("an unknown tone is refused with the choices, and no tone is made")
  func unknownTone() throws {
    defer { crier.remove() }
    let result = try crier("sounds", "tone", "make", "bell", "gong")
    #expect(result.status == 64 && result.output.isEmpty)
    #expect(result.message.contains("choose one of bell, chime, coins, falling, knock, marimba, rising."))
    #expect(names().isEmpty)
  }

  @Test("a faulty tone description is an error with status 65, and missing descriptions are an error with status 69")
  func faulty() throws {
    defer { crier.remove() }
    let data = crier.directory.appending(path: "data2")
    let tones = data.appending(path: "Tones")
    #expect(try crier("sounds", "tone", "make", "bell", "--data", data.path).status == 69)
    #expect(try crier("sounds", "tone", "list", "--data", data.path).output.hasPrefix("default\t"))
    try FileManager.default.createDirectory(at: tones, withIntermediateDirectories: true)
    try Data("{\"title\": \"Bell\"}".utf8).write(to: tones.appending(path: "bell.json"))
    let result = try crier("sounds", "tone", "make", "bell", "--data", data.path)
    #expect(result.status == 65 && result.message.contains("Tones/bell.json: "), "\(result.message)")
    let set = try crier("sounds", "tone", "set", "bell", "--data", data.path)
    #expect(set.status == 65 && stored == nil)
  }

  @Test(
    "a wrong command line of crier sounds tone gives status 64",
    arguments: [
      ["set"], ["set", ""], ["make"], ["get", "chime"], ["set", "bell", "chime"], ["set", "../bell.wav"],
      ["get", "--group", "../x"], ["get", "--containers", ""], ["set", "bell", "--home", ""], ["delete"],
    ])
  func wrong(_ arguments: [String]) throws {
    defer { crier.remove() }
    let result = try crier.run(["sounds", "tone"] + arguments)
    #expect(result.status == 64 && result.output.isEmpty, "\(result.message)")
    #expect(names().isEmpty && stored == nil)
  }

  @Test("crier sounds prune never removes a tone")
  func kept() throws {
    defer { crier.remove() }
    _ = try crier("sounds", "tone", "set", "bell")
    let result = try crier("sounds", "prune", "--max-files", "0")
    #expect(result.output.isEmpty, "\(result.message)")
    #expect(names() == ["bell.wav"])
  }
}

/// The results of commands that run at the same time.
private final class ConcurrentStatuses: Sendable {
  private let results = Locked<[(status: Int32, output: String)]>([])

  var all: [(status: Int32, output: String)] { results.withLock { $0 } }

  func add(_ status: Int32, _ output: String) { results.withLock { $0.append((status, output)) } }
}

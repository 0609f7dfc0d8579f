// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundLibrary
import TestSupport
import Testing

/// Four processes share one folder; see Tests/Support/sound-keeper.
@Suite("Keeping clips")
struct SoundKeepingChecks {
  /// The time for which the processes run, in s. `make check` takes the default. `make check-keeping` sets
  /// `CRIER_KEEPING_SECONDS` to 60.
  static let seconds = ProcessInfo.processInfo.environment["CRIER_KEEPING_SECONDS"].flatMap(Double.init) ?? 15

  @Test("four processes that share 10,000 clips keep every clip in use, and stay within the budget")
  func processes() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "sound-keeping-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: folder) }
    let origin = "\(Date().timeIntervalSince1970)"
    var outputs: [(process: Process, output: Pipe)] = []
    func start(_ seed: Int, _ seconds: Double) throws -> (Process, Pipe) {
      let (process, output) = (Process(), Pipe())
      process.executableURL = Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "sound-keeper")
      process.arguments = [folder.path(percentEncoded: false), "\(seed)", "\(seconds)", origin]
      process.standardOutput = output
      try process.run()
      return (process, output)
    }
    outputs.append(try start(1, Self.seconds))
    // The needed clips exist before another process looks for them.
    #expect(outputs[0].output.fileHandleForReading.availableData == Data("ready\n".utf8))
    for seed in 2...4 { outputs.append(try start(seed, Self.seconds)) }
    // Meanwhile processes are killed while they publish, at random moments.
    for seed in 5..<5 + Int(Self.seconds) {
      let (process, output) = try start(seed, Self.seconds)
      _ = output.fileHandleForReading  // keeps the pipe open
      usleep(UInt32.random(in: 50_000..<400_000))
      process.killAndWait()
      let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      #expect(!text.contains("broken"), "\(text)")
    }
    var removed = 0
    for (process, output) in outputs {
      let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
      process.waitUntilExit()
      #expect(process.terminationStatus == 0)
      #expect(!text.contains("broken"), "\(text)")
      let figures = try #require(
        text.firstMatch(of: /published ([0-9]+) .*removed ([0-9]+) checks ([0-9]+) needs ([0-9]+)/))
      #expect(Int(figures.1) ?? 0 > 10 && Int(figures.3) ?? 0 > 100 && Int(figures.4) ?? 0 > 0, "\(text)")
      removed += Int(figures.2) ?? 0
      print("sound-keeper: \(figures.0)")
    }
    #expect(removed > 100)
    // When no clip is in use any more, the folder is within its budget, without temporary files.
    let library = SoundLibrary(
      container: GroupContainer(directory: folder), now: { Date(timeIntervalSinceNow: 365 * 86_400) })
    let excess = try library.excess(SoundKeeping(mostBytes: 500 * 4_096), needed: [], tidies: true)
    _ = try library.remove(excess)
    let sounds = try library.sounds()
    #expect(sounds.contains { $0.name == "tone.wav" })
    #expect(sounds.reduce(0) { $0 + $1.byteCount } <= 500 * 4_096)
    let names = try FileManager.default.contentsOfDirectory(atPath: library.soundsDirectory.path(percentEncoded: false))
    #expect(names.count == sounds.count, "\(names.filter { $0.hasPrefix(".") })")
  }
}

// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import SoundOutputTestSupport
import SoundOutputs
import Testing
import Waveforms

@Suite final class FileOutputTests {
  private let directory = FileManager.default.temporaryDirectory.appending(path: "crier-\(UUID().uuidString)")
  private let clock = SimulatedClock()
  private let sound = Waveform(samples: Array(repeating: 8000, count: 2000), sampleRate: 1000)

  init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }
  deinit { try? FileManager.default.removeItem(at: directory) }

  private var log: String { directory.appending(path: "played.log").path }
  private var lines: [String] { Self.lines(of: log) }

  private static func lines(of log: String) -> [String] {
    (try? String(contentsOfFile: log, encoding: .utf8))?.split(separator: "\n").map(String.init) ?? []
  }

  @Test("a file output writes one line when a sound begins and one line when it ends")
  func lineByLine() throws {
    let during = Locked<[String]>([])
    clock.at(.seconds(1)) { [log] in during.withLock { $0 = Self.lines(of: log) } }
    let output = FileOutput(path: log, clock: clock)
    #expect(try output.play(sound, volume: .full, control: PlayControl(label: "a/“1”\n")) == .heard)
    let begin = #"{"at_ms":0,"event":"begin","label":"a/“1”\n","length_ms":2000,"volume":100}"#
    let end = #"{"at_ms":2000,"event":"end","heard_ms":2000,"label":"a/“1”\n","outcome":"heard"}"#
    #expect(during.withLock { $0 } == [begin])
    #expect(lines == [begin, end])
  }

  @Test("a file output ends a stopped sound where it was stopped")
  func stopped() throws {
    let control = PlayControl(label: "a")
    clock.at(.milliseconds(700)) { control.stop() }
    let output = FileOutput(path: log, clock: clock)
    #expect(try output.play(sound, volume: .full, control: control) == .stopped(atMilliseconds: 700))
    #expect(lines.last == #"{"at_ms":700,"event":"end","heard_ms":700,"label":"a","outcome":"stopped"}"#)
  }

  @Test("a file output appends to an existing file, also after the output was released")
  func appends() throws {
    let output = FileOutput(path: log, pace: .immediate, clock: clock)
    for _ in 0..<2 {
      _ = try output.play(sound, volume: .full, control: PlayControl())
      output.release()
      output.release()
    }
    _ = try FileOutput(path: log, pace: .immediate, clock: clock).play(sound, volume: .full, control: PlayControl())
    #expect(lines.count == 6)
    #expect(clock.now() == .zero, "the immediate pace takes no time")
  }

  @Test("sounds that are played without delay still wait for the end of a pause")
  func immediatePause() throws {
    let control = PlayControl(label: "a")
    control.pause()
    clock.at(.seconds(3)) { control.resume() }
    let output = FileOutput(path: log, pace: .immediate, clock: clock)
    #expect(try output.play(sound, volume: .full, control: control) == .heard)
    #expect(lines.last == #"{"at_ms":3000,"event":"end","heard_ms":2000,"label":"a","outcome":"heard"}"#)
  }

  @Test("a file output whose file cannot be written is an error that names the file")
  func unwritable() {
    let path = directory.appending(path: "none/played.log").path
    let error = #expect(throws: OutputError.self) {
      try FileOutput(path: path).play(sound, volume: .full, control: PlayControl())
    }
    #expect(error?.code == .fileNotWritten)
    #expect(
      error?.description == "Playing to file:\(path) failed: writing “\(path)”: No such file or directory. "
        + "To continue, make the directory writable and free some disk space.")
  }

  @Test("if the disk of a file output is full, the sound does not count as played, and the error says so")
  func fullDisk() {
    let error = #expect(throws: OutputError.self) {
      try FileOutput(path: "/dev/full", clock: clock).play(sound, volume: .full, control: PlayControl())
    }
    #expect(error?.code == .fileNotWritten)
    #expect(clock.now() == .zero)
  }
}

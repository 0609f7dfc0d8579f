// SPDX-License-Identifier: Apache-2.0

private import ConcurrencySupport
private import FileSystem
private import Foundation
public import Waveforms

/// Records what was played and when, for tests and for machines without a sound card.
///
/// For each sound, two lines of JSON are appended to the file:
///
///     {"at_ms":1795236000000,"event":"begin","label":"a","length_ms":2293,"volume":100}
///     {"at_ms":1795236002293,"event":"end","heard_ms":2293,"label":"a","outcome":"heard"}
///
/// `outcome` is `heard` or `stopped`, `label` is the control's label, and `at_ms` is the clock's time. Each line is
/// appended with one `write(2)`, so that it survives the end of the process. A `begin` line without an `end` line
/// belongs to a sound that was interrupted. A power cut may lose the last lines, because the file is not synchronised
/// to the disk.
///
/// The output can also write a WAV file that covers the whole time from the first sound on, with silence between the
/// sounds. Each process starts a new WAV file. The volume is applied. If a sound's rate differs from that of the first
/// sound, the sound is converted.
public final class FileOutput: SoundOutput {
  public enum Pace: Sendable, Hashable {
    /// Playing takes as long as on a device.
    case realTime
    /// Playing takes no time, except while the control is paused.
    case immediate
  }

  public var name: String { OutputName.file(path).description }

  /// The path of the log.
  public let path: String

  private struct OpenFiles: @unchecked Sendable {  // An output plays one sound at a time, so threads take turns.
    let log: AppendingFile
    var timeline: TimelineFile?
  }

  private let timelinePath: String?
  private let pace: Pace
  private let clock: any OutputClock
  private let opened = Locked<OpenFiles?>(nil)

  /// Creates an output.
  ///
  /// - Parameters:
  ///   - path: the path of the log. The file is created when the first sound is played; its directory must exist.
  ///   - timeline: the path of the WAV file, if one is wanted.
  public init(
    path: String, timeline: String? = nil, pace: Pace = .realTime, clock: any OutputClock = SystemClock()
  ) {
    self.path = path
    timelinePath = timeline
    self.pace = pace
    self.clock = clock
  }

  /// Plays a sound and records it.
  ///
  /// - Throws: `OutputError`, `fileNotWritten`.
  public func play(_ sound: Waveform, volume: Volume, control: PlayControl) throws(OutputError) -> PlayResult {
    let files = try openFiles(rate: sound.sampleRate)
    let begin = clock.now()
    try write(
      LogLine(
        at_ms: begin.wholeMilliseconds, event: "begin", label: control.label,
        length_ms: sound.durationMilliseconds, volume: volume.percent), to: files.log)
    let result: PlayResult
    switch pace {
    case .realTime:
      result = PacedPlaying(clock: clock, control: control).run(sound.length)
    case .immediate:
      result = PacedPlaying(clock: clock, control: control).run(.zero)
    }
    var heard = sound
    switch result {
    case .heard: control.setPosition(sound.durationMilliseconds)
    case .stopped(let milliseconds): heard.samples.removeLast(sound.samples.count - sound.frames(in: milliseconds))
    }
    do {
      try files.timeline?.add(volume.applied(to: heard), at: begin)
    } catch {
      throw fault(timelinePath ?? path, error)
    }
    try write(
      LogLine(
        at_ms: clock.now().wholeMilliseconds, event: "end", label: control.label, heard_ms: control.position,
        outcome: result == .heard ? "heard" : "stopped"), to: files.log)
    return result
  }

  public func open(rate: Int) throws(OutputError) { _ = try openFiles(rate: rate) }

  /// Closes the log. The time in the WAV file continues.
  public func release() {
    opened.withLock { if $0?.timeline == nil { $0 = nil } }
  }

  private func openFiles(rate: Int) throws(OutputError) -> OpenFiles {
    if let files = opened.withLock({ $0 }) { return files }
    var isLog = true
    do {
      let log = try AppendingFile(path: path)
      isLog = false
      let timeline = try timelinePath.map { try TimelineFile(path: $0, rate: rate) }
      let files = OpenFiles(log: log, timeline: timeline)
      opened.withLock { $0 = files }
      return files
    } catch {
      throw fault(isLog ? path : timelinePath ?? path, error)
    }
  }

  private func write(_ line: LogLine, to log: AppendingFile) throws(OutputError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      try log.append([UInt8](encoder.encode(line)) + [UInt8(ascii: "\n")])
    } catch {
      throw fault(path, error)
    }
  }

  private func fault(_ path: String, _ error: any Error) -> OutputError {
    OutputError(
      .fileNotWritten, name, "writing “\(path)”: \(error)",
      remedy: "make the directory writable and free some disk space")
  }
}

/// One line of the log. The property names are the keys in the log.
private struct LogLine: Encodable {
  var at_ms: Int  // swift-format-ignore: AlwaysUseLowerCamelCase
  var event: String
  var label: String
  var length_ms: Int?  // swift-format-ignore: AlwaysUseLowerCamelCase
  var volume: Int?
  var heard_ms: Int?  // swift-format-ignore: AlwaysUseLowerCamelCase
  var outcome: String?
}

extension Waveform {
  /// Returns the number of frames in this number of ms, limited to the number of samples.
  fileprivate func frames(in milliseconds: Int) -> Int {
    min(samples.count, milliseconds * sampleRate / 1000)
  }
}

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

  private let pace: Pace
  private let clock: any OutputClock
  private let opened = Locked<AppendingFile?>(nil)

  /// Creates an output.
  ///
  /// - Parameter path: the path of the log. The file is created when the first sound is played; its directory must
  ///   exist.
  public init(path: String, pace: Pace = .realTime, clock: any OutputClock = SystemClock()) {
    self.path = path
    self.pace = pace
    self.clock = clock
  }

  /// Plays a sound and records it.
  ///
  /// - Throws: `OutputError` with the code `fileNotWritten`.
  public func play(_ sound: Waveform, volume: Volume, control: PlayControl) throws(OutputError) -> PlayResult {
    let log = try openLog()
    try write(
      LogLine(
        at_ms: clock.now().wholeMilliseconds, event: "begin", label: control.label,
        length_ms: sound.durationMilliseconds, volume: volume.percent), to: log)
    let result = PacedPlaying(clock: clock, control: control).run(pace == .realTime ? sound.length : .zero)
    if result == .heard { control.setPosition(sound.durationMilliseconds) }
    try write(
      LogLine(
        at_ms: clock.now().wholeMilliseconds, event: "end", label: control.label, heard_ms: control.position,
        outcome: result == .heard ? "heard" : "stopped"), to: log)
    return result
  }

  public func open(rate: Int) throws(OutputError) { _ = try openLog() }

  /// Closes the log.
  public func release() { opened.withLock { $0 = nil } }

  private func openLog() throws(OutputError) -> AppendingFile {
    if let log = opened.withLock({ $0 }) { return log }
    do {
      let log = try AppendingFile(path: path)
      opened.withLock { $0 = log }
      return log
    } catch {
      throw fault(error)
    }
  }

  private func write(_ line: LogLine, to log: AppendingFile) throws(OutputError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      try log.append([UInt8](encoder.encode(line)) + [UInt8(ascii: "\n")])
    } catch {
      throw fault(error)
    }
  }

  private func fault(_ error: any Error) -> OutputError {
    OutputError(
      .fileNotWritten, name, "writing “\(path)”: \(error)",
      remedy: "make the directory writable and free some disk space")
  }
}

/// One line of the log. The names of the properties are the keys in the log.
private struct LogLine: Encodable {
  var at_ms: Int  // swift-format-ignore: AlwaysUseLowerCamelCase
  var event: String
  var label: String
  var length_ms: Int?  // swift-format-ignore: AlwaysUseLowerCamelCase
  var volume: Int?
  var heard_ms: Int?  // swift-format-ignore: AlwaysUseLowerCamelCase
  var outcome: String?
}

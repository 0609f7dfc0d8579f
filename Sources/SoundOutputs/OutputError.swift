// SPDX-License-Identifier: Apache-2.0

/// Why a sound could not be played.
public struct OutputError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable {
    /// The device went away, its server cannot be reached, or it takes no more sound. It may come back: wait, and play
    /// the sound again from its start.
    case deviceLost = "device_lost"
    /// Another program has the device to itself.
    case deviceBusy = "device_busy"
    /// There is no device of this name. After `deviceLost` this means that it is still away.
    case deviceMissing = "device_missing"
    /// The device takes none of the formats that are made here, or the sound's rate cannot be converted to its own.
    case formatUnsupported = "format_unsupported"
    /// The device is there and refuses to be used.
    case deviceFailed = "device_failed"
    /// The file of a file output cannot be written.
    case fileNotWritten = "file_not_written"
    /// What was given is no output's name.
    case invalidName = "invalid_name"
  }

  public var code: Code

  /// The name of the output, as `OutputName` reads it.
  public var output: String

  /// What was being done, and what happened.
  public var reason: String

  /// What to do next.
  public var remedy: String

  init(_ code: Code, _ output: String, _ reason: String, remedy: String) {
    self.code = code
    self.output = output
    self.reason = reason
    self.remedy = remedy
  }

  public var description: String {
    switch code {
    case .invalidName: "“\(output)” is no output: \(reason). To go on, \(remedy)."
    default: "Playing to \(output) failed: \(reason). To go on, \(remedy)."
    }
  }
}

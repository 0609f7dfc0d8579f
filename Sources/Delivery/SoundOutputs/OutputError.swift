// SPDX-License-Identifier: Apache-2.0

/// The reason why a sound could not be played.
public struct OutputError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable {
    /// The device was disconnected, its server cannot be reached, or it plays no more sound. The device may come back:
    /// wait, and play the sound again from its start.
    case deviceLost = "device_lost"
    /// Another program has exclusive use of the device.
    case deviceBusy = "device_busy"
    /// There is no device of this name. After `deviceLost`, this means that the device is still disconnected.
    case deviceMissing = "device_missing"
    /// The device accepts none of the formats that this module produces, or the sound cannot be converted to the
    /// device's rate.
    case formatUnsupported = "format_unsupported"
    /// The device exists, but refuses to be used.
    case deviceFailed = "device_failed"
    /// The file of a file output cannot be written.
    case fileNotWritten = "file_not_written"
    /// The given text is not the name of an output.
    case invalidName = "invalid_name"
  }

  public var code: Code

  /// The name of the output, in the form that `OutputName` reads.
  public var output: String

  /// The operation, and what went wrong.
  public var reason: String

  /// What to do next.
  public var remedy: String

  package init(_ code: Code, _ output: String, _ reason: String, remedy: String) {
    self.code = code
    self.output = output
    self.reason = reason
    self.remedy = remedy
  }

  public var description: String {
    switch code {
    case .invalidName: "Unknown output “\(output)”: \(reason). To continue, \(remedy)."
    default: "Playing to \(output) failed: \(reason). To continue, \(remedy)."
    }
  }
}

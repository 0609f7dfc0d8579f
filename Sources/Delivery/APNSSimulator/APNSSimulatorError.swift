// SPDX-License-Identifier: Apache-2.0

/// The error for a simulator that cannot be started. It contains no key and no token.
public struct APNSSimulatorError: Error, CustomStringConvertible {
  public enum Code: String, Sendable {
    /// The key is not a P-256 private key in PEM.
    case keyInvalid = "key_invalid"
    /// The port is taken, or this user may not listen on it.
    case cannotListen = "cannot_listen"
    /// The files of the certificate authority cannot be written.
    case fileNotWritten = "file_not_written"
    /// The files of the certificate authority exist, and do not hold an authority that a simulator made. The files are
    /// unchanged.
    case authorityInvalid = "authority_invalid"
    /// The certificates could not be made.
    case certificateFailed = "certificate_failed"
  }

  public var code: Code
  public var description: String

  static func certificatesFailed(_ error: any Error) -> APNSSimulatorError {
    APNSSimulatorError(
      code: .certificateFailed, description: "The certificates of the simulator cannot be made (\(error)).")
  }
}

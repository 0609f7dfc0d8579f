// SPDX-License-Identifier: Apache-2.0

/// The reason why a text has no QR code. The error does not contain the text, which may be secret.
public struct QRCodeError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error codes, for programs.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The text is empty, too long, or has a NUL.
    case textInvalid = "text_invalid"
    /// The library made no code.
    case encodingFailed = "encoding_failed"
  }

  public let code: Code

  init(_ code: Code) { self.code = code }

  /// The reason, and the next step.
  public var description: String {
    switch code {
    case .textInvalid:
      "The text cannot be drawn as a QR code: give 1 to \(QRCode.longestText) bytes without NUL."
    case .encodingFailed: "The QR code could not be made: free memory, and try again."
    }
  }
}

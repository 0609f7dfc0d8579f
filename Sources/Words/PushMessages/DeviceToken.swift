// SPDX-License-Identifier: Apache-2.0

/// The token that identifies an app, or its extension, on one device for APNs. The token is a secret of the device, so
/// `description` does not contain it.
public struct DeviceToken: Sendable, Hashable, CustomStringConvertible {
  /// The token in lower-case hexadecimal digits.
  public let hexadecimal: String

  /// The allowed sizes in bytes. Apple says only that the size varies; tokens of today have 32 to 80 bytes.
  public static let sizes = 8...200

  /// - Parameter text: The token in hexadecimal digits.
  /// - Throws: ``PushMessageError`` with `deviceTokenInvalid`.
  public init(_ text: String) throws(PushMessageError) {
    let digits = text.utf8
    let isHexadecimal = digits.allSatisfy {
      $0.isLowerCaseHexadecimal || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0)
    }
    guard isHexadecimal, digits.count.isMultiple(of: 2), Self.sizes.contains(digits.count / 2) else {
      throw PushMessageError(
        .deviceTokenInvalid,
        "must be \(Self.sizes.lowerBound) to \(Self.sizes.upperBound) bytes in hexadecimal digits, as the app received "
          + "them")
    }
    hexadecimal = text.lowercased()
  }

  public var description: String { "a device token of \(hexadecimal.utf8.count / 2) bytes" }
}

// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A push in the form in which APNs gets it, without the provider token: the path, the header fields and the body.
///
/// Crier authenticates only with a provider token, and never with a certificate, because APNs requires a provider token
/// for file-provider pushes. The rules come from Apple's page "Sending notification requests to APNs".
public struct PushRequest: Sendable, Hashable {
  /// The value of `apns-priority`.
  public enum Priority: Int, Sendable, Hashable, CaseIterable {
    /// The push is sent at once.
    case immediate = 10
    /// The push is sent at a time that suits the device's battery.
    case conserving = 5
    /// The push is sent at a time that suits the device's battery, and does not wake the device.
    case passive = 1
  }

  public var token: DeviceToken
  public var app: BundleID
  public let type: PushType
  /// The value of `apns-id`. A push that is sent again keeps its id.
  public var id: UUID
  public let priority: Priority
  /// The time until which APNs tries to deliver the push; nil for one attempt only.
  public var expiresAt: Date?
  /// The value of `apns-collapse-id`. The device shows only the latest of the notifications with the same value.
  public let collapseID: String?
  /// The payload in JSON.
  public let body: Data

  /// The maximum size of the body, in bytes.
  public static let largestBody = 4_096
  /// The maximum size of the collapse id, in bytes of UTF-8.
  public static let largestCollapseID = 64

  /// The codes of the errors of a request and its parts: ``DeviceToken``, ``BundleID`` and ``PushRequest``.
  public static let faults: [PushMessageError.Code] = [
    .bundleIDInvalid, .collapseIDInvalid, .deviceTokenInvalid, .messageTooLarge, .priorityInvalid,
  ]

  /// - Parameter priority: The priority; by default, 10 for an alert and 5 for other pushes. APNs refuses 10 for a
  ///   background push.
  /// - Throws: ``PushMessageError`` with `messageTooLarge`, `collapseIDInvalid` or `priorityInvalid`.
  public init(
    token: DeviceToken, app: BundleID, type: PushType, id: UUID = UUID(), priority: Priority? = nil,
    expiresAt: Date? = nil, collapseID: String? = nil, body: Data
  ) throws(PushMessageError) {
    guard body.count <= Self.largestBody else {
      throw PushMessageError(
        .messageTooLarge, "has \(body.count) bytes; APNs accepts at most \(Self.largestBody), so leave something out")
    }
    if let collapseID {
      guard (1...Self.largestCollapseID).contains(collapseID.utf8.count),
        collapseID.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
      else {
        throw PushMessageError(
          .collapseIDInvalid, "must have 1 to \(Self.largestCollapseID) visible ASCII characters")
      }
    }
    let priority = priority ?? (type == .alert ? .immediate : .conserving)
    guard type != .background || priority != .immediate else {
      throw PushMessageError(.priorityInvalid, "must be 5 or 1 for a background push")
    }
    self.token = token
    self.app = app
    self.type = type
    self.id = id
    self.priority = priority
    self.expiresAt = expiresAt
    self.collapseID = collapseID
    self.body = body
  }

  /// The path of the request. It contains the device token, so it must not be logged.
  public var path: String { "/3/device/\(token.hexadecimal)" }

  /// The header fields, without the provider token, in a fixed order.
  public var headers: [(name: String, value: String)] {
    var headers = [
      ("apns-topic", app.topic(of: type)),
      ("apns-push-type", type.rawValue),
      ("apns-id", idText),
      ("apns-priority", "\(priority.rawValue)"),
      ("apns-expiration", "\(expiration)"),
    ]
    if let collapseID { headers.append(("apns-collapse-id", collapseID)) }
    return headers
  }

  /// The id in lower case. `uuidString` formats with the C library, which takes longer than all other header fields.
  private var idText: String {
    let digits = Array("0123456789abcdef".utf8)
    return withUnsafeBytes(of: id.uuid) { bytes in
      var text: [UInt8] = []
      text.reserveCapacity(36)
      for (index, byte) in bytes.enumerated() {
        if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
        text.append(digits[Int(byte >> 4)])
        text.append(digits[Int(byte & 15)])
      }
      return String(decoding: text, as: UTF8.self)
    }
  }

  /// The value of `apns-expiration` in seconds since 1970. 0 means one attempt. Times before 1970 count as 0. Times
  /// after the year 9999 count as the end of that year.
  private var expiration: Int64 {
    guard let seconds = expiresAt?.timeIntervalSince1970, seconds > 0 else { return 0 }
    return Int64(min(seconds, 253_402_300_799))
  }
}

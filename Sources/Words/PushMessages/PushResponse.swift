// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The answer of APNs to a push.
public struct PushResponse: Sendable, Hashable {
  /// The HTTP status.
  public var status: Int
  /// The reason of a refusal, such as `BadDeviceToken`; nil if the answer has no reason, or if the body could not be
  /// read.
  public var reason: String?
  /// With status 410, the latest time at which APNs confirmed that the token was no longer valid.
  public var invalidSince: Date?
  /// The value of `apns-id`; nil if the answer has none.
  public var id: String?
  /// The seconds of `Retry-After`; nil if the field is missing or is not a whole number of seconds.
  public var retryAfter: Int?

  public init(status: Int, reason: String? = nil, invalidSince: Date? = nil, id: String? = nil, retryAfter: Int? = nil)
  {
    self.status = status
    self.reason = reason
    self.invalidSince = invalidSince
    self.id = id
    self.retryAfter = retryAfter
  }

  /// Reads the answer.
  ///
  /// - Parameters:
  ///   - header: Returns the value of a header field, by its name in lower case.
  ///   - body: The body. A body in another form than Apple's JSON gives no reason.
  public init(status: Int, header: (String) -> String?, body: Data) {
    // Most answers have no body, and the decoder takes a long time to refuse an empty body.
    let isReadable = (1...Self.largestBody).contains(body.count)
    let refusal = isReadable ? try? JSONDecoder().decode(Refusal.self, from: body) : nil
    self.init(
      status: status, reason: refusal?.reason.flatMap(Self.readable),
      invalidSince: refusal?.timestamp.map { Date(timeIntervalSince1970: Double($0) / 1000) },
      id: header("apns-id"),
      retryAfter: header("retry-after").flatMap { Int($0) }.flatMap { (0...86_400).contains($0) ? $0 : nil })
  }

  /// The size of the largest body that is read, in bytes. Apple's refusals have fewer than 100 bytes.
  private static let largestBody = 4_096

  /// The JSON that Apple documents. A value of the wrong type counts as missing, and the other value is still read.
  private struct Refusal: Decodable {
    var reason: String?
    /// Milliseconds since 1970.
    var timestamp: Int64?

    enum CodingKeys: String, CodingKey { case reason, timestamp }

    init(from decoder: any Decoder) throws {
      let keys = try decoder.container(keyedBy: CodingKeys.self)
      reason = try? keys.decode(String.self, forKey: .reason)
      let timestamp = try? keys.decode(Int64.self, forKey: .timestamp)
      // From 1970 to the year 9999.
      self.timestamp = timestamp.flatMap { (0...253_402_300_799_999).contains($0) ? $0 : nil }
    }
  }

  /// Returns a reason that is safe to log and to store: 1 to 64 ASCII letters and digits, as all of Apple's reasons
  /// are.
  private static func readable(_ reason: String) -> String? {
    let isPlain = reason.utf8.allSatisfy { $0.isDigit || $0.isLetter }
    return isPlain && (1...64).contains(reason.utf8.count) ? reason : nil
  }
}

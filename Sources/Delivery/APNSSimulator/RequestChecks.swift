// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A request whose header fields and payload are right.
struct CheckedRequest {
  var id: UUID
  var device: String
  var topic: String
  var type: PushType
  /// Whether the request names its type.
  var namesType: Bool
  var priority: Int
  /// The value of `apns-expiration`, in seconds since 1970. `nil` if it is missing.
  var expiration: Int64?
  var collapseID: String?
}

/// The checks that need neither the time nor the devices, in the order in which they are made.
///
/// Apple documents the reasons, but not which of them its service gives if a request has several mistakes.
struct RequestChecks {
  /// The bundle ids that may be pushed to; `nil` allows all of them.
  var topics: Set<String>?
  /// Whether a request without `apns-push-type` is refused.
  var requiresType = false

  /// Checks everything before the provider token: method, path and repeated fields.
  ///
  /// - Returns: The device's token as the path has it.
  func device(_ headers: PushHeaders) throws(Refusal) -> Substring {
    guard headers.method == "POST" else { throw Refusal(405, "MethodNotAllowed") }
    let path = headers.path
    if path == "/3/device" || path == "/3/device/" { throw Refusal(400, "MissingDeviceToken") }
    guard path.hasPrefix("/3/device/") else { throw Refusal(404, "BadPath") }
    let token = path.dropFirst("/3/device/".count)
    guard !token.utf8.contains(UInt8(ascii: "/")) else { throw Refusal(404, "BadPath") }
    guard !headers.hasDuplicates else { throw Refusal(400, "DuplicateHeaders") }
    return token
  }

  /// Checks everything after the provider token.
  ///
  /// - Parameters:
  ///   - token: The device's token as the path has it.
  ///   - key: The key of the provider token. `nil` if the simulator accepts any key.
  ///   - id: The id of the push, if `apns-id` is missing.
  ///   - count: The number of bytes of the whole payload, even if only its beginning was kept.
  func checked(
    _ headers: PushHeaders, token: Substring, key: ProviderKey?, id: UUID, payload: [UInt8], count: Int
  ) throws(Refusal) -> CheckedRequest {
    guard Self.isToken(token) else { throw Refusal(400, "BadDeviceToken") }
    let id = try headers.id.map(Self.id) ?? id
    let topic = try Self.topic(headers)
    let named = try type(headers, topic)
    let type = named ?? PayloadRules.type(of: payload, topicOf: topic.type)
    if let topics, !topics.contains(topic.app) { throw Refusal(400, "TopicDisallowed") }
    if let topics = key?.topics, !topics.contains(topic.app) { throw Refusal(400, "TopicDisallowed") }
    let priority = try Self.priority(headers, named)
    let expiration = try Self.expiration(headers)
    if let collapseID = headers.collapseID, collapseID.isEmpty || collapseID.utf8.count > 64 {
      throw Refusal(400, "BadCollapseId")
    }
    guard count > 0 else { throw Refusal(400, "PayloadEmpty") }
    guard count <= type.longestPayload else { throw Refusal(413, "PayloadTooLarge") }
    guard PayloadRules.fits(payload, type: type) else { throw Refusal(400, "BadRequest") }
    return CheckedRequest(
      id: id, device: token.lowercased(), topic: topic.whole, type: type, namesType: named != nil, priority: priority,
      expiration: expiration, collapseID: headers.collapseID)
  }

  /// Whether the text can be a device's token: 32 to 100 bytes as hexadecimal digits. Apple says that the length may
  /// change.
  private static func isToken(_ text: Substring) -> Bool {
    let count = text.utf8.count
    return count >= 64 && count <= 200 && count.isMultiple(of: 2)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
          UInt8(ascii: "A")...UInt8(ascii: "F"):
          true
        default: false
        }
      }
  }

  private static func id(_ text: String) throws(Refusal) -> UUID {
    guard text.utf8.count == 36, let id = UUID(uuidString: text) else { throw Refusal(400, "BadMessageId") }
    return id
  }

  private static func topic(_ headers: PushHeaders) throws(Refusal) -> (whole: String, app: String, type: PushType?) {
    guard let topic = headers.topic, !topic.isEmpty else { throw Refusal(400, "MissingTopic") }
    let parts = PushType.divide(topic: topic)
    let isBundleID =
      topic.utf8.count <= 255
      && parts.app.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
        !part.isEmpty
          && part.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
              UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"):
              true
            default: false
            }
          }
      }
    guard isBundleID else { throw Refusal(400, "BadTopic") }
    return (topic, parts.app, parts.type)
  }

  /// Returns the type that a request names; `nil` if it names none and may leave the type out.
  private func type(
    _ headers: PushHeaders, _ topic: (whole: String, app: String, type: PushType?)
  ) throws(Refusal) -> PushType? {
    if headers.type == nil, !requiresType { return nil }
    guard let type = headers.type.flatMap(PushType.init(rawValue:)), type.fits(topicOf: topic.type) else {
      throw Refusal(400, "InvalidPushType")
    }
    return type
  }

  /// - Parameter type: The type that the request names.
  private static func priority(_ headers: PushHeaders, _ type: PushType?) throws(Refusal) -> Int {
    let priority: Int
    switch headers.priority {
    case nil, "10": priority = 10
    case "5": priority = 5
    case "1": priority = 1
    default: throw Refusal(400, "BadPriority")
    }
    // Apple: "Specify the priority 5. It's an error to use the priority 10 for a background push."
    guard type != .background || priority != 10 else { throw Refusal(400, "BadPriority") }
    return priority
  }

  private static func expiration(_ headers: PushHeaders) throws(Refusal) -> Int64? {
    guard let text = headers.expiration else { return nil }
    let isNumber = !text.isEmpty && text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    // With this limit, converting the time to milliseconds cannot overflow.
    guard isNumber, let seconds = Int64(text), seconds <= Int64.max / 1000 else {
      throw Refusal(400, "BadExpirationDate")
    }
    return seconds
  }
}

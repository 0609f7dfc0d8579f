// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// A phone's report that the notification of an announcement was handed over to iOS.
public struct HandOverReceipt: Sendable, Hashable, Codable {
  /// The announcement's id.
  public var id: String
  /// The time of the hand-over by the phone's clock.
  public var at: Date

  public init(id: String, at: Date) {
    self.id = id
    self.at = at
  }
}

extension DeviceClient {
  /// The maximum number of receipts in a call.
  public static let mostReceipts = 200

  /// Tells the service which announcements were handed over to iOS. Receipts can be sent again at any time: the service
  /// keeps the first receipt of each announcement, and ignores receipts of announcements that it does not know.
  ///
  /// - Parameter receipts: 1 to ``mostReceipts`` receipts.
  /// - Throws: ``DeviceClientError``.
  public func tell(_ receipts: [HandOverReceipt]) async throws(DeviceClientError) {
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    let elements = receipts.map { ["id": $0.id, "at": $0.at.formatted(style)] }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let body = try? encoder.encode(["announcements": elements]) else {
      throw error(.invalidURL, .sendingReceipts)
    }
    _ = try await answer(
      to: DeviceCall(
        action: .sendingReceipts, method: "POST", path: ["v1", "devices", access.device, "handed_over"], body: body))
  }
}

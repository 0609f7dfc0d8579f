// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import HTTPTypes
import Hummingbird
import Ledger
import ServiceAccess

/// The route with which a phone reports the notifications that it handed over to iOS. No program learns from iOS
/// whether a sound was heard, so this is the last known step of an announcement to a phone.
struct ReceiptRoutes: Sendable {
  static let largestBody = PayloadDecoder.largestBytes

  let ledger: any Ledger.PushStore

  var routes: [Route] { [.post("/v1/devices/{id}/handed_over", .keyOrOwnDevice(.announce), take)] }

  private struct Taken: Encodable {
    /// The number of announcements whose receipt is stored, including earlier receipts.
    var recorded: Int
    /// The ids of announcements that were not pushed to the device, or that are not kept any more.
    var unknown: [String]
  }

  private func take(_ call: Call) async throws -> Response {
    try call.requireMediaType("application/json")
    let receipts = try Self.receipts(try await call.body(upTo: Self.largestBody))
    let unknown = try await ledger.take(
      receipts, account: try call.sender.account, device: call.parameters[0])
    guard let unknown else { throw DeviceRoutes.unknown }
    return try ServiceJSON.response(.ok, Taken(recorded: receipts.count - unknown.count, unknown: unknown))
  }

  private static func receipts(_ body: Data) throws -> [Ledger.Receipt] {
    let fields = try JSONFields(body, keys: ["announcements"])
    let most = Ledger.mostReceipts
    let remedy = "give an array of 1 to \(most) objects with id and at"
    let elements = try fields.required(
      "announcements", try fields.objects("announcements", keys: ["id", "at"], remedy), remedy)
    guard (1...most).contains(elements.count) else { throw fields.invalid("announcements", remedy) }
    return try elements.map { element in
      let id = "give the id of the announcement"
      let at = "give an RFC 3339 time such as 2026-11-20T20:23:58Z"
      guard let time = Timestamp.date(try element.required("at", try element.string("at", at), at)) else {
        throw element.invalid("at", at)
      }
      return Ledger.Receipt(announcement: try element.required("id", try element.string("id", id), id), at: time)
    }
  }
}

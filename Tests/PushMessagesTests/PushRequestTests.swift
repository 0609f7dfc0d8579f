// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushMessages
import Testing

@Suite struct PushRequestTests {
  private func request(
    _ type: PushType = .alert, priority: PushRequest.Priority? = nil, expiresAt: Date? = nil, collapseID: String? = nil,
    bytes: Int = 2
  ) throws -> PushRequest {
    try PushRequest(
      token: DeviceToken(String(repeating: "ab", count: 32)), app: BundleID("com.example.shop"), type: type,
      id: #require(UUID(uuidString: "0E9A6E6C-5C0B-4F6E-9D4E-2B4D6B1E0001")), priority: priority, expiresAt: expiresAt,
      collapseID: collapseID, body: Data(repeating: 0x20, count: bytes))
  }

  private func header(_ name: String, of request: PushRequest) -> String? {
    request.headers.first { $0.name == name }?.value
  }

  @Test("the request for a push has the path and the header fields of Apple's page")
  func fields() throws {
    let request = try request(expiresAt: Date(timeIntervalSince1970: 1_800_000_000.9), collapseID: "day-7")
    #expect(request.path == "/3/device/" + String(repeating: "ab", count: 32))
    #expect(
      request.headers.map { "\($0.name): \($0.value)" } == [
        "apns-topic: com.example.shop", "apns-push-type: alert",
        "apns-id: 0e9a6e6c-5c0b-4f6e-9d4e-2b4d6b1e0001", "apns-priority: 10", "apns-expiration: 1800000000",
        "apns-collapse-id: day-7",
      ])
  }

  @Test("an alert is sent at once, and other pushes at a time that suits the battery")
  func priorities() throws {
    #expect(header("apns-priority", of: try request()) == "10")
    #expect(header("apns-priority", of: try request(.fileProvider)) == "5")
    #expect(header("apns-priority", of: try request(.background)) == "5")
    #expect(header("apns-priority", of: try request(.background, priority: .passive)) == "1")
    let error = #expect(throws: PushMessageError.self) { try request(.background, priority: .immediate) }
    #expect(error?.description == "The priority must be 5 or 1 for a background push.")
  }

  @Test(
    "a push's time of expiry that is out of range is replaced by the nearest time in range",
    arguments: [
      (nil, "0"), (-1, "0"), (0, "0"), (1, "1"), (1e300, "253402300799"), (.infinity, "253402300799"),
      (-.infinity, "0"), (.nan, "0"),
    ] as [(TimeInterval?, String)])
  func expiry(seconds: TimeInterval?, value: String) throws {
    let request = try request(expiresAt: seconds.map { Date(timeIntervalSince1970: $0) })
    #expect(header("apns-expiration", of: request) == value)
  }

  @Test("the body of a push has at most 4,096 bytes")
  func size() throws {
    #expect(try request(bytes: 4_096).body.count == 4_096)
    let error = #expect(throws: PushMessageError.self) { try request(bytes: 4_097) }
    #expect(error?.code == .messageTooLarge)
  }

  @Test("a collapse id has 1 to 64 visible ASCII characters")
  func collapseID() throws {
    #expect(throws: Never.self) { try request(collapseID: String(repeating: "~", count: 64)) }
    for bad in ["", " ", "a b", "a\r\nb", "日", "a\u{7F}", String(repeating: "a", count: 65)] {
      let error = #expect(throws: PushMessageError.self) { try request(collapseID: bad) }
      #expect(error?.code == .collapseIDInvalid)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import TextFormats

@Suite("An optional value that is never left out of JSON")
struct ExplicitNullTests {
  private struct Status: Codable, Hashable, Sendable {
    struct Fault: Codable, Hashable, Sendable { var code: String }

    var id: String
    @ExplicitNull var rows: Int? = nil
    @ExplicitNull var finishedAt: Date? = nil
    @ExplicitNull var fault: Fault? = nil

    enum CodingKeys: String, CodingKey {
      case id, rows, fault
      case finishedAt = "finished_at"
    }
  }

  private static func json(_ status: Status, dates: JSONEncoder.DateEncodingStrategy = .deferredToDate) throws -> String
  {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    encoder.dateEncodingStrategy = dates
    return String(decoding: try encoder.encode(status), as: UTF8.self)
  }

  private static func status(_ json: String) throws -> Status {
    try JSONDecoder().decode(Status.self, from: Data(json.utf8))
  }

  @Test("an absent optional value is encoded as null under its key")
  func absent() throws {
    #expect(try Self.json(Status(id: "a")) == #"{"fault":null,"finished_at":null,"id":"a","rows":null}"#)
  }

  @Test("an optional value that is present is encoded as if it had no wrapper, even an object or a date")
  func present() throws {
    let status = Status(
      id: "a", rows: 2, finishedAt: Date(timeIntervalSince1970: 86_400), fault: Status.Fault(code: "busy"))
    #expect(
      try Self.json(status, dates: .iso8601)
        == #"{"fault":{"code":"busy"},"finished_at":"1970-01-02T00:00:00Z","id":"a","rows":2}"#)
  }

  @Test("a missing key and null are both decoded as an absent value")
  func missing() throws {
    #expect(try Self.status(#"{"id":"a"}"#) == Status(id: "a"))
    #expect(try Self.status(#"{"id":"a","rows":null,"finished_at":null,"fault":null}"#) == Status(id: "a"))
  }

  @Test("an encoded optional value is decoded to the same value")
  func roundTrip() throws {
    for status in [
      Status(id: "a"), Status(id: "b", rows: 0, finishedAt: Date(timeIntervalSinceReferenceDate: 1.5)),
      Status(id: "c", fault: Status.Fault(code: "")),
    ] {
      #expect(try Self.status(Self.json(status)) == status)
    }
  }

  @Test(
    "an optional value of another type is an error, and not an absent value",
    arguments: [
      #"{"id":"a","rows":"2"}"#, #"{"id":"a","rows":{}}"#, #"{"id":"a","rows":[]}"#, #"{"id":"a","fault":{}}"#,
    ]
  )
  func mistyped(json: String) {
    #expect(throws: DecodingError.self) { try Self.status(json) }
  }

  @Test("elements of a JSON list can be null")
  func elements() throws {
    let list = [ExplicitNull(wrappedValue: 1), ExplicitNull(wrappedValue: nil)]
    let json = try JSONEncoder().encode(list)
    #expect(String(decoding: json, as: UTF8.self) == "[1,null]")
    #expect(try JSONDecoder().decode([ExplicitNull<Int>].self, from: json) == list)
  }
}

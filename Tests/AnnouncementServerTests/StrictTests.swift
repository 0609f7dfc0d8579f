// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Unknown keys of a payload", .timeLimit(.minutes(10)))
struct StrictTests {
  private let service: TestService

  init() throws { service = try TestService() }

  @Test("the report names the unknown keys of a payload, also when a request is repeated")
  func warnings() async throws {
    let client = try await service.client()
    let body = payment("p1", "12.50", #""memo":"x","colour":7"#)
    let answers = [try await client.post(body), try await client.post(body)]
    #expect(answers.map(\.status) == [201, 200])
    for answer in answers {
      #expect(
        try answer.value("warnings") as? [String] == ["colour: unknown key, ignored", "memo: unknown key, ignored"])
      #expect(answer.header("Preference-Applied") == nil)
    }
  }

  @Test("a refund with a misspelt kind is not announced as a received payment")
  func misspelt() async throws {
    let client = try await service.client()
    for more in [#""knid":"refunded""#, #""Kind":"refunded""#, #""type":"refund""#, #""refunded":true"#] {
      let answer = try await client.post(payment("p1", "12.00", more))
      #expect(answer.status == 422 && answer.code == "field_unknown")
      #expect(try answer.string("detail")?.contains("kind") == true)
    }
    #expect(try await client.post(payment("p1", "12.00", #""kind":"""#)).code == "field_invalid")
    #expect(service.clips().isEmpty && service.voice.calls == 0)
  }

  @Test(
    "with handling=strict, a request with unknown keys is refused, and the response confirms the preference",
    arguments: [
      "handling=strict", "Handling=Strict", "respond-async, handling=strict", "handling=\"strict\"; x=1",
      "handling = strict", "handling=strict, handling=lenient",
    ])
  func strict(prefer: String) async throws {
    let client = try await service.client()
    let refused = try await client.post(payment("p1", "12.50", #""memo":1"#), ["Prefer": prefer])
    #expect(refused.status == 422 && refused.code == "field_unknown")
    #expect(try refused.string("detail")?.hasPrefix("memo: is not a key") == true)
    let made = try await client.post(payment("p1", "12.50"), ["Prefer": prefer])
    #expect(made.status == 201 && made.header("Preference-Applied") == "handling=strict")
    let again = try await client.post(payment("p1", "12.50"), ["Prefer": prefer])
    #expect(again.status == 200 && again.header("Preference-Applied") == "handling=strict")
  }

  @Test(
    "a Prefer header other than handling=strict is ignored",
    arguments: [
      "handling=lenient", "handling", "strict", "respond-async", "", "handling=lenient, handling=strict", "=,;=",
    ])
  func lenient(prefer: String) async throws {
    let client = try await service.client()
    let made = try await client.post(payment("p1", "12.50", #""memo":1"#), ["Prefer": prefer])
    #expect(made.status == 201 && made.header("Preference-Applied") == nil)
  }

  @Test("a strict key refuses unknown keys in a payload and in a list, regardless of the Prefer header")
  func strictKey() async throws {
    let client = try await service.client(isStrict: true)
    for headers in [[:], ["Prefer": "handling=lenient"]] {
      let refused = try await client.post(payment("p1", "12.50", #""memo":1"#), headers)
      #expect(refused.status == 422 && refused.code == "field_unknown")
    }
    let list = Data("id,amount,currency,memo\na,1.00,USD,x\n".utf8)
    let columns = try await client.send(.post, "/v1/batches", headers: ["Content-Type": "text/csv"], body: list)
    #expect(columns.status == 422 && columns.code == "field_unknown")
    #expect(try await client.post(payment("p1", "12.50")).status == 201)
  }

  @Test("a strict list is refused if it has an unknown column, and a row with an unknown key fails")
  func lists() async throws {
    let client = try await service.client()
    func post(_ list: String, _ type: String) async throws -> TestAnswer {
      try await client.send(
        .post, "/v1/batches", headers: ["Content-Type": type, "Prefer": "handling=strict"], body: Data(list.utf8))
    }
    let columns = try await post("id,amount,currency,memo\na,1.00,USD,x\n", "text/csv")
    #expect(columns.status == 422 && columns.code == "field_unknown")
    let lines = #"{"id":"a","text":"Hello"}"# + "\n" + #"{"id":"b","text":"Hello","memo":1}"#
    let accepted = try await post(lines, "application/jsonl")
    #expect(accepted.status == 202 && accepted.header("Preference-Applied") == "handling=strict")
    service.startBatches()
    let place = try #require(accepted.header("Location"))
    _ = try await client.end(of: place)
    let rows = try await client.result(place)
    #expect(rows.count == 2)
    let bad = try #require(rows.first { (try? $0.string("id")) == "b" })
    #expect(try bad.string("error.code") == "field_unknown")
  }

  @Test("the stored response to a lenient request is not returned to a strict request")
  func repeated() async throws {
    let client = try await service.client()
    let body = payment("p1", "12.50", #""memo":1"#)
    #expect(try await client.post(body).status == 201)
    #expect(try await client.post(body, ["Prefer": "handling=strict"]).status == 422)
  }
}

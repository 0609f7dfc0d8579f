// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import ServiceAccess
import Testing

@testable import AnnouncementServer

@Suite("The list of nodes", .timeLimit(.minutes(10)))
struct NodeCallTests {
  @Test("a service with a ledger in a file has no nodes, and only an operator or an admin may ask")
  func file() async throws {
    let service = try TestService()
    for scope in [Scope.operator, .admin] {
      let answer = try await service.client([scope]).get("/v1/nodes")
      #expect(answer.status == 200)
      for list in ["nodes", "differences"] { #expect((try answer.value(list) as? [Any])?.isEmpty == true) }
    }
    for scopes: [Scope] in [[.announce, .read, .play], [.till], [.test]] {
      #expect(try await service.client(scopes).get("/v1/nodes").status == 403)
    }
    #expect(try await service.stranger.get("/v1/nodes").status == 401)
  }

  @Test("the list has what each node does, how long it is silent, and what differs, and no fingerprint")
  func list() throws {
    let nodes = [
      Ledger.Node(
        id: "aa.01", description: .init(host: "node-1", version: "1.0", address: "10.0.0.11:8080"),
        startedAt: Date(timeIntervalSince1970: 0), silence: 1.54, deliveries: [.webhooks, .pushes],
        lanes: ["default@node-1"], fingerprints: [.lexicon: "FINGERPRINT-1", .packs: "FINGERPRINT-2"]),
      Ledger.Node(
        id: "bb.02", description: .init(host: "node-2", version: "1.1"), startedAt: Date(timeIntervalSince1970: 60),
        silence: 2, deliveries: [], lanes: [], fingerprints: [.lexicon: "FINGERPRINT-3", .packs: "FINGERPRINT-2"]),
      Ledger.Node(
        id: "cc.03", description: .init(host: "node-3", version: "1.0"), startedAt: Date(timeIntervalSince1970: 0),
        silence: 90, deliveries: [], lanes: ["default@node-3"]),
    ]
    let data = try ServiceJSON.data(of: NodeRoutes.Answer(of: nodes, asked: "bb.02"))
    let answer = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let list = try #require(answer["nodes"] as? [[String: Any]])
    #expect(list.map { $0["host"] as? String } == ["node-1", "node-2", "node-3"])
    #expect(list.map { $0["is_this"] as? Bool } == [false, true, false])
    #expect(list.map { $0["is_running"] as? Bool } == [true, true, false])
    #expect(list.map { $0["silence_seconds"] as? Double } == [1.5, 2, 90])
    #expect(list[0]["deliveries"] as? [String] == ["pushes", "webhooks"])
    #expect(list[0]["lanes"] as? [String] == ["default@node-1"])
    #expect(list[0]["address"] as? String == "10.0.0.11:8080" && list[1]["address"] is NSNull)
    let differences = try #require(answer["differences"] as? [[String: Any]])
    #expect(differences.map { $0["thing"] as? String } == ["lexicon", "version"])
    #expect(differences.map { $0["is_of_upgrade"] as? Bool } == [false, true])
    #expect(differences[0]["groups"] as? [[String]] == [["aa.01"], ["bb.02"]])
    #expect(!String(decoding: data, as: UTF8.self).contains("FINGERPRINT"))
  }
}

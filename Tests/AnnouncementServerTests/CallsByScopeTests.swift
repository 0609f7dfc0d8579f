// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import HTTPTypes
import ServiceAccess
import Testing

@testable import AnnouncementServer

@Suite("The calls that a scope allows")
struct CallsByScopeTests {
  private let routes: [Route]
  private let limit: RateLimit

  init() throws {
    routes = try TestService { $0.hasPlayer = true }.server.responder.routes.all
    limit = try RateLimit(rate: 1)
  }

  private func caller(_ scope: Scope) -> Caller {
    Caller(
      keyID: "00000000", account: "shop", digest: Data(), scopes: [scope], defaults: .init(), limit: limit,
      device: scope == .device ? "till-1" : nil)
  }

  /// Returns the calls with a key that a scope allows, such as `GET /v1/playback`.
  private func calls(_ scope: Scope) -> Set<String> {
    let allowed = routes.filter {
      $0.access.permission != nil && $0.access.allows(caller(scope), parameters: ["till-1"])
    }
    return Set(allowed.map { "\($0.method.rawValue) \($0.template)" })
  }

  @Test("the scope 'till' allows all calls of the scope 'read', and also pause, resume, replay and volume")
  func till() {
    #expect(
      calls(.till).subtracting(calls(.read)) == [
        "POST /v1/playback/pause", "POST /v1/playback/resume", "POST /v1/playback/replay", "PUT /v1/playback/volume",
      ])
    #expect(calls(.read).subtracting(calls(.till)) == [])
    #expect(calls(.read).allSatisfy { $0.hasPrefix("GET ") })
  }

  @Test("an operator may use all calls of an admin except the calls that manage keys or hand out secrets")
  func `operator`() {
    #expect(
      calls(.admin).subtracting(calls(.operator)) == [
        "GET /v1/keys", "POST /v1/keys", "DELETE /v1/keys/{id}", "POST /v1/keys/{id}/rotate", "POST /v1/sign-in-codes",
        "GET /v1/sign-in-codes", "DELETE /v1/sign-in-codes/{id}", "PUT /v1/devices/{id}", "POST /v1/webhook-endpoints",
      ])
    #expect(calls(.operator).subtracting(calls(.admin)) == [])
  }

  @Test("an admin may use every call that needs a key")
  func admin() {
    let secured = routes.filter { $0.access.permission != nil }
    #expect(calls(.admin) == Set(secured.map { "\($0.method.rawValue) \($0.template)" }))
    for route in secured where route.access.needsKey {
      #expect(!route.access.allows(caller(.device), parameters: ["other"]) || route.template.hasPrefix("/v1/library"))
    }
  }

  @Test("the table in docs/service.md has the same rows as the service's table of routes")
  func table() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "docs/service.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let pattern = /\| `(?:GET|POST|PUT|DELETE) \/v1\/[^`]+` \|(?:(?: yes| own)? \|){8}/
    let documented = Set(text.split(separator: "\n").filter { $0.wholeMatch(of: pattern) != nil }.map(String.init))
    let rows = Set(
      routes.filter { $0.access.needsKey || $0.access.permission != nil }.map { route in
        let marks = Scope.allCases.map { scope in
          guard route.access.allows(caller(scope), parameters: ["till-1"]) else { return " |" }
          let isOwn = scope == .device && !route.access.allows(caller(scope), parameters: ["other"])
          return isOwn ? " own |" : " yes |"
        }
        return "| `\(route.method.rawValue) \(route.template)` |\(marks.joined())"
      })
    #expect(rows.subtracting(documented).sorted() == [], "These rows are not in docs/service.md.")
    #expect(documented.subtracting(rows).sorted() == [], "These rows of docs/service.md are not true.")
  }
}

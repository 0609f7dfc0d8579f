// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPTypes
import Ledger
import ServiceAccess
import TestSupport
import Testing

@testable import AnnouncementServer

@Suite("Unknown query parameters", .timeLimit(.minutes(5)))
struct UnknownQueryTests {
  private let service: TestService

  init() throws { service = try TestService() }

  @Test(
    "an unknown query parameter is refused, and the error names the parameter that was probably meant",
    arguments: [
      (
        HTTPRequest.Method.get, "/v1/announcements?limti=5",
        "limti: is not a parameter of this call; did you mean limit?"
      ),
      (.get, "/v1/announcements?limit=5&State=played", "State: is not a parameter of this call; did you mean state?"),
      (.get, "/v1/batches?page=2", "page: is not a parameter of this call; use only limit."),
      (.get, "/v1/voices?locale=en-US", "locale: is not a parameter of this call, which has none; remove it."),
      (
        .post, "/v1/announcements?deliver=play",
        "deliver: is not a parameter of this call; send options in the body, not in the URL."
      ),
      (.post, "/v1/batches?formats=wav", "formats: is not a parameter of this call; did you mean format?"),
      (.delete, "/v1/announcements/p1?force", "force: is not a parameter of this call, which has none; remove it."),
    ])
  func unknown(method: HTTPRequest.Method, target: String, detail: String) async throws {
    let body = Data(payment().utf8)
    let answer = try await service.client().send(
      method, target, headers: ["Content-Type": "application/json"], body: method == .post ? body : Data())
    #expect(answer.status == 400 && answer.code == "parameter_invalid")
    #expect(try answer.string("detail") == detail)
    #expect(try await service.ledger.announcement(account: "shop", id: "p1") == nil, "nothing was accepted")
  }

  @Test("the name of an unknown query parameter is shortened and escaped in the error")
  func printable() async throws {
    let name = "%1B" + String(repeating: "x", count: 200)
    let answer = try await service.client().get("/v1/voices?\(name)=1")
    #expect(try answer.string("detail")?.hasPrefix("%1B\(String(repeating: "x", count: 37))…: is not") == true)
  }

  @Test(
    "known and empty query parameters are accepted",
    arguments: ["?", "?&", "?limit=5&", "?limit=5&state=played&search="])
  func known(query: String) async throws {
    #expect(try await service.client().get("/v1/announcements\(query)").status == 200)
  }

  @Test(
    "a query parameter that is given twice is refused on every call, even with equal values",
    arguments: [
      "/v1/announcements?limit=5&limit=5", "/v1/announcements?state=played&limit=5&state=failed",
      "/v1/announcements?limit=5&limit=", "/v1/batches?limit=1&limit=2", "/v1/library/changes?after=1&after=2",
      "/v1/voices?x=1&x=2", "/healthz?v=1&v=2", "/metrics?v=1&v=2",
    ])
  func repeated(target: String) async throws {
    let answer = try await service.client().get(target)
    #expect(answer.status == 400 && answer.code == "parameter_invalid")
    #expect(try answer.string("detail")?.hasSuffix(": is given more than once; give it once.") == true)
  }

  @Test("a repeated query parameter in a clip's URL is refused, both for a signed URL and for a caller with a key")
  func repeatedInSignedURL() async throws {
    let client = try await service.client()
    let report = try await client.post(payment())
    let url = try #require(URL(string: try report.string("clip.url").orThrow("a URL")))
    let target = "\(url.path())?\(url.query() ?? "")"
    #expect(try await service.stranger.get(target).status == 200)
    for more in ["expires=9999999999", "signature=x", "cache=1&cache=2"] {
      let answer = try await service.stranger.get("\(target)&\(more)")
      #expect(answer.status == 400 && answer.code == "parameter_invalid", "\(more)")
    }
    #expect(try await client.get("\(url.path())?cache=1&cache=2").status == 400)
    let forged = try await service.stranger.get("\(url.path())?signature=x&signature=y&expires=1")
    #expect(forged.status == 401, "who may not use the call is refused first")
  }

  @Test("a caller without access is refused for that reason, and not for an unknown query parameter")
  func access() async throws {
    #expect(try await service.stranger.get("/v1/voices?x=1").code == "key_missing")
    #expect(try await service.client([.announce]).get("/v1/voices?x=1").code == "scope_missing")
  }

  @Test("public pages and clips accept query parameters that monitors and caches add")
  func tolerant() async throws {
    let client = try await service.client()
    let report = try await client.post(payment())
    let name = try report.string("clip.name").orThrow("a name")
    #expect(try await client.get("/v1/clips/\(name)?cache=1").status == 200)
    for path in ["/healthz", "/readyz", "/", "/console.js", "/openapi.json"] {
      #expect(try await service.stranger.get(path + "?v=2").status == 200, "\(path)")
    }
  }
}

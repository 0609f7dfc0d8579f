// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import Hummingbird
import Testing

@testable import AnnouncementServer

@Suite("The route table")
struct RouteTableTests {
  private static func none(_: Call) async throws -> Response { Response(status: .ok) }

  private let table = RouteTable([
    .get("/v1/clips/{name}", .open, Self.none), .get("/v1/playback", .open, Self.none),
    .post("/v1/playback/pause", .open, Self.none), .delete("/v1/playback/{id}", .open, Self.none),
    .get("/v1/announcements", .open, Self.none), .post("/v1/announcements", .open, Self.none),
    .get("/v1/packs/{id}/clips", .open, Self.none), .get("/v1/packs/{id}/clips/{file}", .open, Self.none),
    .put("/v1/packs/{id}/clips/{file}", .open, Self.none),
  ])

  /// The template and the last parameter; nil for anything but a route.
  private func found(_ method: HTTPRequest.Method, _ path: String) -> [String?]? {
    guard case .route(let route, let parameters) = table.match(method, path) else { return nil }
    return [route.template, parameters.last]
  }

  @Test("a route may have parameters in any segment, and each parameter is decoded")
  func parameters() {
    func parameters(_ method: HTTPRequest.Method, _ path: String) -> [String]? {
      guard case .route(_, let parameters) = table.match(method, path) else { return nil }
      return parameters
    }
    #expect(parameters(.get, "/v1/packs/my-shop/clips") == ["my-shop"])
    #expect(parameters(.put, "/v1/packs/my%2Fshop/clips/%E4%B8%80.wav") == ["my/shop", "一.wav"])
    #expect(parameters(.get, "/v1/playback") == [])
    #expect(allowed(.post, "/v1/packs/a/clips/b") == "GET, HEAD, PUT")
    for path in [
      "/v1/packs//clips", "/v1/packs/a/clips/", "/v1/packs/a/clips/b/c", "/v1/packs/a/marks", "/v1/packs/%FF/clips",
    ] {
      #expect(isNothing(path), "\(path)")
    }
  }

  @Test("a path with slashes at its end is resolved to the path without the slashes, if that path exists")
  func meant() {
    #expect(table.meant(by: "/v1/announcements/") == "/v1/announcements")
    #expect(table.meant(by: "/v1/playback/pause//") == "/v1/playback/pause")
    #expect(table.meant(by: "/v1/packs/a/clips/") == "/v1/packs/{id}/clips")
    for path in ["", "/", "//", "/v1/", "/v1/announcement/", "/v1/packs/%FF/clips/", "/v1/announcements"] {
      #expect(table.meant(by: path) == nil, "\(path)")
    }
  }

  private func allowed(_ method: HTTPRequest.Method, _ path: String) -> String? {
    guard case .otherMethods(let allow, _) = table.match(method, path) else { return nil }
    return allow
  }

  private func isNothing(_ path: String) -> Bool {
    if case .nothing = table.match(.get, path) { true } else { false }
  }

  @Test("a path matches its route, whether the route has a parameter or not")
  func found() {
    #expect(found(.get, "/v1/playback") == ["/v1/playback", nil])
    #expect(found(.get, "/v1/clips/a.wav") == ["/v1/clips/{name}", "a.wav"])
    #expect(found(.post, "/v1/announcements") == ["/v1/announcements", nil])
  }

  @Test("HEAD matches the routes of GET, and no other routes")
  func head() {
    #expect(found(.head, "/v1/playback") == ["/v1/playback", nil])
    #expect(found(.head, "/v1/playback/pause") == nil)
  }

  @Test("the error for a method that a path does not support names the supported methods")
  func otherMethods() {
    #expect(allowed(.put, "/v1/announcements") == "GET, HEAD, POST")
    #expect(allowed(.post, "/v1/clips/a.wav") == "GET, HEAD")
    #expect(allowed(.get, "/v1/playback/some") == "DELETE")
    #expect(allowed(.get, "/v1/playback/pause") == "POST")
    #expect(allowed(.options, "/v1/playback") == "GET, HEAD")
  }

  @Test("an id that equals a fixed path matches as an id if the fixed path does not have the method")
  func idLikePath() {
    #expect(found(.delete, "/v1/playback/pause") == ["/v1/playback/{id}", "pause"])
    #expect(found(.post, "/v1/playback/pause") == ["/v1/playback/pause", nil])
  }

  @Test(
    "a parameter of a path is decoded exactly once",
    arguments: [
      ("a%2Fb", "a/b"), ("%E5%BC%A0", "张"), ("%2525", "%25"), ("a+b", "a+b"), ("%20", " "), ("%00", "\0"),
      ("a%3Fb", "a?b"),
    ])
  func decoded(sent: String, parameter: String) {
    #expect(found(.get, "/v1/clips/\(sent)") == ["/v1/clips/{name}", parameter])
  }

  @Test("a path with invalid percent-encoding matches no route", arguments: ["%", "%4", "%zz", "a%", "%C3%28", "%FF"])
  func badPercentSigns(sent: String) {
    #expect(isNothing("/v1/clips/\(sent)"))
  }

  @Test(
    "an unknown path matches no route",
    arguments: [
      "", "/", "v1", "/v1", "/v1/clips", "/v1/clips/", "/v1/clips/a/b", "//v1/playback", "/v1/playback/",
      "/V1/playback",
    ])
  func nothing(path: String) {
    #expect(isNothing(path))
  }
}

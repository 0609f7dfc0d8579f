// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("The document /openapi.json", .timeLimit(.minutes(10)))
struct OpenAPIDocumentTests {
  private let document: APIDocument

  init() throws { document = try APIDocument() }

  @Test("every operation in /openapi.json has a unique name, a described tag, a summary and its required scope")
  func operations() {
    let ids = document.operations.map(\.id)
    #expect(Set(ids).count == ids.count && !ids.contains(""))
    let tags = (document.root["tags"]?.array ?? []).compactMap { $0["name"]?.string }
    // Each tag has a test in OpenAPIConformityTests, OpenAPILibraryTests, OpenAPIPackTests,
    // OpenAPIPlayerTests, OpenAPIProviderWebhookTests or OpenAPIWebhookTests.
    #expect(
      tags == [
        "Announcements", "Player", "Batches", "Keys", "Signing in", "Devices", "Library", "Webhooks", "Providers",
        "What can be spoken", "Voice packs", "Operations", "Console",
      ])
    for operation in document.operations {
      #expect(tags.contains(operation.tag) && operation.node["summary"]?.string != nil, "\(operation.id)")
      // The provider's own signature admits its webhooks, and a code admits a person who signs in.
      let needsKey =
        operation.path.hasPrefix("/v1/") && !operation.path.hasPrefix("/v1/providers/")
        && operation.path != "/v1/sign-ins"
      #expect(operation.isSecured == needsKey, "\(operation.id)")
      #expect(operation.isSecured == (operation.scope != nil), "\(operation.id)")
      #expect(operation.statuses.contains { $0 < 300 })
    }
  }

  @Test("every reference in /openapi.json can be resolved, and every component is used")
  func references() {
    var references: Set<String> = []
    visit(document.root) { node in
      if let reference = node["$ref"]?.string { references.insert(reference) }
    }
    for reference in references { #expect(document.schema.resolved(reference) != nil, "\(reference)") }
    for (kind, components) in document.root["components"]?.object ?? [:] where kind != "securitySchemes" {
      for name in (components.object ?? [:]).keys where !Self.describedInText.contains(name) {
        #expect(references.contains("#/components/\(kind)/\(name)"), "\(kind) \(name)")
      }
    }
  }

  /// The schemas of lines in streams and lists, which OpenAPI 3.1 cannot describe, so that only texts mention them.
  private static let describedInText: Set = ["Event", "BatchRow"]

  @Test("every example in /openapi.json conforms to its schema")
  func examples() {
    var count = 0
    visit(document.root) { node in
      // A parameter, a header or a media type.
      if let schema = node["schema"] {
        let values =
          (node["example"].map { [$0] } ?? []) + (node["examples"]?.object ?? [:]).values.compactMap { $0["value"] }
        for value in values {
          count += 1
          #expect(document.schema.violations(of: value, schema: schema) == [], "\(value)")
        }
      }
      // A schema.
      for value in node["examples"]?.array ?? [] {
        count += 1
        #expect(document.schema.violations(of: value, schema: node) == [], "\(value)")
      }
    }
    #expect(count > 150)
  }

  @Test("the lines in the examples of streams and JSON lines in /openapi.json conform to their schemas")
  func lines() throws {
    var count = 0
    for operation in document.operations {
      let contents = (operation.node["responses"]?.object ?? [:]).values.compactMap {
        document.resolved($0)?["content"]
      }
      for (type, content) in contents.flatMap({ $0.object ?? [:] }) {
        for text in (content["examples"]?.object ?? [:]).values.compactMap({ $0["value"]?.string }) {
          let schema: String
          switch (operation.id, type) {
          case ("events", _): schema = "Event"
          case (_, "text/event-stream"): schema = "Batch"
          default: schema = "BatchRow"
          }
          let data = text.split(separator: "\n").compactMap { line in
            type == "text/event-stream" ? (line.hasPrefix("data: ") ? line.dropFirst(6) : nil) : line
          }
          #expect(!data.isEmpty)
          for line in data {
            count += 1
            let violations = document.schema.violations(
              of: try JSONValue(String(line)), schema: try JSONValue(##"{"$ref": "#/components/schemas/\##(schema)"}"##)
            )
            #expect(violations == [], "\(operation.id) \(type)")
          }
        }
      }
    }
    #expect(count >= 3)
  }

  @Test("every example of a problem in /openapi.json has a code and a status that its response documents")
  func problems() {
    for operation in document.operations {
      for (status, node) in operation.node["responses"]?.object ?? [:] {
        guard let response = document.resolved(node) else { continue }
        for example in (response["content"]?["application/problem+json"]?["examples"]?.object ?? [:]).values {
          let code = example["value"]?["code"]?.string ?? ""
          #expect(response["description"]?.string?.contains("`\(code)`") == true, "\(operation.id) \(status) \(code)")
          #expect(example["value"]?["status"]?.number == Double(status), "\(operation.id) \(status) \(code)")
        }
      }
    }
  }

  @Test("every error code in docs/service.md is in /openapi.json")
  func codes() throws {
    let page = try String(contentsOf: Command.checkout.appending(path: "docs/service.md"), encoding: .utf8)
    let contract = try String(contentsOf: Command.checkout.appending(path: "Console/openapi.json"), encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.prefixMatch(of: /\| [45]\d\d \|/) != nil }
    let codes = Set(rows.flatMap { $0.matches(of: /`([a-z_]+)`/).map { String($0.1) } })
    #expect(codes.count > 50 && codes.contains("payload_malformed"))
    let missing = codes.filter { !contract.contains("`\($0)`") }
    #expect(missing.isEmpty, "\(missing.sorted())")
  }

  @Test("the checks of conformity to /openapi.json detect wrong answers")
  func wrongAnswers() throws {
    let health = try document.operation("health")
    func violations(_ head: String, _ body: String) throws -> [String] {
      document.violations(of: try HTTPAnswer(Data("HTTP/1.1 \(head)\r\n\r\n\(body)".utf8)), to: health)
    }
    let head =
      "200 OK\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nX-Request-Id: 1\r\n"
      + "X-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin"
    #expect(try violations(head, #"{"status":"ok"}"#) == [])
    for (head, body) in [
      (head, #"{"status":"well"}"#), (head, "{}"), (head, ""), (head, "ok"), (head, #"{"status":"ok","more":1}"#),
      (head + "\r\nX-More: 1", #"{"status":"ok"}"#), (head + "\r\nX-Request-Id: 2", #"{"status":"ok"}"#),
      (head.replacing("X-Request-Id: 1\r\n", with: ""), #"{"status":"ok"}"#),
      (head.replacing("X-Content-Type-Options: nosniff\r\n", with: ""), #"{"status":"ok"}"#),
      (head.replacing("application/json", with: "text/json"), #"{"status":"ok"}"#),
      (head.replacing("200 OK", with: "201 Created"), #"{"status":"ok"}"#),
      (head.replacing("no-store", with: ""), #"{"status":"ok"}"#),
    ] {
      #expect(try violations(head, body).count == 1, "\(head) \(body)")
    }
    let list = try document.operation("listVoices")
    let problem = #"{"type":"about:blank","title":"t","status":429,"code":"CODE","detail":"d","request_id":"ID"}"#
    for (code, id, status, isRight) in [
      ("rate_limited", "1", 429, true), ("engine_busy", "1", 429, false), ("rate_limited", "2", 429, false),
      ("rate_limited", "1", 428, false),
    ] {
      let body = problem.replacing("CODE", with: code).replacing("ID", with: id).replacing("429", with: "\(status)")
      let answer = try HTTPAnswer(
        Data(
          """
          HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/problem+json\r\nCache-Control: no-store\r\n\
          Retry-After: 1\r\nX-Request-Id: 1\r\nX-Content-Type-Options: nosniff\r\n\
          Cross-Origin-Resource-Policy: same-origin\r\n\r\n\(body)
          """.utf8))
      #expect(document.violations(of: answer, to: list).isEmpty == isRight, "\(code) \(id) \(status)")
    }
  }

  @Test("/openapi.json has exactly the paths and methods of the routes in the sources")
  func routes() throws {
    var routes: Set<String> = []
    let sources = Command.checkout.appending(path: "Sources/Service/AnnouncementServer")
    let files = try ["Routes", "Providers", "Shop"].flatMap {
      try FileManager.default.contentsOfDirectory(at: sources.appending(path: $0), includingPropertiesForKeys: nil)
    }
    for file in files {
      let text = try String(contentsOf: file, encoding: .utf8)
      let path = text.firstMatch(of: /static let path = "(\/[^"]*)"/).map { String($0.1) } ?? ""
      for found in text.matches(of: /\.(get|post|put|patch|delete)\(\s*(?:"(\/[^"]*)"|Self\.path), \.(?:open|key)/) {
        routes.insert("\(found.1.uppercased()) \(found.2.map(String.init) ?? path)")
      }
      for page in text.matches(of: /\n    \("(\/[^"]*)", "[^"]+", [^)]+\)/) { routes.insert("GET \(page.1)") }
    }
    // The document lists HEAD only where it differs from GET in more than the body.
    let documented = Set(document.operations.filter { $0.method != "HEAD" }.map { "\($0.method) \($0.path)" })
    #expect(routes.subtracting(documented) == [], "These routes are not in the document.")
    #expect(documented.subtracting(routes) == [], "These operations are not in the sources.")
  }

  @Test("a method that /openapi.json does not have gets 405 with the documented methods, and an unknown path gets 404")
  func methods() throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try RunningService(of: crier)
    for (path, operations) in Dictionary(grouping: document.operations, by: \.path) {
      let target = path.replacing(/\{[a-z0-9]+\}/, with: "1")
      var methods = Set(operations.map(\.method))
      if methods.contains("GET") { methods.insert("HEAD") }
      // An announcement's id can equal a fixed path segment, so DELETE is also allowed there.
      let isID = path.hasPrefix("/v1/playback/") || path == "/v1/announcements/summary"
      let ids: Set = isID ? methods.union(["DELETE"]) : methods
      for method in Set(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]).subtracting(ids) {
        let answer = try service.send(method, target)
        #expect(answer.status == 405 && answer.code == "method_not_allowed", "\(method) \(target)")
        #expect(answer.header("Allow") == methods.sorted().joined(separator: ", "), "\(method) \(target)")
        let violations = document.schema.violations(
          of: try answer.json(), schema: try JSONValue(##"{"$ref": "#/components/schemas/Problem"}"##))
        #expect(violations == [] && answer.header("Content-Type") == "application/problem+json")
      }
    }
    for path in [
      "/v1", "/v1/", "/v1/announcements/", "/v1/announcements/1/2", "/v1/devices/1/2", "/v1/batches/",
      "/v2/announcements",
      "/index.html", "/openapi.yaml", "//healthz", "/V1/voices", "/v1/clips", "/v1/playback/", "/metrics/x",
    ] {
      let answer = try service.send("GET", path)
      #expect(answer.status == 404 && answer.code == "not_found", "\(path)")
    }
  }

  @Test("every example of a request in /openapi.json works unchanged")
  func requestExamples() throws {
    let crier = try Command()
    defer { crier.remove() }
    let service = try RunningService(of: crier)
    // The examples name a payment that has been played.
    let heard =
      #"{"id":"2026112000012345","amount":"1","currency":"USD","locale":"en-US","deliver":["play"],"rate":450}"#
    #expect(try service.announce(heard).status == 201)
    try eventually("The payment is played.") {
      try service.send("GET", "/v1/announcements/2026112000012345").json()["delivery"]?["play"]?["state"]
        == .string("played")
    }
    var count = 0
    for operation in document.operations {
      for (mediaType, name, value) in document.requestExamples(of: operation) {
        let body = try value.string.map { Data($0.utf8) } ?? value.data
        let answer = try service.send(
          operation.method, operation.path.replacing("{id}", with: "1").replacing("{kind}", with: "refunded"),
          headers: ["Content-Type: \(mediaType)"],
          body: body)
        #expect((200...299).contains(answer.status), "\(operation.id) \(name): \(answer.text.prefix(200))")
        #expect(document.violations(of: answer, to: operation) == [], "\(operation.id) \(name)")
        count += 1
        guard operation.id == "createBatch", let id = try answer.json()["id"]?.string else { continue }
        // The stream of a batch ends when the batch is done.
        let events = try service.send("GET", "/v1/batches/\(id)", headers: ["Accept: text/event-stream"]).text
        #expect(events.contains("event: done\n") && events.contains(#""failed":0"#), "\(name)")
      }
    }
    #expect(count >= 10)
  }

  /// Visits every object in the document.
  private func visit(_ node: JSONValue, _ work: (JSONValue) -> Void) {
    switch node {
    case .object(let members):
      work(node)
      for member in members.values { visit(member, work) }
    case .array(let elements): for element in elements { visit(element, work) }
    default: break
    }
  }
}

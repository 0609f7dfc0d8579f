// SPDX-License-Identifier: Apache-2.0

import Foundation
import ServiceAccess
import Testing

/// Checks every call of the running service, with every status that can be provoked from outside, against the document.
@Suite("The service conforms to /openapi.json", .timeLimit(.minutes(10)))
struct OpenAPIConformityTests {
  private static let payment = #"{"id":"1","amount":"12.50","currency":"USD","locale":"en-US"}"#

  private func withService(_ flags: [String] = RunningService.flags, _ work: (Conformity) throws -> Void) throws {
    let crier = try Command()
    defer { crier.remove() }
    try work(try Conformity(crier, flags))
  }

  @Test("the answers to calls about announcements conform to /openapi.json")
  func announcing() throws {
    try withService { service in
      let first = try service.check("announce", json: Self.payment, 201)
      #expect(try service.check("announce", json: Self.payment, 200).body == first.body)
      try service.check(
        "announce", json: #"{"id":"a/b 收款","text":"Hello","device":"till","deliver":["clip","play"]}"#, 201)
      let strict = ["Prefer: handling=strict"]
      try service.check("announce", json: #"{"id":"strict","text":"Hello","format":"wav"}"#, headers: strict, 201)
      try service.check("announce", json: #"{"id":"memo","text":"Hello","memo":1}"#, 201)
      try service.check("announce", json: #"{"text":"Hello"}"#, headers: ["Idempotency-Key: \"k\""], 201)
      for (accept, format) in [("audio/wav", "wav"), ("audio/*", "aiff"), ("audio/x-caf, text/html", "caf")] {
        let body = #"{"id":"\#(format)","amount":"3","currency":"EUR","locale":"en-US","format":"\#(format)"}"#
        for status in [201, 200] { try service.check("announce", json: body, headers: ["Accept: \(accept)"], status) }
      }
      let wrong: [(body: String, status: Int, code: String)] = [
        ("{", 400, "payload_malformed"), ("", 400, "payload_malformed"), ("[]", 400, "payload_malformed"),
        (#"{"id":"2","currency":"USD"}"#, 422, "field_missing"),
        (#"{"id":"2","amount":"1.005","currency":"USD"}"#, 422, "field_invalid"),
        (#"{"id":"2","amount":"1","minor":100,"currency":"USD"}"#, 422, "fields_conflict"),
        (#"{"id":"2","amount":"1","currency":"USD","knid":"refunded"}"#, 422, "field_unknown"),
        (#"{"id":"2","amount":"1","currency":"USD","channel":""}"#, 422, "field_invalid"),
        (#"{"id":"2","aps":{"alert":"a"},"amount":"1","currency":"USD"}"#, 422, "fields_conflict"),
        (#"{"id":"2","amount":"1","currency":"USD","locale":"tlh"}"#, 422, "locale_unknown"),
        (#"{"id":"2","text":"!?"}"#, 422, "nothing_to_say"),
        (#"{"id":"2","text":"a","format":"mp3"}"#, 422, "option_invalid"),
        (#"{"id":"2","text":"a","voice":"nobody"}"#, 422, "option_invalid"),
        (#"{"id":"2","text":"a","method":"clips"}"#, 422, "method_unavailable"),
        (#"{"id":"2","text":"\#(String(repeating: "many words ", count: 150))"}"#, 422, "too_long"),
        (#"{"id":"2","text":"a","deliver":["push"]}"#, 422, "push_unavailable"),
        (#"{"id":"1","amount":"12.51","currency":"USD"}"#, 409, "id_conflict"),
        (#"{"id":"2","text":"\#(String(repeating: "a", count: 1 << 16))"}"#, 413, "payload_too_large"),
      ]
      for (body, status, code) in wrong { try service.check("announce", json: body, status, code) }
      try service.check(
        "announce", json: #"{"text":"Bye"}"#, headers: ["Idempotency-Key: k"], 422, "idempotency_key_reused")
      try service.check("announce", json: Self.payment, headers: ["Idempotency-Key: ü"], 400, "idempotency_key_invalid")
      try service.check("announce", json: Self.payment, headers: ["Accept: text/html"], 406, "not_acceptable")
      try service.check(
        "announce", headers: ["Content-Type: text/plain"], body: Self.payment, 415, "media_type_unsupported")
      try service.check(
        "announce", json: Self.payment, headers: ["Content-Encoding: gzip"], 415, "content_coding_unsupported")
      try service.checkRefusals("announce")

      try service.check("listAnnouncements", 200)
      try service.check("listAnnouncements", query: "?limit=1", key: service.keys["read"], 200)
      for limit in ["0", "201", "ten", "+1", ""] {
        try service.check("listAnnouncements", query: "?limit=\(limit)", 400, "parameter_invalid")
      }
      let next = try #require(
        try service.check("listAnnouncements", query: "?limit=1&search=HELLO", 200).json()["next"]?.string)
      let query = "?before=\(next)&state=rendered,played&from=2026-01-01T00:00:00Z&to=2100-01-01T00:00:00.5%2B01:00"
      try service.check("listAnnouncements", query: query, 200)
      for item in ["before=x", "state=heard", "from=today", "to=today", "search=\(String(repeating: "a", count: 101))"]
      {
        try service.check("listAnnouncements", query: "?\(item)", 422, "field_invalid")
      }
      try service.checkRefusals("listAnnouncements")

      try service.check("summariseAnnouncements", 200)
      try service.check("summariseAnnouncements", query: "?by=currency,kind,hour", key: service.keys["read"], 200)
      for item in ["by=day", "from=today", "to=2026-11-20", "from=2020-01-01T00:00:00Z"] {
        try service.check("summariseAnnouncements", query: "?\(item)", 422, "field_invalid")
      }
      try service.checkRefusals("summariseAnnouncements")
      try previews(service)
      try speech(service)
      try service.check("getAnnouncement", at: "1", 200)
      try service.check("getAnnouncement", at: "a%2Fb%20%E6%94%B6%E6%AC%BE", 200)
      try service.check("getAnnouncement", at: "nobody", 404, "not_found")
      try service.checkRefusals("getAnnouncement", "1")
      try service.check("announce", json: #"{"id":"gone","text":"Gone"}"#, 201)
      try service.check("removeAnnouncement", at: "gone", 200)
      try service.check("removeAnnouncement", at: "gone", 404, "not_found")
      try service.check("pause", 200)
      try service.check("announce", json: #"{"id":"held","text":"Held","deliver":["play"]}"#, 201)
      try service.check("removeAnnouncement", at: "held", key: service.keys["announce"], 409, "not_ended")
      try service.checkRefusals("removeAnnouncement", "1")

      try clips(service, try first.json()["clip"] ?? .null)
      service.expectAllProvoked(tag: "Announcements")
    }
  }

  private func previews(_ service: Conformity) throws {
    let nameless = #"{"amount":"12.50","currency":"USD","locale":"en-US"}"#
    #expect(try service.check("preview", json: nameless, key: service.keys["announce"], 200).json()["id"] == .null)
    try service.check("preview", json: nameless, headers: ["Prefer: handling=strict"], 200)
    try service.check("preview", json: #"{"id":"p","text":"Hello","rate":200}"#, 200)
    try service.check("preview", json: nameless, headers: ["Accept: audio/wav"], 200)
    try service.check("preview", json: nameless, headers: ["Accept: image/png"], 406, "not_acceptable")
    for field in [#""deliver":["clip"]"#, #""device":"till""#] {
      try service.check("preview", json: #"{"text":"Hello",\#(field)}"#, 422, "field_unknown")
    }
    try service.check("preview", json: "{", 400, "payload_malformed")
    try service.check("preview", headers: ["Content-Type: text/plain"], body: "x", 415, "media_type_unsupported")
    let long = #"{"text":"\#(String(repeating: "a", count: 1 << 16))"}"#
    try service.check("preview", json: long, 413, "payload_too_large")
    try service.checkRefusals("preview")
  }

  private func speech(_ service: Conformity) throws {
    let long = String(repeating: "many words ", count: 150)
    for format in ["", #","response_format":"flac""#, #","response_format":"wav""#, #","response_format":"pcm""#] {
      let body = #"{"model":"tts-1","voice":"alloy","input":"Paid $12.50"\#(format)}"#
      try service.check("createSpeech", json: body, key: service.keys["announce"], 200)
    }
    try service.check("createSpeech", json: #"{"input":"Hallo","voice":{"id":"de-DE"},"speed":1.5}"#, 200)
    let wrong: [(body: String, code: String)] = [
      ("{", "payload_malformed"), ("[]", "payload_malformed"), ("{}", "field_missing"),
      (#"{"input":"a","response_format":"opus"}"#, "field_invalid"), (#"{"input":"a","speed":9}"#, "field_invalid"),
      (#"{"input":"a","voice":"nobody"}"#, "field_invalid"), (#"{"input":"a","inptu":"b"}"#, "field_unknown"),
      (#"{"input":"a","voice":"ja-JP","locale":"en-US"}"#, "fields_conflict"),
      (#"{"input":"a","locale":"tlh"}"#, "locale_unknown"), (#"{"input":"!?"}"#, "nothing_to_say"),
      (#"{"input":"\#(long)"}"#, "too_long"),
    ]
    for (body, code) in wrong { try service.check("createSpeech", json: body, 400, code) }
    try service.check(
      "createSpeech", headers: ["Content-Type: text/plain"], body: "x", 415, "media_type_unsupported")
    let large = #"{"input":"\#(String(repeating: "a", count: 1 << 16))"}"#
    try service.check("createSpeech", json: large, 413, "payload_too_large")
    try service.checkRefusals("createSpeech")
  }

  private func clips(_ service: Conformity, _ clip: JSONValue) throws {
    let name = try #require(clip["name"]?.string)
    let query = try #require(clip["url"]?.string?.firstMatch(of: /\?.*/)).output
    let etag = try #require(try service.check("getClip", at: name, 200).header("ETag"))
    let secret = try Data(contentsOf: service.crier.home.appending(path: "signing-secret"))
    let old = try SignedURL(secret: secret).signed("/v1/clips/\(name)", until: Date(timeIntervalSinceNow: -1))
    for id in ["getClip", "headClip"] {
      let isHead = id == "headClip"
      try service.check(id, at: name, 200)
      try service.check(id, at: name, query: String(query), key: "", 200)
      // Ranges are only defined for GET (RFC 9110, section 14.2).
      try service.check(id, at: name, headers: ["Range: bytes=10-19"], isHead ? 200 : 206)
      try service.check(id, at: name, headers: ["Range: bytes=10-19", "If-Range: \(etag)"], isHead ? 200 : 206)
      try service.check(id, at: name, headers: ["Range: bytes=10-19", "If-Range: \"other\""], 200)
      try service.check(id, at: name, headers: ["Range: bytes=0-1,4-5"], 200)
      try service.check(
        id, at: name, headers: ["Range: bytes=99999999-"], isHead ? 200 : 416, isHead ? nil : "range_not_satisfiable")
      try service.check(id, at: name, headers: ["If-None-Match: \(etag)"], 304)
      try service.check(id, at: String(repeating: "0", count: 64) + ".wav", 404, "not_found")
      try service.check(id, at: "..%2F..%2Fledger.sqlite", 404, "not_found")
      try service.check(id, at: name, query: "?expires=1&signature=x", key: "", 401, "signature_malformed")
      try service.check(id, at: name, query: "?signature=x", key: "", 401, "signature_missing")
      try service.check(id, at: name, query: query.dropLast() + (query.hasSuffix("A") ? "B" : "A"), key: "", 401)
      try service.check(
        id, at: name, query: old.firstMatch(of: /\?.*/).map { String($0.output) } ?? "", key: "", 401,
        "signature_expired")
      try service.checkRefusals(id, name)
    }
  }

  @Test("a signed request that changes something is answered only once, and one that only reads is answered repeatedly")
  func signedRequest() throws {
    try withService { service in
      let key = try #require(service.service.key)
      let reading = try service.signature(key, "GET", "/v1/voices", at: Date())
      for _ in 0..<2 { try service.check("listVoices", key: "", headers: reading, 200) }
      let cancelling = try service.signature(key, "DELETE", "/v1/batches/nobody", at: Date())
      try service.check("cancelBatch", at: "nobody", key: "", headers: cancelling, 404, "not_found")
      try service.check("cancelBatch", at: "nobody", key: "", headers: cancelling, 401, "replayed")
    }
  }

  @Test("the answers to calls about keys conform to /openapi.json")
  func keys() throws {
    try withService { service in
      let listed = try service.check("listKeys", 200).json()["keys"]?.array ?? []
      #expect(listed.count == 5)
      let all = #"""
        {"scopes":["read"],"account":"till","name":"Till","locale":"en-US","group":"group.tills","rate":20,"burst":40,
         "expires":"90d","addresses":["192.0.2.0/24"],"strict":true,"pack":null}
        """#
      let made = try service.check("createKey", json: all, 201).json()
      try service.check("createKey", json: "{}", 201)
      #expect(try APIKey(made["key"]?.string ?? "").id == made["id"]?.string)
      for (body, status, code) in [
        ("[]", 400, "payload_malformed"), (#"{"scopes":["all"]}"#, 422, "field_invalid"),
        (#"{"scope":"read"}"#, 422, "field_unknown"), (#"{"locale":"tlh"}"#, 422, "locale_unknown"),
        (String(repeating: " ", count: 5000), 413, "payload_too_large"),
      ] { try service.check("createKey", json: body, status, code) }
      try service.check("createKey", headers: ["Content-Type: text/plain"], body: "{}", 415, "media_type_unsupported")
      let id = try #require(made["id"]?.string)
      for _ in 0..<2 { try service.check("revokeKey", at: id, 200) }
      try service.check("revokeKey", at: "00000000", 404, "not_found")
      let own = try APIKey(try #require(service.service.key)).id
      try service.check("revokeKey", at: own, 409, "key_in_use")
      let rotated = try service.check(
        "rotateKey", at: try #require(try other(service)), json: #"{"overlap":"1h"}"#, 201)
      #expect(try APIKey(rotated.json()["key"]?.string ?? "").id == rotated.json()["id"]?.string)
      let last = try #require(try rotated.json()["id"]?.string)
      try service.check("rotateKey", at: last, 201)
      try service.check("rotateKey", at: last, 409, "key_not_in_force")
      try service.check("rotateKey", at: "00000000", 404, "not_found")
      try service.check("rotateKey", at: id, json: "[]", 400, "payload_malformed")
      try service.check("rotateKey", at: id, json: #"{"overlap":"soon"}"#, 422, "field_invalid")
      try service.check(
        "rotateKey", at: id, headers: ["Content-Type: text/plain"], body: "{}", 415, "media_type_unsupported")
      try service.check("rotateKey", at: id, json: String(repeating: " ", count: 5000), 413, "payload_too_large")
      try service.check("showMe", 200)
      try service.check("showMe", key: service.keys["play"], 200)
      for operation in ["listKeys", "createKey", "revokeKey", "rotateKey", "showMe"] {
        try service.checkRefusals(operation, "00000000")
      }
      service.expectAllProvoked(tag: "Keys")
    }
  }

  /// Makes another key, and returns its id.
  private func other(_ service: Conformity) throws -> String? {
    try service.check("createKey", json: #"{"scopes":["till","operator"],"expires":"90d"}"#, 201).json()["id"]?.string
  }

  @Test("the answers to calls for signing in conform to /openapi.json")
  func signingIn() throws {
    try withService { service in
      let all = #"{"scope":"operator","name":"Kim","account":"north","days":30}"#
      let made = try service.check("createSignInCode", json: all, 201).json()
      let id = try #require(made["id"]?.string)
      let waiting = try service.check("createSignInCode", json: #"{"scope":"till","name":"Till"}"#, 201).json()
      for (body, status, code) in [
        ("[]", 400, "payload_malformed"), (#"{"scope":"admin","name":"a"}"#, 422, "field_invalid"),
        (#"{"name":"a"}"#, 422, "field_missing"), (#"{"scopes":"till"}"#, 422, "field_unknown"),
        (String(repeating: " ", count: 5000), 413, "payload_too_large"),
      ] { try service.check("createSignInCode", json: body, status, code) }
      let plain = ["Content-Type: text/plain"]
      try service.check("createSignInCode", headers: plain, body: "{}", 415, "media_type_unsupported")
      #expect(try service.check("listSignInCodes", 200).json()["sign_in_codes"]?.array?.count == 2)

      let code = try #require(made["code"]?.string)
      let body = #"{"code":"\#(code)"}"#
      let key = try #require(try service.check("signIn", json: body, key: "", 201).json()["key"]?.string)
      try service.check("showMe", key: key, 200)
      try service.check("signIn", json: body, key: "", 401, "sign_in_code_used")
      try service.check("signIn", json: #"{"code":"x"}"#, key: "", 401, "sign_in_code_unknown")
      for (body, status, code) in [
        ("[]", 400, "payload_malformed"), ("{}", 422, "field_missing"), (#"{"code":1}"#, 422, "field_invalid"),
        (String(repeating: " ", count: 5000), 413, "payload_too_large"),
      ] { try service.check("signIn", json: body, key: "", status, code) }
      try service.check("signIn", key: "", headers: plain, body: "{}", 415, "media_type_unsupported")
      // The limit of failures of an address is 50 at once and 10 in a second.
      let client = ["X-Forwarded-For: 192.0.2.9", "Content-Type: application/json"]
      var answer = try service.service.send("POST", "/v1/sign-ins", key: "", headers: client, body: Data(body.utf8))
      for _ in 0..<2000 where answer.status == 401 {
        answer = try service.service.send("POST", "/v1/sign-ins", key: "", headers: client, body: Data(body.utf8))
      }
      try service.record(answer, "signIn", 429, "too_many_failures")

      try service.check("removeSignInCode", at: id, 404, "not_found")
      try service.check("removeSignInCode", at: try #require(waiting["id"]?.string), 200)
      for operation in ["createSignInCode", "listSignInCodes", "removeSignInCode"] {
        try service.checkRefusals(operation, "00000000")
      }
      service.expectAllProvoked(tag: "Signing in")
    }
  }

  @Test("the answers to calls about devices conform to /openapi.json")
  func devices() throws {
    try withService { service in
      let token = String(repeating: "a1", count: 32)
      let all = #"""
        {"bundle_id":"com.example.shop","environment":"sandbox","tokens":{"alert":"\#(token)","background":null},
         "group":"group.tills","device_group":"counter","locale":"en-US","tone":"cash.wav","new_key":null}
        """#
      let least = #"{"bundle_id":"com.example.shop","environment":"production","tokens":{}}"#
      let key = try #require(
        try service.check("registerDevice", at: "till-1", json: all, 201).json()["key"]?.string)
      for id in ["till-2", "till-3"] { try service.check("registerDevice", at: id, json: least, 201) }
      #expect(try service.check("registerDevice", at: "till-1", json: all, 200).json()["key"] == nil)
      let renewing = least.replacing("{}", with: #"{},"new_key":true"#)
      #expect(try service.check("registerDevice", at: "till-2", json: renewing, 200).json()["key"]?.string != nil)
      try service.check("registerDevice", at: "till-1", json: least, key: key, 200)
      for (id, body, status, code) in [
        ("till-1", "[]", 400, "payload_malformed"), ("counter", least, 409, "device_name_taken"),
        ("till-4", least.replacing("{}", with: #"{},"device_group":"till-1""#), 409, "device_name_taken"),
        ("till-1", least.replacing("{}", with: #"{"alert":"xyz"}"#), 422, "field_invalid"),
        ("till-1", least.replacing("{}", with: #"{"alerts":"\#(token)"}"#), 422, "field_unknown"),
        ("till-1", #"{"environment":"sandbox","tokens":{}}"#, 422, "field_missing"),
        ("till-1", least.replacing("{}", with: #"{},"locale":"tlh""#), 422, "locale_unknown"),
        ("a%20b", least, 422, "field_invalid"),
        ("till-1", String(repeating: " ", count: 5000), 413, "payload_too_large"),
      ] as [(String, String, Int, String?)] {
        try service.check("registerDevice", at: id, json: body, status, code)
      }
      try service.check(
        "registerDevice", at: "till-1", headers: ["Content-Type: text/plain"], body: least, 415,
        "media_type_unsupported")
      try service.check("listDevices", 200)
      let next = try service.check("listDevices", query: "?limit=1", key: service.keys["read"], 200).json()["next"]
      #expect(next == .string("till-1"))
      try service.check("listDevices", query: "?limit=200&after=till-2", 200)
      try service.check("listDevices", query: "?limit=0", 400, "parameter_invalid")
      for operation in ["getDevice", "listPushed"] {
        try service.check(operation, at: "till-1", 200)
        try service.check(operation, at: "till-1", key: key, 200)
        try service.check(operation, at: "till-2", key: key, 403, "scope_missing")
        try service.check(operation, at: "nobody", 404, "not_found")
      }
      let receipts = #"{"announcements":[{"id":"p1","at":"2026-11-20T20:23:59Z"}]}"#
      #expect(
        try service.check("takeReceipts", at: "till-1", json: receipts, key: key, 200).json()["unknown"]
          == .array([.string("p1")]))
      try service.check("takeReceipts", at: "till-2", json: receipts, key: key, 403, "scope_missing")
      try service.check("takeReceipts", at: "nobody", json: receipts, 404, "not_found")
      try service.check("takeReceipts", at: "till-1", json: "{}", 422, "field_missing")
      try service.check("takeReceipts", at: "till-1", json: "[]", 400, "payload_malformed")
      try service.check(
        "takeReceipts", at: "till-1", json: String(repeating: " ", count: 70_000), 413, "payload_too_large")
      try service.check(
        "takeReceipts", at: "till-1", headers: ["Content-Type: text/plain"], body: receipts, 415,
        "media_type_unsupported")
      try service.check("listPushed", at: "till-1", query: "?after=7&limit=200", 200)
      try service.check("listPushed", at: "till-1", query: "?after=-1", 400, "parameter_invalid")
      for operation in service.document.operations where operation.tag == "Devices" {
        try service.checkRefusals(operation.id, "till-1")
      }
      try service.check("testDevice", at: "nobody", 404, "not_found")
      try service.check("testDevice", at: "till-1", 422, "push_unavailable")
      try service.check("removeDevice", at: "till-2", key: service.keys["announce"], 200)
      try service.check("removeDevice", at: "till-1", key: key, 200)
      try service.check("removeDevice", at: "till-1", 404, "not_found")
      // Without the setting apns, no test is sent; PushDeliveryCallTests send some.
      service.expectAllProvoked(tag: "Devices", isWithoutSuccess: ["testDevice"])
    }
  }

  @Test("the answers about locales, voices and packs conform to /openapi.json, with a valid and a broken pack")
  func speakable() throws {
    try withService { service in
      let built = try service.crier("voices", "build", "--locale", "en-US", "--id", "my-shop")
      #expect(built.status == 0, "\(built.message)")
      let broken = service.crier.home.appending(path: "Voices/broken")
      try FileManager.default.createDirectory(at: broken, withIntermediateDirectories: true)
      try Data("{".utf8).write(to: broken.appending(path: "manifest.json"))
      for id in ["listLocales", "listVoices", "listPacks"] {
        try service.check(id, 200)
        try service.check(id, key: service.keys["read"], headers: ["Accept: text/html"], 200)
        try service.checkRefusals(id)
      }
      // The service looks for new packs once a second.
      var packs: [JSONValue] = []
      while packs.count < 2 { packs = try service.check("listPacks", 200).json()["packs"]?.array ?? [] }
      #expect(packs.compactMap { $0["id"]?.string } == ["broken", "my-shop"])
      #expect(packs.map { $0["error"] == .null } == [false, true])
      try service.check("chooseVoice", at: "en-US", json: #"{"pack":"my-shop"}"#, 200)
      try service.check("chooseVoice", at: "en-US", json: #"{"pack":null}"#, 200)
      for (body, status, code) in [
        (#"{"pack":"nobody"}"#, 422, "field_invalid"), (#"{"voice":1}"#, 422, "field_unknown"),
        ("{}", 422, "field_missing"), ("[]", 400, "payload_malformed"),
        (String(repeating: " ", count: 5000), 413, "payload_too_large"),
      ] { try service.check("chooseVoice", at: "en-US", json: body, status, code) }
      try service.check("chooseVoice", at: "tlh", json: #"{"pack":"my-shop"}"#, 404, "not_found")
      try service.check(
        "chooseVoice", at: "en-US", headers: ["Content-Type: text/plain"], body: "1", 415, "media_type_unsupported")
      try service.checkRefusals("chooseVoice", "en-US")
      // VoiceChoiceCallTests provoke the conflict with the setting.
      service.expectAllProvoked(tag: "What can be spoken", isWithoutConflicts: ["chooseVoice"])

      // The report says whether a pack, the engine, or both spoke.
      let payment = #""amount":"5","currency":"USD","locale":"en-US","channel":"card""#
      let byPack = try service.check("announce", json: #"{"id":"1",\#(payment),"method":"clips"}"#, 201)
      #expect(try byPack.json()["method"] == .string("clips"))
      let mixed = try service.check("announce", json: #"{"id":"2",\#(payment),"pack":"my-shop","payer":"Ann"}"#, 201)
      #expect(try mixed.json()["method"] == .string("mixed"))
      try service.check("announce", json: #"{"id":"3",\#(payment),"pack":"broken"}"#, 422, "manifest_unreadable")
      try service.check("announce", json: #"{"id":"3",\#(payment),"pack":"nobody"}"#, 422, "option_invalid")
    }
  }

  @Test("the answers to calls about batches conform to /openapi.json")
  func batches() throws {
    try withService { service in
      func post(
        _ type: String, _ body: String, _ query: String = "", _ status: Int = 202, _ code: String? = nil,
        location: SourceLocation = #_sourceLocation
      ) throws -> HTTPAnswer {
        try service.check(
          "createBatch", query: query, headers: ["Content-Type: \(type)"], body: body, status, code, location: location)
      }
      let rows = #"{"id":"a","text":"Hello"}"# + "\n" + #"{"id":"b","amount":"1"}"# + "\n"
      let id = try #require(
        try post("application/jsonl", rows, "?format=aiff&rate=200&name=list.jsonl").json()["id"]?.string)
      let events = try service.check("getBatch", at: id, headers: ["Accept: text/event-stream"], 200).text
      let data = events.split(separator: "\n").compactMap { $0.hasPrefix("data: ") ? String($0.dropFirst(6)) : nil }
      #expect(!data.isEmpty && events.contains("event: done\n"))
      for text in data {
        let violations = service.document.schema.violations(
          of: try JSONValue(text), schema: try JSONValue(##"{"$ref": "#/components/schemas/Batch"}"##))
        #expect(violations == [])
      }
      let done = try service.check("getBatch", at: id, key: service.keys["read"], 200).json()
      #expect(done["state"] == .string("done") && done["failed"] == .number(1) && done["rows"] == .number(2))
      for type in ["application/jsonl", "application/x-ndjson"] {
        let lines = try service.check("getBatch", at: id, headers: ["Accept: \(type)"], 200).text.split(separator: "\n")
        #expect(lines.count == 2)
        for line in lines {
          let violations = service.document.schema.violations(
            of: try JSONValue(String(line)), schema: try JSONValue(##"{"$ref": "#/components/schemas/BatchRow"}"##))
          #expect(violations == [], "\(line)")
        }
      }
      try service.check("getBatch", at: id, headers: ["Accept: image/png"], 406, "not_acceptable")
      try service.check("getBatch", at: "nobody", 404, "not_found")
      try service.checkRefusals("getBatch", id)

      _ = try post("text/csv", "id,amount,currency\n1,2,EUR\n")
      _ = try post("application/jsonl", "", "", 422, "list_empty")
      _ = try post("application/jsonl", rows, "?rate=79", 400, "parameter_invalid")
      _ = try post("application/jsonl", rows, "?format=mp3", 422, "option_invalid")
      _ = try post("application/jsonl", rows, "?group=..", 422, "option_invalid")
      _ = try post("text/csv", "amount,wage\n1,2\n", "", 422, "field_missing")
      _ = try post("text/csv", "amount,currency\n", "", 422, "list_empty")
      _ = try post("application/json", #"[{"text":"Hello"},{"amount":"x","currency":"EUR"}]"#)
      _ = try post("application/json", rows, "", 400, "payload_malformed")
      _ = try post("text/plain", rows, "", 415, "media_type_unsupported")
      _ = try post("application/jsonl", String(repeating: " ", count: (16 << 20) + 1), "", 413, "payload_too_large")
      try service.checkRefusals("createBatch")

      // This batch runs longer than the test.
      let long = (0..<400).map { #"{"text":"\#(String(repeating: "word \($0) ", count: 12))"}"# + "\n" }.joined()
      let running = try #require(try post("application/jsonl", long).json()["id"]?.string)
      try service.check("getBatch", at: running, headers: ["Accept: application/jsonl"], 409, "batch_running")
      try service.check("getBatch", at: running, 200)
      var waiting = ""
      for _ in 0..<3 {
        let answer = try service.service.send(
          "POST", "/v1/batches", headers: ["Content-Type: application/jsonl"], body: Data(long.utf8))
        waiting = try answer.json()["id"]?.string ?? waiting
      }
      _ = try post("application/jsonl", rows, "", 429, "account_busy")
      for batch in [waiting, running] {
        let taken = try service.check("cancelBatch", at: batch, 200).json()
        #expect(taken["state"] == .string("cancelled"))
        try service.check("cancelBatch", at: batch, 409, "already_ended")
      }
      try service.check("cancelBatch", at: "nobody", 404, "not_found")
      try service.checkRefusals("cancelBatch", running)
      try service.check("listBatches", key: service.keys["read"], 200)
      try service.check("listBatches", query: "?limit=1", 200)
      for limit in ["0", "201", "ten"] {
        try service.check("listBatches", query: "?limit=\(limit)", 400, "parameter_invalid")
      }
      try service.checkRefusals("listBatches")
      service.expectAllProvoked(tag: "Batches")
    }
  }

  @Test("the answers to calls without a key, for operations and the console, conform to /openapi.json")
  func openCalls() throws {
    // Among the calls without a key, the calls for the console's modules and languages have a parameter in their path.
    func file(_ operation: String) -> String { operation == "consoleLanguage" ? "en-US.json" : "page.js" }
    try withService { service in
      // Providers' webhooks have no key either; they have a suite of their own.
      for operation in service.document.operations where !operation.isSecured && operation.method == "GET" {
        let name = file(operation.id)
        let answer = try service.check(operation.id, at: name, key: "", 200)
        let etag = answer.header("ETag")
        #expect((etag != nil) == operation.statuses.contains(304), "\(operation.id)")
        if let etag { try service.check(operation.id, at: name, key: "", headers: ["If-None-Match: \(etag)"], 304) }
      }
      try service.check("consoleModule", at: "nothing.js", key: "", 404, "not_found")
      try service.check("consoleLanguage", at: "fr-FR.json", key: "", 404, "not_found")
      for operation in service.document.operations where operation.statuses.contains(421) {
        let name = file(operation.id)
        try service.check(operation.id, at: name, key: "", headers: ["Host: evil.example"], 421, "host_unknown")
      }
      let served = try service.check("openapi", key: "", 200).json()
      #expect(served == service.document.root)
      try service.check("getSettings", 200)
      try service.checkRefusals("getSettings")
      try service.check("listNodes", 200)
      try service.checkRefusals("listNodes")
      try service.check("getSupportBundle", 200)
      try service.checkRefusals("getSupportBundle")
      for tag in ["Operations", "Console"] { service.expectAllProvoked(tag: tag) }
    }
  }

  @Test("a HEAD request gets the header fields of the GET request and no body")
  func head() throws {
    try withService { service in
      try service.check("announce", json: Self.payment, 201)
      // OpenAPIPackTests sends HEAD requests about packs.
      for operation in service.document.operations
      where operation.method == "GET" && !operation.path.contains("{name}") && operation.tag != "Voice packs" {
        let isUnknown = [
          "getBatch", "getDevice", "getLibraryFile", "getWebhookEndpoint", "listEnumerators", "listPushed",
        ].contains(operation.id)
        let target = operation.path.replacing("{id}", with: isUnknown ? "nobody" : "1")
          .replacing("{sha256}", with: String(repeating: "0", count: 64))
        let answer = try service.service.send("HEAD", target)
        #expect(answer.status == (isUnknown ? 404 : 200) && answer.body.isEmpty, "\(operation.id)")
        let violations = service.document.violations(of: answer, to: operation, isStream: true)
        #expect(violations == [], "HEAD \(target)")
      }
    }
  }
}

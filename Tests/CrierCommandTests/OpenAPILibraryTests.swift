// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundOutputTestSupport
import Testing
import VoicePackMaking

@Suite("The service conforms to /openapi.json: the library", .timeLimit(.minutes(10)))
struct OpenAPILibraryTests {
  @Test("the answers to calls of the library conform to /openapi.json")
  func library() throws {
    let crier = try Command()
    defer { crier.remove() }
    try PackWriter(directory: crier.home.appending(path: "Voices")).write(
      PackFacts(id: "my-shop", locale: "en-US", speaker: "test", licence: "CC0-1.0"),
      clips: [PackClip(tokens: ["one"], text: "one", waveform: Tone.sine(440, milliseconds: 400, rate: 22_050))])
    let service = try Conformity(crier)
    let device = #"{"bundle_id":"com.example.shop","environment":"production","tokens":{}}"#
    let registered = try service.check("registerDevice", at: "till-1", json: device, 201).json()
    let key = try #require(registered["key"]?.string)
    let formats = ["wav", "aiff", "caf"]
    for format in formats {
      try service.check("announce", json: #"{"id":"\#(format)","text":"Hello","format":"\#(format)"}"#, 201)
    }

    // The service looks for voice packs once a second.
    var list = try service.check("listLibraryChanges", key: key, 200).json()
    while list["changes"]?.array?.count != 4 { list = try service.check("listLibraryChanges", key: key, 200).json() }
    let anchor = try #require(list["anchor"]?.string)
    let page = try service.check("listLibraryChanges", query: "?limit=1", key: service.keys["read"], 200).json()
    #expect(page["anchor"] == nil)
    try service.check(
      "listLibraryChanges", query: "?limit=1000&group=group.crier&after=\(try #require(page["next"]?.string))", 200)
    try service.check("removeAnnouncement", at: "wav", 200)
    let removed = try service.check("listLibraryChanges", query: "?after=\(anchor)", key: key, 200).json()
    #expect(removed["changes"]?.array?.first?["change"] == .string("removed"))
    for (query, status, code) in [
      ("?limit=0", 400, "parameter_invalid"), ("?after=1", 400, "parameter_invalid"),
      ("?after=1-1-0123456789abcdef", 410, "anchor_expired"), ("?group=group.unknown", 422, "option_invalid"),
    ] { try service.check("listLibraryChanges", query: query, status, code) }
    try service.check("listLibraryChanges", query: "?group=group.crier", key: key, 400, "parameter_invalid")
    try service.checkRefusals("listLibraryChanges")

    for change in list["changes"]?.array ?? [] where change["name"]?.string?.hasSuffix(".wav") == false {
      let digest = try #require(change["sha256"]?.string)
      let whole = try service.check("getLibraryFile", at: digest, key: key, 200)
      #expect(whole.header("ETag") == "\"\(digest)\"" && .number(Double(whole.body.count)) == change["bytes"])
      // A part of a manifest is not JSON.
      if change["kind"] == .string("clip") {
        try service.check("getLibraryFile", at: digest, headers: ["Range: bytes=10-19"], 206)
      }
      try service.check("getLibraryFile", at: digest, headers: ["If-None-Match: \"\(digest)\""], 304)
      try service.check("getLibraryFile", at: digest, headers: ["Range: bytes=99999999-"], 416, "range_not_satisfiable")
    }
    let gone = list["changes"]?.array?.first { $0["name"]?.string?.hasSuffix(".wav") == true }?["sha256"]?.string
    try service.check("getLibraryFile", at: try #require(gone), 404, "not_found")
    try service.check(
      "getLibraryFile", at: String(repeating: "0", count: 64), query: "?group=group.unknown", 422, "option_invalid")
    try service.checkRefusals("getLibraryFile", String(repeating: "0", count: 64))

    for name in ["root", "working-set", "clips"] {
      try service.check("addEnumerator", at: "till-1 \(name)", key: key, 201)
      try service.check("addEnumerator", at: "till-1 \(name)", key: service.keys["announce"], 200)
    }
    for key in [key, service.keys["read"]] { try service.check("listEnumerators", at: "till-1", key: key, 200) }
    try service.check("listEnumerators", at: "nobody", 404, "not_found")
    try service.checkRefusals("listEnumerators", "till-1")
    try service.check("addEnumerator", at: "nobody root", 404, "not_found")
    try service.check("addEnumerator", at: "nobody root", key: key, 403, "scope_missing")
    for operation in ["addEnumerator", "removeEnumerator"] {
      try service.check(operation, at: "till-1 a%00", 422, "field_invalid")
      try service.checkRefusals(operation, "till-1 root")
    }
    for number in 0..<97 { try service.check("addEnumerator", at: "till-1 \(number)", 201) }
    try service.check("addEnumerator", at: "till-1 one-more", 409, "too_many_enumerators")
    try service.check("removeEnumerator", at: "till-1 clips", key: key, 200)
    try service.check("removeEnumerator", at: "till-1 clips", 404, "not_found")
    service.expectAllProvoked(tag: "Library")
  }
}

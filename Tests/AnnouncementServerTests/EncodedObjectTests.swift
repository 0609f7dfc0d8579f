// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import AnnouncementServer

@Suite("Objects that are changed without being decoded")
struct EncodedObjectTests {
  private func object(_ json: String) throws -> EncodedObject { try EncodedObject(Data(json.utf8)) }
  private func text(_ object: EncodedObject) -> String { String(decoding: object.bytes, as: UTF8.self) }

  @Test(
    "a member of a JSON object is removed with its comma, wherever it is in the object",
    arguments: [
      (#"{"marks":[],"text":"a"}"#, #"{"text":"a"}"#),
      (#"{"a":1,"marks":[1,{"b":[2]}],"text":"a"}"#, #"{"a":1,"text":"a"}"#),
      (#"{"a":null,"marks":{"x":"]}"}}"#, #"{"a":null}"#), (#"{"marks":7}"#, "{}"),
      (#"{"a":"\"marks\":[1]","marks":[{"text":"]\"}"}],"z":true}"#, #"{"a":"\"marks\":[1]","z":true}"#),
    ])
  func removed(_ json: String, _ rest: String) throws {
    var object = try object(json)
    object.remove("marks")
    #expect(text(object) == rest)
  }

  @Test(
    "a JSON object without the member to remove stays unchanged, even if an inner object has the member",
    arguments: ["{}", #"{"clip":{"marks":[1]}}"#, #"{"text":"marks"}"#, #"{"text":"\\","amarks":1}"#])
  func absent(_ json: String) throws {
    var object = try object(json)
    object.remove("marks")
    #expect(text(object) == json)
  }

  @Test("a text in an inner JSON object is replaced, and a text with the same key elsewhere stays")
  func replaced() throws {
    var object = try object(#"{"a":"\"url\":\"x\"","clip":{"name":"n","url":"old\"quoted"},"url":"other"}"#)
    object.replace("url", of: "clip", with: "new")
    #expect(text(object) == #"{"a":"\"url\":\"x\"","clip":{"name":"n","url":"new"},"url":"other"}"#)
  }

  @Test(
    "a JSON object without the text to replace stays unchanged",
    arguments: [#"{"clip":null,"url":"x"}"#, #"{"clip":{"url":null}}"#, #"{"clip":{"name":"n"}}"#, "{}"])
  func notReplaced(_ json: String) throws {
    var object = try object(json)
    object.replace("url", of: "clip", with: "new")
    #expect(text(object) == json)
  }
}

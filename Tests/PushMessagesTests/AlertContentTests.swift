// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import PushMessages
import TestSupport
import Testing

@Suite struct AlertContentTests {
  private typealias Content = AlertMessage.Content

  private func content(_ json: String) throws -> Content? { try Content(payload: Data(json.utf8)) }

  @Test("the phone reads exactly the push that the service wrote")
  func roundTrip() throws {
    let full = try AlertMessages.full()
    #expect(try Content(payload: full.encoded()) == full.content)
    var least = full
    least.content = Content(id: "1", locale: "en-US")
    #expect(try Content(payload: least.encoded()) == least.content)
    for role in Script.Role.allCases where role != .payer && role != .note {
      for pause in ClipToken.Pause.allCases {
        let token = ClipToken(name: "Hong_Kong_dollars", role: role, pause: pause)
        least.content?.spoken = try Content.Spoken(pack: "p", tokens: [token])
        #expect(try Content(payload: least.encoded())?.spoken?.tokens == [token])
      }
    }
  }

  @Test("the push for the simulator in Examples/iOS is read as a payment")
  func simulatorPush() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let content = try Content(payload: Data(contentsOf: root.appending(path: "Examples/iOS/payment.apns")))
    #expect(try content?.amount == Content.Amount(value: "12.50", currency: "USD"))
    #expect(content?.kind == "received" && content?.sequence == nil && content?.clip == nil)
  }

  @Test("the example in docs/push.md can be read when its shortened values are completed")
  func example() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/push.md")
    let text = try String(contentsOf: page, encoding: .utf8)
    let example = try #require(text.firstMatch(of: /\n {4}\{\n(?: {4}.*\n)+ {4}\}\n/)).output
      .replacing("3dbc0460…3108cdf0", with: "3dbc0460")
      .replacing("49f744d3…a3035939", with: String(repeating: "49f744d3", count: 8)).replacing("=…", with: "=1")
    let content = try #require(try Content(payload: Data(example.utf8)))
    #expect(content.amount?.value == "12.50")
    #expect(content.clip?.name == "3dbc0460.wav")
    #expect(content.payer?.name == "张三")
    #expect(content.spoken?.tokens.map(\.pause) == [.piece, .piece, .word, .word, .word, .word, .end])
  }

  @Test("unknown keys of a push are ignored, and a push of another sender is nil")
  func tolerance() throws {
    #expect(
      try content(#"{"aps":7,"x":[],"crier":{"id":"1","locale":"en-US","new":{"a":1},"kind":"reversed"}}"#)
        == Content(id: "1", locale: "en-US", kind: "reversed"))
    #expect(try content(#"{"aps":{"alert":"Hi"}}"#) == nil)
    #expect(try content(#"{"crier":null}"#) == nil)
  }

  @Test(
    "if this version of the app does not know all tokens of a push, the tokens count as absent, and the clip is used",
    arguments: [#"["十 aw","二 zw"]"#, #"["十 aw","二"]"#, #"["十 aw"," aw"]"#, #"["十 awx"]"#, #"["二 五 aw"]"#, "[]"])
  func unknownTokens(tokens: String) throws {
    let content = try content(#"{"crier":{"id":"1","locale":"zh-CN","pack":"p","tokens":\#(tokens)}}"#)
    #expect(content == Content(id: "1", locale: "zh-CN"))
  }

  @Test(
    "a value of a wrong type in a push is an error that names the key and does not contain the value",
    arguments: [
      ("[]", "The payload must be a JSON object, with integers of at most 64 bits."),
      ("not JSON", "The payload must be a JSON object, with integers of at most 64 bits."),
      (#"{"crier":{"locale":"en-US"}}"#, "The payload must have the key crier.id."),
      (
        #"{"crier":{"id":7,"locale":"en-US"}}"#,
        "The payload has a value of another type than docs/push.md says, at the key crier.id."
      ),
      (
        #"{"crier":{"id":"1","locale":"en-US","tokens":[5]}}"#,
        "The payload has a value of another type than docs/push.md says, at the key crier.tokens.0."
      ),
      (
        #"{"crier":{"id":"1","locale":"en-US","sequence":99999999999999999999}}"#,
        "The payload must be a JSON object, with integers of at most 64 bits."
      ),
      (
        #"{"crier":{"id":"1","locale":"en-US","amount":"1,5","currency":"EUR"}}"#,
        "The amount must be a decimal number without a sign, such as 12.50."
      ),
      (
        #"{"crier":{"id":"1","locale":"en-US","amount":"1.5"}}"#,
        "The amount must have a currency of three capital letters, such as CNY."
      ),
    ])
  func faults(json: String, description: String) {
    let error = #expect(throws: PushMessageError.self) { try content(json) }
    #expect(error?.description == description)
  }

  @Test(
    "a push whose clip name could leave its folder is refused",
    arguments: ["", ".", "..", "../a.wav", "a/b.wav", ".hidden.wav", "a\\b.wav", "a b.wav", "ä.wav", "a\0.wav"])
  func clipNames(name: String) {
    let error = #expect(throws: PushMessageError.self) { try AlertMessages.clip(name: name) }
    #expect(error?.code == .clipInvalid)
  }

  @Test("the clip of a push needs a web address, a digest, and a size and length that are not negative")
  func clipFaults() throws {
    let clip = try AlertMessages.clip()
    func make(url: String? = nil, sha256: String? = nil, bytes: Int = 1, milliseconds: Int = 1) throws {
      _ = try PushedClip(
        name: clip.name, url: url.flatMap(URL.init(string:)) ?? clip.url, sha256: sha256 ?? clip.sha256, bytes: bytes,
        durationMilliseconds: milliseconds)
    }
    try make()
    for url in ["file:///etc/passwd", "clips/a.wav", "data:audio/wav,", "https:///a.wav"] {
      #expect(throws: PushMessageError.self) { try make(url: url) }
    }
    for digest in ["", "0a", String(repeating: "0A", count: 32), String(repeating: "0g", count: 32)] {
      #expect(throws: PushMessageError.self) { try make(sha256: digest) }
    }
    #expect(throws: PushMessageError.self) { try make(bytes: -1) }
    #expect(throws: PushMessageError.self) { try make(milliseconds: -1) }
  }

  @Test(
    "the amount in a push is refused unless it is a decimal number",
    arguments: ["", ".", "1.", ".5", "-1", "+1", "1e3", "1.2.3", "1 000", "١", "1\n"])
  func amounts(value: String) {
    let error = #expect(throws: PushMessageError.self) { try Content.Amount(value: value, currency: "CNY") }
    #expect(error?.code == .amountInvalid)
    #expect(throws: PushMessageError.self) { try Content.Amount(value: "1", currency: "cny") }
    #expect(throws: Never.self) { try Content.Amount(value: "0012.500", currency: "KWD") }
  }

  @Test("a token name in a push is refused if it has white space", arguments: ["", " ", "a b", "a\u{3000}b", "a\n"])
  func tokenNames(name: String) {
    let token = ClipToken(name: name, role: .phrase, pause: .word)
    let error = #expect(throws: PushMessageError.self) { try Content.Spoken(pack: "p", tokens: [token]) }
    #expect(error?.code == .tokenInvalid)
    #expect(error?.description.contains("such as Hong_Kong_dollars") == true)
  }

  @Test("a payer's name or a note in a push is never spoken from a voice pack", arguments: [Script.Role.payer, .note])
  func unrecordedRoles(role: Script.Role) {
    let token = ClipToken(name: "Anna", role: role, pause: .end)
    #expect(throws: PushMessageError.self) { try Content.Spoken(pack: "p", tokens: [token]) }
  }

  @Test("payloads of pushes with changed bytes are read or refused without a crash")
  func randomPayloads() throws {
    var generator = SplitMix64(seed: 18)
    let whole = Array(try AlertMessages.full().encoded())
    for _ in 0..<10_000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        let place = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0...2, using: &generator) {
        case 0: bytes[place] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.remove(at: place)
        default: bytes.removeSubrange(place...)
        }
        if bytes.isEmpty { break }
      }
      do {
        if let clip = try Content(payload: Data(bytes))?.clip { #expect(!clip.name.contains("/")) }
      } catch {
        #expect([.contentInvalid, .clipInvalid, .amountInvalid].contains(error.code))
      }
    }
  }
}

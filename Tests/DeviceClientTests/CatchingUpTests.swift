// SPDX-License-Identifier: Apache-2.0

import Foundation
import HostAddresses
import SoundDownloads
import Testing

@testable import DeviceClient

@Suite("Catching up")
struct CatchingUpTests {
  private static func page(_ sequences: ClosedRange<Int>, last: Int) -> SoundAnswer {
    let lines = sequences.map {
      #"{"sequence":\#($0),"id":"a\#($0)","pushed_at":"2026-11-20T20:23:58.120Z","state":"delivered","#
        + #""payload":{"aps":{}}}"#
    }
    return SoundAnswer(#"{"announcements":[\#(lines.joined(separator: ","))],"last_sequence":\#(last)}"#)
  }

  @Test("a request to catch up names the device and the number, and has the key only in a header field")
  func request() async throws {
    let service = ScriptedService { _, _ in SoundAnswer(#"{"announcements":[],"last_sequence":41}"#) }
    let result = try await DeviceClient(service, device: "a:b c/d").announcements(after: 41)
    let request = try #require(service.requests.first)
    #expect(request.method == "GET")
    #expect(
      request.url.absoluteString
        == "https://crier.example/v1/devices/a%3Ab%20c%2Fd/announcements?after=41&limit=200")
    #expect(
      request.fields == [
        "Authorization": "Bearer \(testKey)", "Accept": "application/json", "Accept-Encoding": "identity",
      ])
    #expect(request.body == nil)
    #expect(request.mostBytes == 4 << 20)
    #expect(request.addresses.map(\.description) == ["93.184.216.34"])
    #expect(result == CaughtUp(announcements: [], lastSequence: 41, isComplete: true))
  }

  @Test("a phone that catches up reads all pages up to the last number of the service")
  func pages() async throws {
    let service = ScriptedService { _, number in
      number == 1 ? Self.page(1...200, last: 202) : Self.page(201...202, last: 202)
    }
    let result = try await DeviceClient(service).announcements(after: 0)
    #expect(result.announcements.map(\.sequence) == Array(1...202))
    #expect(result.isComplete)
    #expect(result.lastSequence == 202)
    #expect(service.requests.map { $0.url.query() } == ["after=0&limit=200", "after=200&limit=200"])
  }

  @Test("an empty page ends the list of missed announcements, even if the service's last number is higher")
  func emptyPage() async throws {
    let service = ScriptedService { _, number in
      number == 1 ? Self.page(1...3, last: 9) : SoundAnswer(#"{"announcements":[],"last_sequence":9}"#)
    }
    let result = try await DeviceClient(service).announcements(after: 0)
    #expect(result.announcements.count == 3)
    #expect(result.isComplete)
    #expect(result.lastSequence == 9)
  }

  @Test("a phone that catches up gets at most the allowed number of announcements, and the result is then incomplete")
  func limit() async throws {
    let service = ScriptedService { request, _ in
      #expect(request.url.query() == "after=4&limit=3")
      return Self.page(5...7, last: 90)
    }
    let result = try await DeviceClient(service).announcements(after: 4, atMost: 3)
    #expect(result.announcements.map(\.sequence) == [5, 6, 7])
    #expect(!result.isComplete)
  }

  @Test("a missed payload keeps every byte: spaces, escapes, the order of keys, and the spelling of numbers")
  func payloadBytes() async throws {
    let payload = #"{ "z": 12.50, "a": "}\"]\u00e9", "n": [1e2, {"payload": 1}],"crier":{"b":-0} }"#
    let text =
      #" { "last_sequence" : 8 , "announcements" : [ { "p\u0061yload" : \#(payload) , "state":"waiting","sequence":7},"#
      + #"{"payload":{},"sequence":8,"id":null,"state":"lost"} ] } "#
    let service = ScriptedService { _, _ in SoundAnswer(text) }
    let result = try await DeviceClient(service).announcements(after: 6)
    #expect(
      result.announcements == [
        CaughtUpAnnouncement(sequence: 7, id: nil, state: .waiting, payload: Data(payload.utf8)),
        CaughtUpAnnouncement(sequence: 8, id: nil, state: .other("lost"), payload: Data("{}".utf8)),
      ])
  }

  @Test(
    "an answer in a wrong form to a request to catch up is refused",
    arguments: [
      "", "[]", "{}", #"{"announcements":[]}"#, #"{"announcements":{},"last_sequence":1}"#,
      #"{"announcements":[{"sequence":7,"state":"failed"}],"last_sequence":7}"#,
      #"{"announcements":[{"sequence":7,"state":"failed","payload":"x"}],"last_sequence":7}"#,
      #"{"announcements":[{"sequence":7,"state":"failed","payload":[]}],"last_sequence":7}"#,
      #"{"announcements":[{"sequence":1.5,"state":"failed","payload":{}}],"last_sequence":7}"#,
      // Numbers that do not rise would be asked for again and again.
      #"{"announcements":[{"sequence":6,"state":"failed","payload":{}}],"last_sequence":7}"#,
      #"{"announcements":[{"sequence":7,"state":"failed","payload":{}},"#
        + #"{"sequence":7,"state":"failed","payload":{}}],"last_sequence":8}"#,
      #"{"announcements":[{"sequence":7,"state":"failed","payload":{}"#,
    ])
  func otherForm(_ text: String) async {
    let service = ScriptedService { _, _ in SoundAnswer(text) }
    let error = await failure { () throws(DeviceClientError) in try await DeviceClient(service).announcements(after: 6)
    }
    #expect(error?.code == .unreadableAnswer)
  }

  @Test("deep nesting in an answer of the service never crashes the program")
  func deepNesting() {
    for count in [10, 100, 400, 100_000] {
      let nested = String(repeating: "[", count: count) + String(repeating: "]", count: count)
      let text = #"{"announcements":[{"sequence":1,"state":"failed","payload":{"a":\#(nested)}}],"last_sequence":1}"#
      let page = CaughtUpPage(Data(text.utf8), after: 0)
      if count <= 400 { #expect(page?.announcements.first?.payload.count == 2 * count + 6) }
    }
  }
}

@Suite("Ranges in a JSON text")
struct JSONTextTests {
  @Test(
    "the JSON reader stays within the bounds of the text, whatever the text is",
    arguments: ["", "\"", "{", "[", "{\"a\"", "{\"a\":", "[1,", "\\", "[\"\\"])
  func hostile(_ text: String) {
    let json = JSONText(Data(text.utf8))
    if let whole = json.whole {
      _ = json.member("a", of: whole)
      _ = json.elements(of: whole)
    }
  }

  @Test("the JSON reader stays within the bounds of the text after any change of a byte")
  func changed() {
    let text = Array(#"{"a":[1,{"b":"x\"y"},[],{}],"c":{"d":null}}"#.utf8)
    for place in text.indices {
      for byte in Array("{}[]\",:\\ x".utf8) {
        var changed = text
        changed[place] = byte
        let json = JSONText(Data(changed))
        guard let whole = json.whole else { continue }
        if let list = json.member("a", of: whole) { _ = json.elements(of: list) }
        _ = json.member("c", of: whole)
      }
    }
  }
}

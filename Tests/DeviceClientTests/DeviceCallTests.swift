// SPDX-License-Identifier: Apache-2.0

import Foundation
import PushMessages
import SoundDownloads
import Testing

@testable import DeviceClient

@Suite("Calls of a device")
struct DeviceCallTests {
  private static let registration = DeviceRegistration(
    tokens: [.alert: Data([0x74, 0x0F, 0x47]), .fileProviderExtension: Data([0x00, 0xFF])],
    bundleID: "com.example.shop", environment: .production, locale: "zh-CN", tone: "cash.wav")

  @Test("a registration is sent with its tokens in hexadecimal digits, and returns the last sequence number")
  func register() async throws {
    let service = ScriptedService { _, _ in SoundAnswer(#"{"id":"till-1","last_sequence":12}"#) }
    #expect(try await DeviceClient(service).register(Self.registration) == 12)
    let request = try #require(service.requests.first)
    #expect(request.method == "PUT")
    #expect(request.url.absoluteString == "https://crier.example/v1/devices/till-1")
    #expect(request.fields["Content-Type"] == "application/json")
    #expect(request.fields["Authorization"] == "Bearer \(testKey)")
    #expect(
      request.body.map { String(decoding: $0, as: UTF8.self) }
        == #"{"bundle_id":"com.example.shop","environment":"production","locale":"zh-CN","#
        + #""tokens":{"alert":"740f47","fileprovider_extension":"00ff"},"tone":"cash.wav"}"#)
  }

  @Test("a registration of a device sends only the fields that it has")
  func shortRegistration() throws {
    let body = try DeviceRegistration(tokens: [:], bundleID: "a.b", environment: .sandbox).body
    #expect(String(decoding: body, as: UTF8.self) == #"{"bundle_id":"a.b","environment":"sandbox","tokens":{}}"#)
  }

  @Test("if the answer to a registration lacks the last sequence number, the answer is refused")
  func registrationAnswer() async {
    let service = ScriptedService { _, _ in SoundAnswer("{}") }
    let error = await failure { () throws(DeviceClientError) in
      try await DeviceClient(service).register(Self.registration)
    }
    #expect(error?.code == .unreadableAnswer)
    #expect(error?.action == .registering)
  }

  @Test("receipts are sent with their ids and times")
  func receipts() async throws {
    let service = ScriptedService { _, _ in SoundAnswer(#"{"recorded":1,"unknown":["order-2"]}"#) }
    let time = Date(timeIntervalSince1970: 1_780_000_000.5)
    try await DeviceClient(service).tell([
      HandOverReceipt(id: "order-1", at: time), HandOverReceipt(id: "order-2", at: time),
    ])
    let request = try #require(service.requests.first)
    #expect(request.method == "POST")
    #expect(request.url.absoluteString == "https://crier.example/v1/devices/till-1/handed_over")
    #expect(
      request.body.map { String(decoding: $0, as: UTF8.self) }
        == #"{"announcements":[{"at":"2026-05-28T20:26:40.500Z","id":"order-1"},"#
        + #"{"at":"2026-05-28T20:26:40.500Z","id":"order-2"}]}"#)
  }

  @Test("if the service refuses receipts, the call that sends them fails")
  func refusedReceipts() async {
    let service = ScriptedService { _, _ in SoundAnswer(422, #"{"code":"field_invalid"}"#) }
    let error = await failure { () throws(DeviceClientError) in
      try await DeviceClient(service).tell([HandOverReceipt(id: "", at: Date(timeIntervalSince1970: 0))])
    }
    #expect(error?.code == .refused && error?.action == .sendingReceipts)
    #expect(error?.description.hasPrefix("Telling the service what was handed over at crier.example failed") == true)
  }

  @Test("the request for a file has the file's URL and the device's key, and a text that is not a digest is refused")
  func fileRequest() throws {
    let client = DeviceClient(ScriptedService { _, _ in SoundAnswer("{}") })
    let digest = String(repeating: "a", count: 64)
    let request = try client.request(forFile: digest)
    #expect(request.url.absoluteString == "https://crier.example/v1/library/files/\(digest)")
    #expect(request.fields["Authorization"] == "Bearer \(testKey)")
    for text in ["", "../keys", digest.uppercased(), digest + "a"] {
      #expect(throws: DeviceClientError.self) { try client.request(forFile: text) }
    }
  }

  @Test("an enumerator's container is registered and removed by its encoded identifier")
  func containers() async throws {
    let service = ScriptedService { _, _ in SoundAnswer(201, "{}") }
    let client = DeviceClient(service)
    try await client.beginEnumerating("working-set")
    try await client.endEnumerating("a/b?c=é&..")
    #expect(service.requests.map(\.method) == ["PUT", "DELETE"])
    #expect(
      service.requests.map { $0.url.absoluteString } == [
        "https://crier.example/v1/devices/till-1/enumerators/working-set",
        "https://crier.example/v1/devices/till-1/enumerators/a%2Fb%3Fc%3D%C3%A9%26..",
      ])
    #expect(service.requests.allSatisfy { $0.body == nil })
  }

  @Test("the removal of a container that the service does not know succeeds")
  func unknownContainer() async throws {
    let service = ScriptedService { _, _ in SoundAnswer(404, "{}") }
    try await DeviceClient(service).endEnumerating("root")
    let error = await failure { () throws(DeviceClientError) in try await DeviceClient(service).beginEnumerating("root")
    }
    #expect(error?.code == .notFound)
  }

  @Test(
    "a container identifier that would change the path of the call is refused and not sent", arguments: ["", ".", ".."])
  func leadingContainer(_ container: String) async {
    let service = ScriptedService { _, _ in SoundAnswer("{}") }
    let error = await failure { () throws(DeviceClientError) in
      try await DeviceClient(service).beginEnumerating(container)
    }
    #expect(error?.code == .invalidURL)
    #expect(service.requests.isEmpty)
  }

  @Test("the path of the service's URL comes before the path of the call")
  func basePath() async throws {
    for base in ["https://crier.example/shop", "https://crier.example/shop/"] {
      let service = ScriptedService { _, _ in SoundAnswer("{}") }
      try await DeviceClient(service, at: url(base)).beginEnumerating("root")
      #expect(
        service.requests.first?.url.absoluteString == "https://crier.example/shop/v1/devices/till-1/enumerators/root")
    }
  }

  @Test("a page of the library's changes is read, even if it has unknown kinds and changes")
  func changes() async throws {
    let digest = String(repeating: "0a", count: 32)
    let text =
      #"{"changes":[{"kind":"clip","name":"a.wav","change":"added","sha256":"\#(digest)","bytes":5,"changed_at":"x"},"#
      + #"{"kind":"pack","name":"p","change":"removed"},{"kind":"film","name":"f","change":"added"},"#
      + #"{"kind":"clip","name":"b.wav","change":"moved"}],"next":"7-7-ab"}"#
    let service = ScriptedService { _, _ in SoundAnswer(text) }
    let page = try await DeviceClient(service).changes(after: "40-40-9f+/")
    #expect(
      service.requests.first?.url.absoluteString
        == "https://crier.example/v1/library/changes?after=40-40-9f%2B%2F&limit=1000")
    #expect(page.next == "7-7-ab")
    #expect(page.anchor == nil)
    #expect(
      page.changes == [
        LibraryChange(
          kind: .clip, name: "a.wav", change: .present(LibraryChange.File(sha256: digest, byteCount: 5))),
        LibraryChange(kind: .pack, name: "p", change: .removed),
        LibraryChange(kind: .other("film"), name: "f", change: .other("added")),
        LibraryChange(kind: .clip, name: "b.wav", change: .other("moved")),
      ])
    _ = try await DeviceClient(service).changes(after: nil, limit: 0)
    #expect(service.requests.last?.url.query() == "limit=1")
  }

  @Test(
    "a page of the library's changes in another form is refused",
    arguments: [
      "[]", #"{"changes":[]}"#, #"{"changes":[],"next":"a","anchor":"b"}"#,
      #"{"changes":[{"kind":"clip","name":"a.wav","change":"added"}],"anchor":"b"}"#,
      #"{"changes":[{"kind":"clip","name":"a.wav","change":"added","sha256":"../x","bytes":1}],"anchor":"b"}"#,
      #"{"changes":[{"kind":"clip","name":"a.wav","change":"added","sha256":"0","bytes":-1}],"anchor":"b"}"#,
    ])
  func otherForm(_ text: String) async {
    let service = ScriptedService { _, _ in SoundAnswer(text) }
    let error = await failure { () throws(DeviceClientError) in try await DeviceClient(service).changes(after: nil) }
    #expect(error?.code == .unreadableAnswer)
  }

  @Test("an expired anchor has its own error code, and status 410 of another call has a different code")
  func expiredAnchor() async {
    let service = ScriptedService { _, _ in SoundAnswer(410, #"{"code":"anchor_expired"}"#) }
    let client = DeviceClient(service)
    let error = await failure { () throws(DeviceClientError) in try await client.changes(after: "1") }
    #expect(error?.code == .anchorExpired)
    #expect(error?.problem == "anchor_expired")
    let other = await failure { () throws(DeviceClientError) in try await client.announcements(after: 1) }
    #expect(other?.code == .notFound)
  }
}

// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import HostAddresses
import SoundDownloads
import Testing

@testable import DeviceClient

@Suite("Errors of a device's calls")
struct DeviceClientErrorTests {
  private func error(
    _ answer: @escaping ScriptedService.Script, at service: String = "https://crier.example", key: String = testKey,
    rules: DownloadRules = DownloadRules(), isOver: Bool = false
  ) async -> (error: DeviceClientError?, requests: Int) {
    let scripted = ScriptedService(answer)
    let client = DeviceClient(scripted, at: url(service), key: key, rules: rules, clock: TestClock(isOver: isOver))
    let error = await failure { () throws(DeviceClientError) in try await client.announcements(after: 0) }
    return (error, scripted.requests.count)
  }

  @Test(
    "each HTTP status of an answer that cannot be used has the expected error code",
    arguments: [
      (400, DeviceClientError.Code.refused), (401, .unauthorized), (403, .unauthorized), (404, .notFound),
      (409, .refused), (410, .notFound), (422, .refused), (429, .tooMany), (500, .serverFailed), (502, .serverFailed),
      (503, .serverBusy), (507, .serverFailed), (301, .refused), (307, .refused), (204, .unreadableAnswer),
      (100, .unreadableAnswer), (700, .unreadableAnswer),
    ])
  func statuses(_ status: Int, _ code: DeviceClientError.Code) async {
    let (error, _) = await error { _, _ in
      SoundAnswer(status, ["Location": "https://other.example/", "Retry-After": "30"], #"{"code":"some_code"}"#)
    }
    #expect(error?.code == code)
    #expect(error?.status == status)
    #expect(error?.problem == "some_code")
    #expect(error?.retryAfter == .seconds(30))
  }

  @Test("a redirect is not followed, because the key would be sent to another server")
  func redirect() async {
    let (error, requests) = await error { _, _ in SoundAnswer(308, ["Location": "https://other.example/"], "") }
    #expect(requests == 1)
    #expect(
      error?.description
        == "Asking for missed announcements at crier.example failed: the answer is a redirect (status 308). "
        + "Give the final URL of the service.")
  }

  @Test("an invalid code in a problem document is not passed on")
  func hostileProblem() async {
    for text in [
      "", "[]", #"{"code":"12.50 CNY"}"#, #"{"code":"\#(String(repeating: "a", count: 65))"}"#, #"{"code":""}"#,
    ] {
      let (error, _) = await error { _, _ in SoundAnswer(422, ["Retry-After": "soon"], text) }
      #expect(error?.code == .refused)
      #expect(error?.problem == nil)
      #expect(error?.retryAfter == nil)
    }
  }

  @Test(
    "a failed connection has its own error code",
    arguments: [
      (SoundFetchError.hostNotFound, DeviceClientError.Code.unreachable), (.cannotConnect, .unreachable),
      (.connectionLost, .unreachable), (.notTrusted, .notTrusted),
    ])
  func connection(_ failure: SoundFetchError, _ code: DeviceClientError.Code) async {
    #expect(await error { _, _ in throw failure }.error?.code == code)
    #expect(
      await error { _, _ in SoundAnswer(pieces: [[0x7B]], breaksWith: failure) }.error?.code == code)
  }

  @Test("an answer that ends before its declared length counts as a broken connection")
  func truncated() async {
    let (error, _) = await error { _, _ in SoundAnswer(200, ["Content-Length": "100"], "{}") }
    #expect(error?.code == .unreachable)
  }

  @Test("an answer that is longer than 4 MiB, or declares to be longer, is refused")
  func tooLarge() async {
    let declared = await error { _, _ in SoundAnswer(200, ["Content-Length": "\((4 << 20) + 1)"], "{}") }
    #expect(declared.error?.code == .tooLarge)
    let endless = await error { _, _ in
      // The stream makes a piece for each question and never ends.
      SoundAnswer(status: 200, fields: [:], body: AsyncThrowingStream { [UInt8](repeating: 0x20, count: 1 << 16) })
    }
    #expect(endless.error?.code == .tooLarge)
    let more = await error { _, _ in SoundAnswer(200, ["Content-Length": "1"], "{}") }
    #expect(more.error?.code == .tooLarge)
  }

  @Test("a device's call refuses a compressed answer")
  func compressed() async {
    let (error, _) = await error { _, _ in SoundAnswer(200, ["Content-Encoding": "gzip"], "{}") }
    #expect(error?.code == .unreadableAnswer)
  }

  @Test("a call whose answer does not end fails at the time limit")
  func tookTooLong() async {
    #expect(await error({ _, _ in SoundAnswer.stalled([[0x7B]]) }, isOver: true).error?.code == .tookTooLong)
  }

  @Test("a cancelled call of a device ends at once")
  func cancelled() async {
    let (requests, requested) = AsyncStream<Void>.makeStream()
    let service = ScriptedService { _, _ in
      requested.yield()
      return SoundAnswer.stalled([])
    }
    let call = Task {
      await failure { () throws(DeviceClientError) in try await DeviceClient(service).changes(after: nil) }
    }
    for await _ in requests { break }
    call.cancel()
    #expect(await call.value?.code == .cancelled)
  }

  @Test("a call in a task that is already cancelled sends nothing")
  func cancelledBefore() async {
    let service = ScriptedService { _, _ in SoundAnswer("{}") }
    let call = Task {
      withUnsafeCurrentTask { unsafe $0?.cancel() }  // Safe: the task is used within the closure.
      return await failure { () throws(DeviceClientError) in try await DeviceClient(service).changes(after: nil) }
    }
    #expect(await call.value?.code == .cancelled)
    #expect(service.requests.isEmpty)
  }

  @Test(
    "an invalid or unencrypted URL of the service is refused before a request is sent",
    arguments: [
      "https:", "crier.example", "ftp://crier.example", "http://crier.example", "https://u:p@crier.example",
      "https://crier.example/?a=b", "https://crier.example/#a", "https://crier.example:0",
    ])
  func invalidURL(_ service: String) async {
    let (error, requests) = await error({ _, _ in SoundAnswer("{}") }, at: service)
    #expect(error?.code == .invalidURL)
    #expect(requests == 0)
  }

  @Test(
    "a key that is empty, or could add another header field, is refused",
    arguments: ["", "a b", "a\r\nX: y", "é"])
  func invalidKey(_ key: String) async {
    let (error, requests) = await error({ _, _ in SoundAnswer("{}") }, key: key)
    #expect(error?.code == .invalidURL)
    #expect(requests == 0)
  }

  @Test("http and private addresses are refused unless the rules allow them")
  func rules() async {
    let answer: ScriptedService.Script = { _, _ in SoundAnswer(#"{"announcements":[],"last_sequence":0}"#) }
    #expect(await error(answer, at: "https://inside.example").error?.code == .privateAddress)
    #expect(await error(answer, at: "https://unknown.example").error?.code == .unreachable)
    let rules = DownloadRules(allowsUnencrypted: true, allowsPrivateAddresses: true)
    let allowed = await error(answer, at: "http://inside.example:8080", rules: rules)
    #expect(allowed.error == nil)
    #expect(allowed.requests == 1)
  }

  @Test("the service may have an address of a Tailscale network, or one that a VPN app invents")
  func tailscale() async {
    for (address, code) in [
      ([100, 64, 0, 9], nil), ([198, 18, 0, 9], nil), ([10, 0, 0, 9], .privateAddress),
    ] as [([UInt8], DeviceClientError.Code?)] {
      let (error, _) = await error { _, _ in
        SoundAnswer(
          pieces: [Array(#"{"announcements":[],"last_sequence":0}"#.utf8)], connectedTo: IPAddress(bytes: address))
      }
      #expect(error?.code == code)
    }
  }

  @Test("a connection to a private address is refused, even if the name had a public address before")
  func rebinding() async {
    let (error, _) = await error { _, _ in
      SoundAnswer(
        pieces: [Array(#"{"announcements":[],"last_sequence":0}"#.utf8)],
        connectedTo: IPAddress(bytes: [127, 0, 0, 1]))
    }
    #expect(error?.code == .privateAddress)
  }

  @Test("every error of a device's call names the attempt, the host, the cause and the remedy, and contains no secret")
  func texts() {
    for action in DeviceClientError.Action.allCases {
      for code in DeviceClientError.Code.allCases {
        let text = DeviceClientError(code, action, host: "crier.example", status: 418, systemError: 28).description
        #expect(text.contains(" at crier.example failed: "))
        #expect(text.hasSuffix("."))
        #expect(text.contains("(status 418, error 28 of the system). "))
      }
    }
    let error = DeviceClientError(.unauthorized, .registering, host: nil, problem: "scope_missing")
    #expect(
      error.description
        == "Registering the device failed: the service does not accept the device's key (scope_missing). "
        + "Let the shop's backend register the device with \"new_key\", and store the new key.")
  }

  @Test("the description, the mirror and the dump of a device's access do not show the key")
  func accessText() {
    let access = DeviceAccess(service: url("https://u:\(testKey)@crier.example/x"), device: "till-1", key: testKey)
    var dumped = ""
    dump(access, to: &dumped)
    for text in ["\(access)", String(reflecting: access), String(describing: [access]), dumped] {
      #expect(!text.contains("secret"))
      #expect(text.contains("till-1"))
    }
  }
}

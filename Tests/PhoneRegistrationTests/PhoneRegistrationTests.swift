// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DeviceClient
import DownloadTestSupport
import Foundation
import NotificationServiceKit
import PushMessages
import SoundDownloads
import SoundLibrary
import Testing

@testable import PhoneRegistration

@Suite("Registrations of a phone")
struct PhoneRegistrationTests {
  @Test("a changed push token is registered with the environment and the tone of the phone")
  func changed() async throws {
    let phone = try TestPhone()
    try phone.settings.tone.setTone("chime.wav")
    await phone.process().changed(.alert, to: first)
    #expect(
      try phone.sent == [TestPhone.Sent(tokens: ["alert": "010203"], environment: "sandbox", tone: "chime.wav")])
    #expect(try !phone.needsRegistration)
    let request = try #require(phone.service.requests.first)
    #expect(request.url.absoluteString == "https://sounds.example/v1/devices/till-1")
    #expect(request.fields["Authorization"] == "Bearer crier_7d3k9q2m_secret")
  }

  @Test("an invalidated token is removed by a registration that omits it")
  func invalidated() async throws {
    let phone = try TestPhone()
    await phone.process().changed(.alert, to: first)
    await phone.process().changed(.alert, to: nil)
    #expect(try phone.sent.map(\.tokens) == [["alert": "010203"], [:]])
  }

  @Test("the tokens that two processes of the phone receive are registered together")
  func twoProcesses() async throws {
    let phone = try TestPhone()
    let (app, fileProvider) = (phone.process(), phone.process())
    await withTaskGroup { group in
      group.addTask { await app.changed(.alert, to: first) }
      group.addTask { await fileProvider.changed(.fileProviderExtension, to: second) }
    }
    #expect(try phone.sent.last?.tokens == ["alert": "010203", "fileprovider_extension": "040506"])
    #expect(try !phone.needsRegistration)
  }

  @Test("a token that another process stores during a registration call is registered by the calling process")
  func changedDuringCall() async throws {
    let stored = Locked<SharedTokens?>(nil)
    let phone = try TestPhone { _, number in
      if number == 1 {
        _ = try stored.withLock { $0 }?.change { $0.receive(second, .fileProviderExtension) }
      }
      return .registered(lastSequence: 7)
    }
    stored.withLock { $0 = phone.settings.tokens }
    await phone.process().changed(.alert, to: first)
    #expect(
      try phone.sent.map(\.tokens) == [
        ["alert": "010203"], ["alert": "010203", "fileprovider_extension": "040506"],
      ])
    #expect(try !phone.needsRegistration)
  }

  @Test("several token changes during a registration call are registered by one further call")
  func repeatedChanges() async throws {
    let running = Locked<PhoneRegistration?>(nil)
    let phone = try TestPhone { _, number in
      if number == 1, let registration = running.withLock({ $0 }) {
        for byte in UInt8(1)...3 { await registration.changed(.fileProvider, to: Data([byte])) }
      }
      return .registered(lastSequence: 7)
    }
    let registration = phone.process()
    running.withLock { $0 = registration }
    await registration.changed(.alert, to: first)
    running.withLock { $0 = nil }
    #expect(try phone.sent.map(\.tokens) == [["alert": "010203"], ["alert": "010203", "fileprovider": "03"]])
  }

  @Test("a failed registration call is reported, and the next registration repeats it")
  func failed() async throws {
    let phone = try TestPhone { _, number in
      if number == 1 { return SoundAnswer(503, [:], []) }
      return .registered(lastSequence: 7)
    }
    let registration = phone.process()
    await registration.changed(.alert, to: first)
    #expect(try phone.needsRegistration)
    #expect(phone.errors.withLock { $0.count } == 1)
    await registration.register()
    #expect(try phone.sent.map(\.tokens) == [["alert": "010203"], ["alert": "010203"]])
    #expect(try !phone.needsRegistration)
  }

  @Test("a token that arrives before the credentials is registered when the backend has sent the credentials")
  func beforeCredentials() async throws {
    let phone = try TestPhone(isRegistered: false)
    let registration = phone.process()
    await registration.changed(.alert, to: first)
    #expect(phone.service.requests.isEmpty)
    try await registration.obtainCredentials { Data(#"{"device":"till-2","key":"k","more":1}"#.utf8) }
    #expect(phone.service.requests.map(\.url.lastPathComponent) == ["till-2"])
    #expect(try phone.sent.map(\.tokens) == [["alert": "010203"]])
  }

  @Test("the backend is asked once for credentials, also by two tasks, and never if the phone has credentials")
  func askedOnce() async throws {
    let phone = try TestPhone(isRegistered: false)
    let registration = phone.process()
    let calls = Locked(0)
    let ask: @Sendable () async throws -> Data = {
      calls.withLock { $0 += 1 }
      return Data(#"{"device":"till-2","key":"k"}"#.utf8)
    }
    try await withThrowingTaskGroup { group in
      for _ in 0..<2 { group.addTask { try await registration.obtainCredentials(from: ask) } }
      try await group.waitForAll()
    }
    try await phone.process().obtainCredentials(from: ask)
    #expect(calls.withLock { $0 } == 1)
  }

  @Test("if the service refuses the phone's key, the backend is asked once for a new key")
  func refusedKey() async throws {
    let phone = try TestPhone { request, _ in
      request.fields["Authorization"] == "Bearer new" ? .registered(lastSequence: 7) : SoundAnswer(401, [:], [])
    }
    let calls = Locked(0)
    try await phone.process().obtainCredentials {
      calls.withLock { $0 += 1 }
      return Data(#"{"device":"till-1","key":"new"}"#.utf8)
    }
    #expect(calls.withLock { $0 } == 1)
    #expect(try phone.settings.credentials.credentials()?.key == "new")
    #expect(try !phone.needsRegistration)
  }

  @Test(
    "the backend is not asked again if the service refuses the new key too, and not at all after another error",
    arguments: [401, 403, 503])
  func refusedAgain(status: Int) async throws {
    let phone = try TestPhone { _, _ in SoundAnswer(status, [:], []) }
    let calls = Locked(0)
    try await phone.process().obtainCredentials {
      calls.withLock { $0 += 1 }
      return Data(#"{"device":"till-1","key":"new"}"#.utf8)
    }
    #expect(calls.withLock { $0 } == (status == 401 ? 1 : 0))
    #expect(try phone.needsRegistration)
  }

  @Test(
    "an answer of the backend without a device id or a key is refused, and nothing is stored",
    arguments: [
      "", "{}", "[]", #"{"device":"till-2"}"#, #"{"device":"till-2","key":""}"#, #"{"device":"","key":"k"}"#,
      #"{"device":"till-2","key":7}"#,
    ])
  func badAnswer(text: String) async throws {
    let phone = try TestPhone(isRegistered: false)
    await #expect(throws: PhoneRegistrationError(.answerUnreadable)) {
      try await phone.process().obtainCredentials { Data(text.utf8) }
    }
    #expect(try phone.settings.credentials.credentials() == nil)
    #expect(try phone.settings.client() == nil)
  }

  @Test("the backend is not asked for credentials while the stored credentials cannot be read")
  func unreadableCredentials() async throws {
    struct Locked: DeviceCredentialStore {
      func credentials() throws(PhoneRegistrationError) -> DeviceCredentials? {
        throw PhoneRegistrationError(.credentialsUnavailable)
      }
      func store(_ credentials: DeviceCredentials) throws(PhoneRegistrationError) {}
      func removeCredentials() throws(PhoneRegistrationError) {}
    }
    var phone = try TestPhone()
    phone.settings.credentials = Locked()
    await #expect(throws: PhoneRegistrationError(.credentialsUnavailable)) {
      try await phone.process().obtainCredentials {
        Issue.record("The backend was asked.")
        return Data()
      }
    }
  }

  @Test("the notifications continue after the sequence number in the answer to the registration")
  func sequence() async throws {
    let phone = try TestPhone()
    let service = NotificationService(
      NotificationService.Configuration(container: phone.settings.container, tone: phone.settings.tone))
    await PhoneRegistration(phone.settings, notifications: service).register()
    #expect(try service.lastSequence() == 7)
  }

  @Test("missed pushes are requested with the phone's key, and only after the phone is registered")
  func missed() async throws {
    let phone = try TestPhone { _, _ in
      SoundAnswer(200, [:], [Array(#"{"announcements":[],"last_sequence":7}"#.utf8)])
    }
    var configuration = NotificationService.Configuration(
      container: phone.settings.container, tone: phone.settings.tone)
    configuration.connect(to: phone.settings, phraseBooks: nil)
    #expect(try await configuration.missed?.announcements(after: 7).isComplete == true)
    #expect(phone.service.requests.first?.fields["Authorization"] == "Bearer crier_7d3k9q2m_secret")
    try phone.settings.credentials.removeCredentials()
    await #expect(throws: PhoneRegistrationError(.notRegistered)) {
      _ = try await configuration.missed?.announcements(after: 7)
    }
  }

  @Test("a registration ends as cancelled if the system gives the app no time for it")
  func noTime() async throws {
    var phone = try TestPhone()
    phone.settings.uninterrupted = { _, _ in }
    await phone.process().changed(.alert, to: first)
    #expect(phone.service.requests.isEmpty)
    #expect(phone.errors.withLock { $0 } == ["CancellationError()", "CancellationError()"])
  }

  @Test("no description of the phone's credentials shows the key")
  func secrets() throws {
    let credentials = DeviceCredentials(device: "till-1", key: "secret")
    var dumped = ""
    dump(credentials, to: &dumped)
    #expect(!"\(credentials) \(String(reflecting: credentials)) \(dumped)".contains("secret"))
  }
}

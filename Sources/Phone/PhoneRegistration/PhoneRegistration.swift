// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DeviceClient
public import Foundation
public import NotificationServiceKit
public import PushMessages

/// Registers this phone with the service whenever a token, the tone or the language has changed.
///
/// The app and its file-provider extension share the tokens, and a registration replaces the one before. Two processes
/// may register at the same time. Each process therefore reads the tokens again after its call, and repeats the call if
/// they have changed. The last registration then has all tokens. Keep one `PhoneRegistration` in each process.
///
/// A failed call counts as not registered. The next start of the app, the next change, or the next call of
/// ``register()`` tries again.
public actor PhoneRegistration {
  public nonisolated let settings: PhoneSettings
  /// The notifications of the app. Their order continues with the sequence number that the service names at a
  /// registration.
  public nonisolated let notifications: NotificationService?

  private var isRunning = false
  private var mustRepeat = false
  private var asking: Task<Void, any Error>?
  /// Whether the service refused the key at the last registration.
  private var isRefused = false

  /// - Parameter notifications: The app's own service for notifications; nil if this process has none.
  public init(_ settings: PhoneSettings, notifications: NotificationService?) {
    self.settings = settings
    self.notifications = notifications
  }

  /// Asks the shop's backend to register this phone, unless it is registered already, and registers the phone's tokens.
  /// If the service no longer accepts the stored key, this method asks the backend for a new one.
  ///
  /// The backend has a key of Crier with the scope `announce`. This key must never be in an app. The backend calls `PUT
  /// /v1/devices/{id}` with `new_key`, and answers with the id and the phone's own key. The app decides how the backend
  /// recognises the phone's user, for example by a session cookie.
  ///
  /// - Parameter backend: Asks the backend, and returns its answer as JSON: `{"device": "…", "key": "…"}`. If several
  ///   tasks call this method at the same time, the closure is called only once.
  /// - Throws: The error of `backend`, or ``PhoneRegistrationError``.
  public func obtainCredentials(from backend: @escaping @Sendable () async throws -> Data) async throws {
    try await ask(backend, unlessKnown: true)
    await register()
    // The key in the keychain may come from an earlier installation of the app, and may have been revoked.
    guard isRefused else { return }
    isRefused = false
    try await ask(backend, unlessKnown: false)
    await register()
  }

  private func ask(_ backend: @escaping @Sendable () async throws -> Data, unlessKnown: Bool) async throws {
    let task =
      asking
      ?? Task { [store = settings.credentials] in
        let stored = try await onWaitingThread { () throws(PhoneRegistrationError) in try store.credentials() }
        if unlessKnown, stored != nil { return }
        let credentials = try DeviceCredentials(answer: await backend())
        try await onWaitingThread { () throws(PhoneRegistrationError) in try store.store(credentials) }
      }
    asking = task
    // Another call may have started another task in the meantime.
    defer { if asking == task { asking = nil } }
    try await task.value
  }

  /// Stores a changed token, and registers the phone.
  ///
  /// - Parameters:
  ///   - kind: The kind of the token. The default is the kind of `didRegisterForRemoteNotificationsWithDeviceToken`.
  ///   - token: The token; nil if the earlier one became invalid.
  public func changed(_ kind: PushTokenKind = .alert, to token: Data?) async {
    do {
      try await settings.withoutInterruption("Storing a push token") { [settings] in
        try await Self.change(settings) { tokens in
          _ = token.map { tokens.receive($0, kind) } ?? tokens.invalidate(kind)
        }
      }
    } catch {
      settings.report(error)
    }
    await register()
  }

  /// Registers the phone with all its tokens, even if nothing has changed. If this process is already registering, this
  /// method returns at once, and the running call repeats the registration.
  public func register() async {
    mustRepeat = true
    guard !isRunning else { return }
    isRunning = true
    while mustRepeat {
      mustRepeat = false
      do {
        // The work locks the files of the tokens and of the order for short times.
        let hasChanged = try await settings.withoutInterruption("Registering this phone") { [self] in
          try await registerOnce()
        }
        if hasChanged { mustRepeat = true }
        isRefused = false
      } catch {
        // A new key would not help with the status 403.
        isRefused = (error as? DeviceClientError)?.status == 401
        settings.report(error)
      }
    }
    isRunning = false
  }

  /// - Returns: Whether the tokens have changed during the call, so that the call must be repeated.
  /// - Throws: The error of the call. The tokens then count as not registered.
  private nonisolated func registerOnce() async throws -> Bool {
    let client = try await onWaitingThread { () throws(PhoneRegistrationError) in try settings.client() }
    guard let client, case .register(let tokens) = try await Self.change(settings, { $0.registerAgain() }) else {
      return false
    }
    // A push may arrive while the phone registers.
    let known = await onWaitingThread { try? notifications?.lastSequence() }
    let sequence = try await client.register(settings.registration(with: tokens))
    // The service begins its numbers again if it has forgotten this phone.
    await onWaitingThread { try? notifications?.restart(after: sequence, known: known) }
    return try await Self.change(settings) { stored in
      // A stored value does not record a call, so the call begins and ends here.
      guard case .register(let latest) = stored.registerAgain(), latest == tokens else { return true }
      _ = stored.registrationEnded(true)
      return false
    }
  }

  private static func change<Value: Sendable>(
    _ settings: PhoneSettings, _ body: @Sendable (inout RegisteredTokens) -> Value
  ) async throws -> Value {
    try await onWaitingThread { () throws(PhoneRegistrationError) in try settings.tokens.change(body) }
  }
}

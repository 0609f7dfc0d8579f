// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DeviceClient
public import Foundation
public import NotificationServiceKit
public import PushMessages

/// Registers this phone with the service whenever a token, the tone or the language has changed.
///
/// The app and its file-provider extension share the tokens, and a registration replaces the one before. Two processes
/// may register at the same time, so each looks at the tokens again after its call, and repeats the call if they have
/// changed meanwhile. The last registration therefore has all tokens. Keep one of these in each process.
///
/// A failed call counts as not registered. The next start of the app, the next change, or the next call of
/// ``register()`` tries again.
public actor PhoneRegistration {
  public nonisolated let settings: PhoneSettings
  /// The notifications of the app. Their order continues with the numbers that the service names at a registration.
  public nonisolated let notifications: NotificationService?

  private var isRunning = false
  private var mustRepeat = false
  private var asking: Task<Void, any Error>?
  /// Whether the service refused the key in the last registration.
  private var isRefused = false

  /// - Parameter notifications: The app's own service for notifications; nil if this process has none.
  public init(_ settings: PhoneSettings, notifications: NotificationService?) {
    self.settings = settings
    self.notifications = notifications
  }

  /// Lets the shop's backend register this phone, unless it is registered, and registers the phone's tokens. If the
  /// service no longer accepts the stored key, the backend is asked for a new one.
  ///
  /// The backend has a key of Crier with the scope `announce`, which must never be in an app. It calls
  /// `PUT /v1/devices/{id}` with `new_key`, and answers with the id and the phone's own key. How it knows this phone's
  /// user is the app's affair, such as by a session cookie.
  ///
  /// - Parameter backend: Asks the backend, and returns its answer as JSON: `{"device": "…", "key": "…"}`. It is called
  ///   once if several tasks call this method at the same time.
  /// - Throws: The error of `backend`, or ``PhoneRegistrationError``.
  public func obtainCredentials(from backend: @escaping @Sendable () async throws -> Data) async throws {
    try await ask(backend, unlessKnown: true)
    await register()
    // The keychain may have the key of an earlier installation of the app, which was revoked since.
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
    // Another call may have begun another task meanwhile.
    defer { if asking == task { asking = nil } }
    try await task.value
  }

  /// Stores a token that has changed, and registers the phone.
  ///
  /// - Parameters:
  ///   - kind: The kind of the token. The default is the kind of `didRegisterForRemoteNotificationsWithDeviceToken`.
  ///   - token: The token; nil if the former one became invalid.
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

  /// Registers the phone with all its tokens, also if nothing has changed. If a registration of this process is running,
  /// it is repeated, and this method returns at once.
  public func register() async {
    mustRepeat = true
    guard !isRunning else { return }
    isRunning = true
    while mustRepeat {
      mustRepeat = false
      do {
        // The tokens and the order of the notifications are locked at times.
        let hasChanged = try await settings.withoutInterruption("Registering this phone") { [self] in
          try await registerOnce()
        }
        if hasChanged { mustRepeat = true }
        isRefused = false
      } catch {
        // With 403, another key would not help.
        isRefused = (error as? DeviceClientError)?.status == 401
        settings.report(error)
      }
    }
    isRunning = false
  }

  /// - Returns: Whether the tokens have changed during the call, so that it must be repeated.
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
      // A stored value knows nothing of the call, so it is begun and ended here.
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

// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
public import PushMessages

/// The provider token of one key. A new token is made before the current one becomes too old.
///
/// APNs refuses a token that is older than an hour, and a key whose tokens change more often than every 20 minutes. So
/// all connections and apps of a key must share one instance.
public final class ProviderTokens: Sendable {
  /// A provider token as it is sent, with its age. Descriptions and dumps do not contain its text, with which anybody
  /// could send pushes for an hour.
  public struct Token: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    let text: String
    let age: ProviderTokenAge

    public var description: String { "a provider token" }
    public var customMirror: Mirror { Mirror(self, children: ["age": age]) }
  }

  public let key: ProviderKey
  private let file: ProviderTokenFile?
  private let now: @Sendable () -> ProviderTokenAge.Moment
  private let current = Locked<Token?>(nil)
  /// The lock that is held while a token is renewed. A renewal may have to wait for the file. Tokens that need no
  /// renewal do not wait for it.
  private let renewal = Locked(())

  /// - Parameters:
  ///   - file: The file in which the programs that use one home folder share the token; nil if only this instance uses
  ///     the token.
  ///   - now: Returns the current reading of both clocks.
  public init(
    key: ProviderKey, file: ProviderTokenFile? = nil,
    now: @escaping @Sendable () -> ProviderTokenAge.Moment = ProviderTokenAge.Moment.clock()
  ) {
    self.key = key
    self.file = file
    self.now = now
  }

  /// Returns the token for a request that is sent now.
  public func token() async throws -> Token {
    if let token = usable() { return token }
    return try await onWaitingThread { [self] in
      // Another request may have renewed the token meanwhile.
      try renewal.withLock { _ in try usable() ?? renew() }
    }
  }

  /// Returns the current token if it needs no renewal.
  private func usable() -> Token? {
    let now = now()
    return current.withLock { $0 }.flatMap { $0.age.isDue(at: now) ? nil : $0 }
  }

  /// Returns the token for another attempt after APNs has refused one as expired.
  ///
  /// - Returns: nil if APNs does not allow another token yet.
  public func token(afterRefusalOf refused: Token) async throws -> Token? {
    try await onWaitingThread { [self] in
      try renewal.withLock { _ in
        guard let known = current.withLock({ $0 }) else { return try renew() }
        switch known.age.renewal(refused: refused.age, at: now()) {
        case .useCurrent: return known
        case .makeNew: return try renew()
        case .wait: return nil
        }
      }
    }
  }

  /// Makes a token. The caller holds ``renewal``.
  private func renew() throws -> Token {
    let now = now()
    let refused = current.withLock { $0?.text }
    let (text, madeAt) = try made(at: now) { $0 != refused }
    let token = Token(text: text, age: ProviderTokenAge(madeAt: madeAt))
    current.withLock { $0 = token }
    return token
  }

  /// Returns the token that another program has stored and that may still be sent, or a new one. A stored token that
  /// another key with the same id has signed is never sent. Such a token remains in the file if a wrong key was used
  /// first and was replaced since.
  private func made(
    at now: ProviderTokenAge.Moment, isAllowed: (String) -> Bool
  ) throws -> (text: String, madeAt: ProviderTokenAge.Moment) {
    guard let file else { return (try key.token(issuedAt: now.date), now) }
    let (text, issuedAt) = try file.token(at: now.date) { text, issuedAt, age in
      isAllowed(text) && .seconds(age) < ProviderTokenAge.usual && key.hasSigned(text, issuedAt: issuedAt)
    } make: {
      try key.token(issuedAt: now.date)
    }
    let age = Duration.seconds(max(0, now.date.timeIntervalSince(issuedAt)))
    return (text, ProviderTokenAge.Moment(date: issuedAt, elapsed: now.elapsed - age))
  }
}

// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
public import Ledger
public import PushMessages

/// The provider token of one key. A new token is made before the current one becomes too old.
///
/// APNs refuses a token that is older than an hour, and a key whose tokens change more often than every 20 minutes. So
/// all connections and apps of a key must share one instance. The programs of one machine share the token in a file, and
/// the nodes of a ledger share it in the ledger, so that a node that takes the pushes over does not make another one.
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
  private let store: (any Ledger.ProviderTokenStore)?
  private let now: @Sendable () -> ProviderTokenAge.Moment
  private let current = Locked<Token?>(nil)
  /// The permit for renewing the token. A renewal may have to wait for the file or the ledger. Tokens that need no renewal
  /// do not wait for it.
  private let renewals = Permits(1)

  /// - Parameters:
  ///   - file: The file in which the programs that use one home folder share the token; nil if only this instance uses
  ///     the token.
  ///   - store: The ledger in which several machines share the token; nil if only this machine uses it.
  ///   - now: Returns the current reading of both clocks.
  public init(
    key: ProviderKey, file: ProviderTokenFile? = nil, store: (any Ledger.ProviderTokenStore)? = nil,
    now: @escaping @Sendable () -> ProviderTokenAge.Moment = ProviderTokenAge.Moment.clock()
  ) {
    (self.key, self.file, self.store, self.now) = (key, file, store, now)
  }

  /// Returns the token for a request that is sent now.
  public func token() async throws -> Token {
    if let token = usable() { return token }
    return try await renewing { [self] in
      // Another request may have renewed the token meanwhile.
      if let token = usable() { return token }
      return try await renew()
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
    try await renewing { [self] in
      guard let known = current.withLock({ $0 }) else { return try await renew() }
      switch known.age.renewal(refused: refused.age, at: now()) {
      case .useCurrent: return known
      case .makeNew: return try await renew()
      case .wait: return nil
      }
    }
  }

  /// Does work while no other renewal is under way.
  private func renewing<Value: Sendable>(
    _ work: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let result: Result<Value, any Error> = await renewals.withOne {
      do { return .success(try await work()) } catch { return .failure(error) }
    }
    return try result.get()
  }

  /// Finds or makes a token. The caller has the permit of ``renewals``.
  private func renew() async throws -> Token {
    let now = now()
    let refused = current.withLock { $0?.text }
    let issued = try await shared(at: now, refused)
    let age = Duration.seconds(max(0, now.date.timeIntervalSince(issued.date)))
    let madeAt = ProviderTokenAge.Moment(date: issued.date, elapsed: now.elapsed - age)
    let token = Token(text: issued.text, age: ProviderTokenAge(madeAt: madeAt))
    current.withLock { $0 = token }
    return token
  }

  /// Returns the token that another node has stored in the ledger and that may still be sent, or else stores one there.
  ///
  /// If the ledger cannot be used, the token of this machine is returned nevertheless. It is better to send the push now,
  /// even if APNs may refuse the token of another node later.
  private func shared(at now: ProviderTokenAge.Moment, _ refused: String?) async throws -> IssuedToken {
    guard let store else { return try await own(at: now, refused) }
    let stored: Data?
    do throws(LedgerError) {
      stored = try await store.providerToken(of: key.sharedName)
    } catch {
      return try await own(at: now, refused)
    }
    if let token = stored.flatMap(key.open), isUsableHere(token, at: now, refused) {
      await onWaitingThread { [file] in file?.keep(token) }
      return token
    }
    let own = try await own(at: now, refused)
    do {
      let winner = try await store.replaceProviderToken(of: key.sharedName, stored, with: try key.seal(own))
      // Another node has stored a token since the ledger was read.
      guard let token = key.open(winner), token != own, isUsableHere(token, at: now, refused) else { return own }
      await onWaitingThread { [file] in file?.keep(token) }
      return token
    } catch {
      return own
    }
  }

  /// Whether a token of another node may be sent. That node's clock may be ahead.
  private func isUsableHere(_ token: IssuedToken, at now: ProviderTokenAge.Moment, _ refused: String?) -> Bool {
    let age = now.date.timeIntervalSince(token.date)
    return age >= -ProviderTokenAge.tolerance && isUsable(token, age, refused)
  }

  /// Returns whether a stored token of this age in seconds may be sent. A token that another key with the same id has
  /// signed is never sent. Such a token remains in the file if a wrong key was used first and was replaced since.
  private func isUsable(_ token: IssuedToken, _ age: TimeInterval, _ refused: String?) -> Bool {
    token.text != refused && .seconds(age) < ProviderTokenAge.usual && key.hasSigned(token.text, issuedAt: token.date)
  }

  /// Returns the token that another program of this machine has stored and that may still be sent, or a new one.
  private func own(at now: ProviderTokenAge.Moment, _ refused: String?) async throws -> IssuedToken {
    try await onWaitingThread { [self] in
      guard let file else {
        let text = try key.token(issuedAt: now.date)
        return IssuedToken(text: text, issuedAt: Int(now.date.timeIntervalSince1970))
      }
      return try file.token(at: now.date) {
        isUsable($0, $1, refused)
      } make: {
        try key.token(issuedAt: now.date)
      }
    }
  }
}

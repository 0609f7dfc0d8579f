// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The consequence of an attempt to send a push.
///
/// The decision is the same for all senders: ``init(_:afterRefresh:)`` decides if APNs answered, and ``init(_:)`` if it
/// did not. `docs/push.md` has the table with the reasons.
public enum PushConsequence: Sendable, Hashable {
  /// The pushes that wait until the next attempt. Later pushes to the same device always wait, because otherwise they
  /// would overtake this one.
  public enum Scope: Sendable, Hashable, CaseIterable {
    /// Only this push has a reason to wait.
    case push
    /// All pushes to the device wait.
    case device
    /// All pushes to the app wait.
    case app
  }

  /// APNs accepted the push. A sender cannot find out whether the device received it.
  case delivered

  /// The push is sent again with the same `apns-id`, until it expires.
  ///
  /// - Parameter after: The wait that APNs asked for: nil if it asked for no wait, zero for another attempt at once.
  ///   ``PushRetry`` turns it into the next attempt.
  case retry(after: Duration?, scope: Scope)

  /// The provider token is too old. The push is sent again with a new token, if ``ProviderTokenAge`` allows that.
  case refreshToken

  /// The push ends as unregistered, and the device token is deleted if it was registered before `since`. If `since` is
  /// nil, the token is kept.
  case deviceGone(since: Date?)

  /// The push ends as failed. The device token is probably for another environment or another app. It is kept, and the
  /// case is counted and shown, because a wrong setting must not delete all tokens.
  case tokenSuspect

  /// The push ends as failed. APNs refused this push, and would refuse it again.
  case failed

  /// The key, the topic or the server is wrong, so APNs would refuse every push to this app. The push is kept, the
  /// app's queue stops, and one alarm says why.
  case stopApp

  /// Creates the consequence of an answer from APNs.
  ///
  /// - Parameter afterRefresh: Whether APNs has refused a provider token for this push as too old, and the push was
  ///   sent again with a new token. If APNs refuses the new token as too old as well, this machine's clock is wrong,
  ///   and a third token would not help.
  public init(_ response: PushResponse, afterRefresh: Bool = false) {
    let wait = response.retryAfter.map { Duration.seconds($0) }
    guard response.status != 200 else {
      self = .delivered
      return
    }
    let documented = response.reason.flatMap(PushRefusal.init(rawValue:))
    switch documented?.measure ?? PushRefusal.Measure(status: response.status) {
    case .retry(let scope): self = .retry(after: wait, scope: scope)
    case .refreshToken: self = afterRefresh ? .stopApp : .refreshToken
    // No other status deletes a token, whatever the reason says.
    case .forgetDevice: self = response.status == 410 ? .deviceGone(since: response.invalidSince) : .tokenSuspect
    case .suspectToken: self = .tokenSuspect
    case .fail: self = .failed
    case .stopApp: self = .stopApp
    }
  }

  /// Creates the consequence of an attempt that got no answer.
  public init(_ interruption: PushInterruption) {
    switch interruption {
    case .notProcessed: self = .retry(after: .zero, scope: .push)
    case .connectionLost, .timedOut: self = .retry(after: nil, scope: .push)
    case .unreachable: self = .retry(after: nil, scope: .app)
    }
  }
}

/// The reason why a push got no answer.
public enum PushInterruption: Sendable, Hashable, CaseIterable {
  /// APNs reported that it did not process the request: GOAWAY with a lower stream id, or `REFUSED_STREAM`.
  case notProcessed
  /// The connection or the stream ended before the answer.
  case connectionLost
  /// The answer did not come in time.
  case timedOut
  /// There was no connection: the server had no address, the connection was refused, or the TLS handshake failed.
  case unreachable
}

// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import PushMessages

/// Decides when a phone's push tokens must be registered again.
///
/// A registration replaces all tokens of the device, and the app and its file-provider extension each get tokens of
/// their own. Each of them must therefore know the tokens of the other. Keep this value in the group container, in a
/// file that only the owner can read, and let only one process at a time change it. A stored value does not record a
/// call that was in progress. After the value is read, the tokens are registered again, whether or not that call
/// succeeded.
///
/// This type uses neither a clock nor a connection. The description does not show the tokens, because they are secrets.
public struct RegisteredTokens: Sendable, Hashable {
  /// The next action.
  public enum Step: Sendable, Hashable {
    /// Do nothing: the service has these tokens, or a call is in progress and its end decides what comes next.
    case nothing
    /// Register these tokens, and then call ``RegisteredTokens/registrationEnded(_:)``.
    case register([PushTokenKind: Data])
  }

  /// The tokens that the phone has now.
  public private(set) var tokens: [PushTokenKind: Data] = [:]

  /// The tokens that the last successful registration sent; nil if it is not known what the service has.
  private var registered: [PushTokenKind: Data]?

  /// The tokens of the call in progress.
  private var inProgress: [PushTokenKind: Data]?

  /// Whether another registration was asked for during the call in progress.
  private var mustRepeat = false

  public init() {}

  /// Whether the tokens of the service may differ from those of the phone.
  public var needsRegistration: Bool { registered != tokens }

  /// Adds a token that iOS gave to the app or to its extension. An empty token counts as invalidated.
  ///
  /// iOS gives the same token at each start; the same token needs no call.
  public mutating func receive(_ token: Data, _ kind: PushTokenKind) -> Step {
    tokens[kind] = token.isEmpty ? nil : token
    return next()
  }

  /// Removes a token that is no longer valid (`pushRegistry(_:didInvalidatePushTokenFor:)`). The tokens are registered
  /// without it.
  public mutating func invalidate(_ kind: PushTokenKind) -> Step {
    tokens[kind] = nil
    return next()
  }

  /// Starts a registration even if the tokens have not changed, for example after a change of the tone or the language,
  /// or after a failure. If a call is in progress, the registration starts after it.
  public mutating func registerAgain() -> Step {
    registered = nil
    mustRepeat = inProgress != nil
    return next()
  }

  /// Ends the call in progress.
  ///
  /// - Parameter succeeded: Whether the service confirmed the registration. After a failed call, it is not known what
  ///   the service has; call ``registerAgain()`` after a pause.
  /// - Returns: The next call, if the tokens have changed or ``registerAgain()`` was called in the meantime.
  public mutating func registrationEnded(_ succeeded: Bool) -> Step {
    guard let sent = inProgress else { return .nothing }
    inProgress = nil
    let repeats = mustRepeat
    mustRepeat = false
    if succeeded, !repeats { registered = sent }
    // A failed call with the same tokens is not repeated at once.
    return succeeded || repeats || sent != tokens ? next() : .nothing
  }

  private mutating func next() -> Step {
    guard inProgress == nil, needsRegistration else { return .nothing }
    inProgress = tokens
    // Until the call has ended, the service may have the earlier tokens or the new ones.
    registered = nil
    return .register(tokens)
  }
}

extension RegisteredTokens: Codable {
  private enum CodingKeys: String, CodingKey { case tokens, registered }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    func read(_ key: CodingKeys) throws -> [PushTokenKind: Data]? {
      guard let stored = try container.decodeIfPresent([String: Data].self, forKey: key) else { return nil }
      // Kinds that only a newer version knows are left out.
      return Dictionary(
        uniqueKeysWithValues: stored.compactMap { name, token in PushTokenKind(rawValue: name).map { ($0, token) } })
    }
    tokens = try read(.tokens) ?? [:]
    registered = try read(.registered)
  }
}

extension RegisteredTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The kinds of tokens that the phone has.
  public var description: String {
    let kinds = tokens.keys.map(\.rawValue).sorted().joined(separator: ", ")
    return "tokens: \(kinds.isEmpty ? "none" : kinds)\(needsRegistration ? ", not registered" : "")"
  }

  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["description": description], displayStyle: .struct) }
}

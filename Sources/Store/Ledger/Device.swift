// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import PushMessages

/// A phone as its app registers it.
public struct NewDevice: Sendable, Hashable {
  /// The account to which the device belongs, 1 to 255 bytes.
  public var account: String
  /// The id that the app chose: 1 to 128 bytes.
  public var id: String
  /// The bundle id of the app, 1 to 155 bytes.
  public var app: String
  public var environment: PushEnvironment
  /// The app group whose container receives the sounds, 1 to 255 bytes; nil for the app group of the key or, if the key
  /// names none, of the service.
  public var appGroup: String?
  /// The name by which several devices are addressed, such as all phones of a shop: 1 to 128 bytes.
  public var deviceGroup: String?
  /// The language of the device's notifications and clips, 1 to 255 bytes.
  public var locale: String?
  /// The sound file that the user has chosen, 1 to 255 bytes.
  public var tone: String?
  /// The tokens in hexadecimal digits, at most 512 bytes each. If a kind is missing here, the device loses its token of
  /// that kind.
  public var tokens: [PushTokenKind: String]

  public init(
    account: String, id: String, app: String, environment: PushEnvironment, appGroup: String? = nil,
    deviceGroup: String? = nil, locale: String? = nil, tone: String? = nil, tokens: [PushTokenKind: String] = [:]
  ) {
    self.account = account
    self.id = id
    self.app = app
    self.environment = environment
    self.appGroup = appGroup
    self.deviceGroup = deviceGroup
    self.locale = locale
    self.tone = tone
    self.tokens = tokens
  }

  /// The first rule that a value breaks; nil when the device can be stored.
  package var brokenRule: String? {
    if !isText(account, 1...255) { return "account (1 to 255 bytes without NUL)" }
    if !isText(id, 1...128) { return "id (1 to 128 bytes without NUL)" }
    if !isText(app, 1...155) { return "app (1 to 155 bytes without NUL)" }
    if !isText(deviceGroup, 1...128) { return "deviceGroup (1 to 128 bytes without NUL)" }
    for (field, text) in [("appGroup", appGroup), ("locale", locale), ("tone", tone)] where !isText(text, 1...255) {
      return "\(field) (1 to 255 bytes without NUL)"
    }
    for token in tokens.values where !isText(token, 1...512) { return "tokens (1 to 512 bytes without NUL)" }
    return nil
  }

  /// Returns the registration that a device makes for itself. The device stays in its group of devices and in its app
  /// group.
  package func staying(where former: Ledger.Device?) -> NewDevice {
    var new = self
    (new.deviceGroup, new.appGroup) = (former?.deviceGroup, former?.appGroup)
    return new
  }

  /// Returns whether a token with the same digits is the same token as before. A token of another app or environment is
  /// another token.
  package func hasSamePlace(as former: Ledger.Device?) -> Bool {
    former.map { $0.app == app && $0.environment == environment } ?? false
  }

  /// The first rule that a value of the device or of its key breaks; nil when both can be stored.
  package func brokenRule(with key: NewKey) -> String? {
    if let rule = brokenRule ?? key.brokenRule { return rule }
    return key.account == account && key.device == id ? nil : "key (it must have the device's account and id)"
  }
}

extension Ledger {
  /// The result of registering a device.
  public struct Registration: Sendable, Hashable {
    public let device: Device
    /// Whether the account did not have the device before.
    public let isNew: Bool
    /// Whether the given key was stored as the device's own.
    public let isKeyStored: Bool
    /// The kinds of the tokens that the registration took from another device of the account.
    public let movedTokens: Set<PushTokenKind>

    package init(device: Device, isNew: Bool, isKeyStored: Bool, movedTokens: Set<PushTokenKind>) {
      self.device = device
      self.isNew = isNew
      self.isKeyStored = isKeyStored
      self.movedTokens = movedTokens
    }
  }

  /// A registered device.
  public struct Device: Sendable, Hashable {
    /// A token, with the time of its registration and the number of its refusals. Its description must not be logged,
    /// because the token is secret.
    public struct Token: Sendable, Hashable {
      public let text: String
      /// The time of the latest registration with this token.
      public let registeredAt: Date
      /// The number of times that APNs has refused the token as bad. Such a token is never deleted, because APNs also
      /// refuses tokens of the other environment as bad.
      public let refusals: Int
    }

    /// The outcome of a push.
    public struct Outcome: Sendable, Hashable {
      /// A final state.
      public let state: Push.State
      /// The reason from APNs or the sender; nil if there is none.
      public let reason: String?
      public let at: Date
    }

    public let account: String
    public let id: String
    public let app: String
    public let environment: PushEnvironment
    public let appGroup: String?
    public let deviceGroup: String?
    public let locale: String?
    public let tone: String?
    public let tokens: [PushTokenKind: Token]
    /// The outcome of the latest push with each kind of token.
    public let outcomes: [PushTokenKind: Outcome]
    /// The id of the device's own key; nil when it has none.
    public let keyID: String?
    /// The value of ``lastSequence`` at the time of the registration: 0, unless an earlier device had the same id.
    public let firstSequence: Int64
    /// The number of the latest announcement that was pushed to the device; 0 for none.
    public let lastSequence: Int64
    /// The number of the last push of the ledger before the registration; 0 for none.
    public let registeredAfter: Int64
    public let registeredAt: Date
    public let changedAt: Date

    /// Returns the token that a push goes to. If the device has no token of the push's own kind, a background push uses
    /// the token for notifications, and a file-provider push uses the app's token, because these have the same topic.
    ///
    /// - Returns: nil if the device has another app now, or if the push was accepted for a removed device that had the
    ///   same id. The numbers of announcements and pushes show what was accepted before the device was registered. The
    ///   clock cannot show it, because it may be set back.
    package func token(for push: Push) -> (kind: PushTokenKind, text: String)? {
      guard app == push.app, environment == push.environment,
        push.sequence.map({ $0 > firstSequence }) ?? (push.number > registeredAfter)
      else { return nil }
      let kinds: [PushTokenKind] =
        switch push.kind {
        case .alert: [.alert]
        case .background: [.background, .alert]
        case .fileProvider: [.fileProviderExtension, .fileProvider]
        }
      return kinds.lazy.compactMap { kind in tokens[kind].map { (kind, $0.text) } }.first
    }
  }
}

extension Ledger.Device.Token {
  package init(row: some StoredRow) throws {
    self.init(
      text: try row.value("token"), registeredAt: try row.value("registered_at"), refusals: try row.value("refusals"))
  }
}

extension Ledger.Device.Outcome {
  package init(row: some StoredRow) throws {
    self.init(state: try row.name("state"), reason: try row.optional("reason"), at: try row.value("at"))
  }
}

extension Ledger.Device {
  package init(
    row: some StoredRow, tokens: [PushTokenKind: Token], outcomes: [PushTokenKind: Outcome]
  ) throws {
    self.init(
      account: try row.value("account"), id: try row.value("id"), app: try row.value("app"),
      environment: try row.name("environment"), appGroup: try row.optional("app_group"),
      deviceGroup: try row.optional("device_group"), locale: try row.optional("locale"),
      tone: try row.optional("tone"), tokens: tokens, outcomes: outcomes, keyID: try row.optional("key_id"),
      firstSequence: try row.value("first_sequence"), lastSequence: try row.value("last_sequence"),
      registeredAfter: try row.value("registered_after"), registeredAt: try row.value("registered_at"),
      changedAt: try row.value("changed_at"))
  }
}

// SPDX-License-Identifier: Apache-2.0

/// What the reasons of APNs mean, in words for the people of a shop. `docs/push.md` has the same words.
public enum PushReasonText {
  /// What Crier knows about a reason of APNs: a row of the table in `docs/push.md`.
  public struct Row: Sendable, Hashable {
    /// The status with which Apple documents the reason.
    public let status: Int
    public let reason: String
    /// What the service does on it, such as `token suspect`. `docs/push.md` explains each.
    public let measure: String
    /// Why the service does that, without a full stop.
    public let why: String
    /// What the reason means and what to do, in sentences.
    public let text: String
  }

  /// Returns the row of a reason; nil for a reason that Apple does not document.
  public static func row(of reason: String) -> Row? { PushRefusal(rawValue: reason).map(row) }

  static func row(of refusal: PushRefusal) -> Row {
    Row(
      status: refusal.status, reason: refusal.rawValue, measure: refusal.measure.name, why: why(refusal),
      text: text(of: refusal))
  }

  private static func why(_ refusal: PushRefusal) -> String {
    switch refusal {
    case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .duplicateHeaders, .invalidPushType,
      .missingDeviceToken, .payloadEmpty, .payloadTooLarge:
      "a fault of this push"
    case .badPath: "the path has the device token, so this push may be at fault"
    case .badDeviceToken: "APNs gives this reason also for a token of the other environment"
    case .deviceTokenNotForTopic: "the token or the bundle id belongs to another app"
    case .badTopic, .missingTopic: "the topic is made from the app's bundle id"
    case .topicDisallowed: "the team of the key does not own the bundle id"
    case .badCertificate, .badCertificateEnvironment: "Crier uses no certificates"
    case .badEnvironmentKeyIDInToken: "the key is for the other environment"
    case .badEnvironmentKeyInToken: "the same; APNs is seen to write it like this"
    case .expiredProviderToken: "the token is older than an hour, or a clock is wrong"
    case .forbidden: "the key may not send to this app"
    case .invalidProviderToken: "the key, its id or the team is wrong"
    case .missingProviderToken: "something removed the token"
    case .unrelatedKeyIDInToken: "the key id belongs to another team"
    case .methodNotAllowed: "Crier only sends POST, so something changes its requests"
    case .expiredToken: "the token has expired"
    case .unregistered: "the app was removed, or its notifications were switched off"
    case .tooManyProviderTokenUpdates: "the current token stays in use: a new one would be one update more"
    case .tooManyRequests: "too many pushes to this device"
    case .idleTimeout: "the connection was idle; another one is not"
    case .internalServerError: "another attempt may succeed"
    case .serviceUnavailable: "APNs is overloaded"
    case .shutdown: "this server stops; another connection reaches another server"
    }
  }

  /// Returns what a reason means; nil for a reason that Apple does not document.
  public static func text(of reason: String) -> String? { PushRefusal(rawValue: reason).map(text) }

  static func text(of refusal: PushRefusal) -> String {
    switch refusal {
    case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .duplicateHeaders, .invalidPushType,
      .missingDeviceToken, .payloadEmpty, .badPath:
      "Apple refused this push as faulty. The phone is all right."
    case .payloadTooLarge: "The push was too large."
    case .badDeviceToken:
      "The phone's token is not valid, or belongs to the other environment. Check the environment, and register again."
    case .deviceTokenNotForTopic: "The phone's token belongs to another app. Check the bundle id, and register again."
    case .badTopic, .missingTopic: "The bundle id of the app is not valid. Check the setting apns."
    case .topicDisallowed: "The team of the key does not own the app. Check the setting apns."
    case .badCertificate, .badCertificateEnvironment:
      "Apple expected a certificate. Check the server in the setting apns."
    case .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken:
      "The key is for the other environment. Check the setting apns."
    case .expiredProviderToken: "The time in the key's token is too old. Check the clock of this machine."
    case .forbidden: "The key may not send to this app. Check the setting apns."
    case .invalidProviderToken: "The key, its id or its team is wrong. Check the setting apns."
    case .missingProviderToken: "The key's token was lost on the way. Check the proxy."
    case .unrelatedKeyIDInToken: "The key belongs to another team. Check the setting apns."
    case .methodNotAllowed: "Something changed the request on its way. Check the proxy."
    case .expiredToken: "The phone's token has expired. The app must register again."
    case .unregistered: "The app was removed from the phone, or its notifications were switched off."
    case .tooManyProviderTokenUpdates: "Apple got too many new tokens of the key. It is tried again later."
    case .tooManyRequests: "Apple got too many pushes for this phone. It is tried again later."
    case .idleTimeout, .internalServerError, .serviceUnavailable, .shutdown:
      "Apple's server had a problem. It is tried again later."
    }
  }
}

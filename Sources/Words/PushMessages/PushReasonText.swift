// SPDX-License-Identifier: Apache-2.0

/// The meanings of APNs's reasons, in words for the people of a shop. `docs/push.md` has the same words.
public enum PushReasonText {
  /// The row for a reason of APNs in the table of `docs/push.md`.
  public struct Row: Sendable, Hashable {
    /// The status with which Apple documents the reason.
    public let status: Int
    public let reason: String
    /// The action of the service, such as `token suspect`. `docs/push.md` explains each action.
    public let measure: String
    /// The reason for the action, without a full stop.
    public let why: String
    /// The meaning of APNs's reason, in sentences.
    public let meaning: String
    /// The remedy; nil if nobody needs to do anything.
    public let remedy: Remedy?

    /// The meaning and the remedy, for a push that the service sends.
    public var text: String { remedy.map { "\(meaning) \($0.text)" } ?? meaning }
  }

  /// The remedy for a reason, for a person or for the service.
  public enum Remedy: Sendable, Hashable {
    /// A part of the setting `apns` is wrong, or does not match the other parts.
    case checkSetting(SettingPart)
    case checkServer, checkClock, checkProxy
    case checkEnvironmentAndRegister, checkBundleIDAndRegister, register
    case triedAgain

    public enum SettingPart: Sendable, Hashable {
      case bundleID
      /// The key with its id and its team.
      case key
      case keyOrBundleID, keyOrEnvironment
    }

    /// The remedy for a push that the service sends.
    public var text: String {
      switch self {
      case .checkSetting: "Check the setting 'apns'."
      case .checkServer: "Check the server in the setting 'apns'."
      case .checkClock: "Check the clock of this machine."
      case .checkProxy: "Check the proxy."
      case .checkEnvironmentAndRegister: "Check the environment, and register again."
      case .checkBundleIDAndRegister: "Check the bundle id, and register again."
      case .register: "The app must register again."
      case .triedAgain: "The push is tried again later."
      }
    }
  }

  /// Returns the row of a reason; nil for a reason that Apple does not document.
  public static func row(of reason: String) -> Row? { PushRefusal(rawValue: reason).map(row) }

  static func row(of refusal: PushRefusal) -> Row {
    Row(
      status: refusal.status, reason: refusal.rawValue, measure: refusal.measure.name, why: why(refusal),
      meaning: words(for: refusal).meaning, remedy: words(for: refusal).remedy)
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
    case .badEnvironmentKeyInToken: "the same as BadEnvironmentKeyIDInToken, as APNs was seen to spell it"
    case .expiredProviderToken: "the token is older than an hour, or a clock is wrong"
    case .forbidden: "the key may not send to this app"
    case .invalidProviderToken: "the key, its id or the team is wrong"
    case .missingProviderToken: "something removed the token"
    case .unrelatedKeyIDInToken: "the key id belongs to another team"
    case .methodNotAllowed: "Crier only sends POST, so something changes its requests"
    case .expiredToken: "the token has expired"
    case .unregistered: "the app was removed, or its notifications were switched off"
    case .tooManyProviderTokenUpdates: "the current token stays in use, because a new token would be another update"
    case .tooManyRequests: "too many pushes to this device"
    case .idleTimeout: "the connection was idle; another connection is not"
    case .internalServerError: "another attempt may succeed"
    case .serviceUnavailable: "APNs is overloaded"
    case .shutdown: "this server stops; another connection reaches another server"
    }
  }

  /// Returns the meaning and the remedy of a reason, for a push that the service sends; nil for a reason that Apple
  /// does not document.
  public static func text(of reason: String) -> String? { row(of: reason)?.text }

  private static func words(for refusal: PushRefusal) -> (meaning: String, remedy: Remedy?) {
    switch refusal {
    case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .duplicateHeaders, .invalidPushType,
      .missingDeviceToken, .payloadEmpty, .badPath:
      ("Apple refused this push as faulty. The phone is all right.", nil)
    case .payloadTooLarge: ("The push was too large.", nil)
    case .badDeviceToken:
      ("The phone's token is not valid, or belongs to the other environment.", .checkEnvironmentAndRegister)
    case .deviceTokenNotForTopic: ("The phone's token belongs to another app.", .checkBundleIDAndRegister)
    case .badTopic, .missingTopic: ("The bundle id of the app is not valid.", .checkSetting(.bundleID))
    case .topicDisallowed: ("The team of the key does not own the app.", .checkSetting(.keyOrBundleID))
    case .badCertificate, .badCertificateEnvironment: ("Apple expected a certificate.", .checkServer)
    case .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken:
      ("The key is for the other environment.", .checkSetting(.keyOrEnvironment))
    case .expiredProviderToken: ("The provider token is too old.", .checkClock)
    case .forbidden: ("The key may not send to this app.", .checkSetting(.keyOrBundleID))
    case .invalidProviderToken: ("The key, its id or its team is wrong.", .checkSetting(.key))
    case .missingProviderToken: ("The provider token was lost on the way.", .checkProxy)
    case .unrelatedKeyIDInToken: ("The key belongs to another team.", .checkSetting(.key))
    case .methodNotAllowed: ("Something changed the request on its way.", .checkProxy)
    case .expiredToken: ("The phone's token has expired.", .register)
    case .unregistered: ("The app was removed from the phone, or its notifications were switched off.", nil)
    case .tooManyProviderTokenUpdates: ("Apple got too many new provider tokens of the key.", .triedAgain)
    case .tooManyRequests: ("Apple got too many pushes for this phone.", .triedAgain)
    case .idleTimeout, .internalServerError, .serviceUnavailable, .shutdown:
      ("Apple's server had a problem.", .triedAgain)
    }
  }
}

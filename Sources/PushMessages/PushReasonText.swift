// SPDX-License-Identifier: Apache-2.0

/// What the reasons of APNs mean, in words for the people of a shop. `docs/push.md` has the same words.
public enum PushReasonText {
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

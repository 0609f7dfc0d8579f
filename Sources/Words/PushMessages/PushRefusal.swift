// SPDX-License-Identifier: Apache-2.0

/// The reasons of a refusal that Apple documents in "Handling notification responses from APNs", and Crier's action for
/// each.
enum PushRefusal: String, CaseIterable {
  // 400
  case badCollapseID = "BadCollapseId"
  case badDeviceToken = "BadDeviceToken"
  case badExpirationDate = "BadExpirationDate"
  case badMessageID = "BadMessageId"
  case badPriority = "BadPriority"
  case badTopic = "BadTopic"
  case deviceTokenNotForTopic = "DeviceTokenNotForTopic"
  case duplicateHeaders = "DuplicateHeaders"
  case idleTimeout = "IdleTimeout"
  case invalidPushType = "InvalidPushType"
  case missingDeviceToken = "MissingDeviceToken"
  case missingTopic = "MissingTopic"
  case payloadEmpty = "PayloadEmpty"
  case topicDisallowed = "TopicDisallowed"
  // 403
  case badCertificate = "BadCertificate"
  case badCertificateEnvironment = "BadCertificateEnvironment"
  case badEnvironmentKeyIDInToken = "BadEnvironmentKeyIdInToken"
  /// The reason ``badEnvironmentKeyIDInToken``, spelled as in the answers of APNs.
  case badEnvironmentKeyInToken = "BadEnvironmentKeyInToken"
  case expiredProviderToken = "ExpiredProviderToken"
  case forbidden = "Forbidden"
  case invalidProviderToken = "InvalidProviderToken"
  case missingProviderToken = "MissingProviderToken"
  case unrelatedKeyIDInToken = "UnrelatedKeyIdInToken"
  // 404, 405
  case badPath = "BadPath"
  case methodNotAllowed = "MethodNotAllowed"
  // 410
  case expiredToken = "ExpiredToken"
  case unregistered = "Unregistered"
  // 413
  case payloadTooLarge = "PayloadTooLarge"
  // 429
  case tooManyProviderTokenUpdates = "TooManyProviderTokenUpdates"
  case tooManyRequests = "TooManyRequests"
  // 500, 503
  case internalServerError = "InternalServerError"
  case serviceUnavailable = "ServiceUnavailable"
  case shutdown = "Shutdown"

  /// The status with which Apple documents the reason.
  var status: Int {
    switch self {
    case .badCollapseID, .badDeviceToken, .badExpirationDate, .badMessageID, .badPriority, .badTopic,
      .deviceTokenNotForTopic, .duplicateHeaders, .idleTimeout, .invalidPushType, .missingDeviceToken, .missingTopic,
      .payloadEmpty, .topicDisallowed:
      400
    case .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken,
      .expiredProviderToken, .forbidden, .invalidProviderToken, .missingProviderToken, .unrelatedKeyIDInToken:
      403
    case .badPath: 404
    case .methodNotAllowed: 405
    case .expiredToken, .unregistered: 410
    case .payloadTooLarge: 413
    case .tooManyProviderTokenUpdates, .tooManyRequests: 429
    case .internalServerError: 500
    case .serviceUnavailable, .shutdown: 503
    }
  }

  /// The kinds of ``PushConsequence``, without the values from the answer.
  enum Measure: Hashable {
    case retry(PushConsequence.Scope)
    case refreshToken, forgetDevice, suspectToken, fail, stopApp

    /// The words of `docs/push.md` for the measure.
    var name: String {
      switch self {
      case .retry(.push): "retry: push"
      case .retry(.device): "retry: device"
      case .retry(.app): "retry: app"
      case .refreshToken: "new token"
      case .forgetDevice: "device gone"
      case .suspectToken: "token suspect"
      case .fail: "failed"
      case .stopApp: "stop app"
      }
    }

    /// The measure for an answer whose reason is missing or not documented.
    init(status: Int) {
      switch status {
      case 400, 413: self = .fail
      case 410: self = .forgetDevice
      case 429: self = .retry(.device)
      case 500: self = .retry(.push)
      // The answer may come from a server that is not APNs, such as a proxy or the server of a wrong setting. An
      // operator must see this, and the pushes must not be lost until then.
      case 401..<500: self = .stopApp
      default: self = .retry(.app)
      }
    }
  }

  var measure: Measure {
    switch self {
    // Each of these reasons concerns only the one push.
    case .badCollapseID, .badExpirationDate, .badMessageID, .badPriority, .duplicateHeaders, .invalidPushType,
      .missingDeviceToken, .payloadEmpty, .badPath, .payloadTooLarge:
      .fail
    // The token is for another environment or another app; or the settings are wrong, and the token is right.
    case .badDeviceToken, .deviceTokenNotForTopic: .suspectToken
    // The topic is made from the app's bundle id, so all pushes to the app have it.
    case .badTopic, .missingTopic, .topicDisallowed: .stopApp
    // The key, the team or the environment is wrong. Crier uses no certificates.
    case .badCertificate, .badCertificateEnvironment, .badEnvironmentKeyIDInToken, .badEnvironmentKeyInToken,
      .forbidden, .invalidProviderToken, .missingProviderToken, .unrelatedKeyIDInToken:
      .stopApp
    // Crier sends nothing but POST, so something between Crier and APNs changes requests.
    case .methodNotAllowed: .stopApp
    case .expiredProviderToken: .refreshToken
    case .expiredToken, .unregistered: .forgetDevice
    case .tooManyRequests: .retry(.device)
    // The current token stays in use, because a new token would be another update.
    case .tooManyProviderTokenUpdates: .retry(.app)
    // Each of these reasons concerns one connection or one attempt.
    case .idleTimeout, .internalServerError, .shutdown: .retry(.push)
    case .serviceUnavailable: .retry(.app)
    }
  }
}

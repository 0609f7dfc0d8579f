// SPDX-License-Identifier: Apache-2.0

/// The kinds of pushes that Crier sends, with the value of the header field `apns-push-type`.
public enum PushType: String, Sendable, Hashable, CaseIterable {
  /// A notification that the user sees and hears.
  case alert
  /// A push that wakes the app for a moment, without any notification.
  case background
  /// A push that makes the system ask the app's file-provider extension for changes.
  case fileProvider = "fileprovider"

  /// The suffix of the bundle id in the topic of such a push.
  var topicSuffix: String { self == .fileProvider ? ".pushkit.fileprovider" : "" }
}

/// The two environments of APNs. Each has its own device tokens.
public enum PushEnvironment: String, Sendable, Hashable, Codable, CaseIterable {
  /// The environment for apps that Xcode installed.
  case sandbox
  /// The environment for apps from the App Store, TestFlight and enterprise distribution.
  case production

  /// The name of Apple's server.
  public var host: String {
    switch self {
    case .sandbox: "api.sandbox.push.apple.com"
    case .production: "api.push.apple.com"
    }
  }
}

/// The kinds of tokens that a phone has, each for pushes of its own.
public enum PushTokenKind: String, Sendable, Hashable, Codable, CodingKeyRepresentable, CaseIterable {
  /// The token of `didRegisterForRemoteNotificationsWithDeviceToken`, for notifications.
  case alert
  /// The token for background pushes. If a phone does not have this token, background pushes use ``alert``.
  case background
  /// The app's own token for file-provider pushes. It comes from a `PKPushRegistry` of the type `fileProvider`.
  case fileProvider = "fileprovider"
  /// The token of the file-provider extension for file-provider pushes. It comes from the extension's own
  /// `PKPushRegistry`.
  case fileProviderExtension = "fileprovider_extension"
}

/// The bundle id of an app, such as `com.example.shop`.
public struct BundleID: Sendable, Hashable, CustomStringConvertible {
  public let text: String

  /// - Throws: ``PushMessageError`` with `bundleIDInvalid` unless the text has 1 to 155 letters, digits, hyphens and
  ///   periods, as Apple's `CFBundleIdentifier` requires.
  public init(_ text: String) throws(PushMessageError) {
    let isPlain = text.utf8.allSatisfy {
      $0.isDigit || $0.isLetter || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".")
    }
    guard isPlain, (1...155).contains(text.utf8.count), !text.hasPrefix("."), !text.hasSuffix(".") else {
      throw PushMessageError(.bundleIDInvalid, "must have 1 to 155 letters, digits, - and ., such as com.example.shop")
    }
    self.text = text
  }

  /// Returns the topic of pushes of a type to this app.
  public func topic(of type: PushType) -> String { text + type.topicSuffix }

  public var description: String { text }
}

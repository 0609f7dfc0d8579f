// SPDX-License-Identifier: Apache-2.0

/// The values of `apns-push-type` that Apple documents.
enum PushType: String, CaseIterable {
  case alert, background, controls, location, voip, complication, fileprovider, mdm, liveactivity, pushtotalk, widgets

  /// The suffix of this type's topic, after the bundle id. `nil` if the topic is the bundle id itself.
  var suffix: String? {
    switch self {
    case .alert, .background, .mdm: nil
    case .controls: ".push-type.controls"
    case .location: ".location-query"
    case .voip: ".voip"
    case .complication: ".complication"
    case .fileprovider: ".pushkit.fileprovider"
    case .liveactivity: ".push-type.liveactivity"
    case .pushtotalk: ".voip-ptt"
    case .widgets: ".push-type.widgets"
    }
  }

  /// The number of bytes that the payload may have.
  var longestPayload: Int { self == .voip ? 5_120 : 4_096 }

  /// Returns the bundle id of a topic, and the type that the topic's suffix belongs to.
  static func divide(topic: String) -> (app: String, type: PushType?) {
    for type in allCases {
      if let suffix = type.suffix, topic.hasSuffix(suffix) { return (String(topic.dropLast(suffix.count)), type) }
    }
    return (topic, nil)
  }

  /// Whether a topic of the given type is right for this type.
  func fits(topicOf type: PushType?) -> Bool { suffix == nil ? type == nil : type == self }
}

// SPDX-License-Identifier: Apache-2.0

public import ArgumentParser
public import SoundOutputs

/// The settings for a loudspeaker that sleeps while it gets no sound.
struct SinkSettings: Sendable, Hashable {
  /// The length of the lead-in before the first sound, in ms.
  var leadIn = 0
  var sound = Waking.Sound.silence
  var keepAwake = KeepAwake.standard

  static let leadIns = 0...Waking.longestLeadIn

  var waking: Waking {
    var waking = Waking()
    (waking.leadInMilliseconds, waking.sound) = (leadIn, sound)
    waking.keepsAwake = keepAwake != .standard
    return waking
  }
}

/// The time for which the device stays open without a sound.
enum KeepAwake: Sendable, Hashable, CustomStringConvertible, ExpressibleByArgument {
  case seconds(Int)
  case always

  static let standard = KeepAwake.seconds(2)
  static let rule = "give 1 to 86400 seconds, or always"

  init?(_ text: String) {
    if text == "always" {
      self = .always
    } else if let seconds = Int(text), (1...86_400).contains(seconds) {
      self = .seconds(seconds)
    } else {
      return nil
    }
  }

  init?(argument: String) { self.init(argument) }

  /// The time in ms; nil for a device that stays open.
  var milliseconds: Int64? {
    switch self {
    case .seconds(let seconds): Int64(seconds) * 1000
    case .always: nil
    }
  }

  var description: String {
    switch self {
    case .seconds(let seconds): "\(seconds)"
    case .always: "always"
    }
  }
}

extension Waking.Sound: ExpressibleByArgument {}

// SPDX-License-Identifier: Apache-2.0

import Announcements

/// The ways to shorten an announcement to less than 30.0 s, in the order in which they are tried. The type only
/// calculates with values; the renderer calls the engine.
struct Shortenings {
  /// The limit for the duration of a clip, in ms. A clip must be shorter, because the system replaces a sound of 30.0 s
  /// with the default sound (Apple, UNNotificationSound).
  static let limitMilliseconds = 30_000

  /// The fastest rate at which speech is still understood, in per cent of the normal rate.
  static let fastestPercent = 125

  /// The margin below the limit for choosing a rate, in ms. It is needed because the duration of the engine's speech is
  /// not exactly proportional to its rate.
  static let marginMilliseconds = 500

  struct Attempt: Equatable {
    var taken: [ScriptWriter.Shortening]

    /// The rate of an attempt: the normal rate, a rate that is just fast enough, or the fastest rate.
    enum Pace: String, Equatable { case normal, justEnough = "just_enough", fastest }
    var pace: Pace
  }

  /// - Parameter script: The whole script. A step that would remove nothing from the script is not tried.
  static func attempts(for announcement: Announcement, script: Script) -> [Attempt] {
    var taken: [ScriptWriter.Shortening] = []
    var attempts = [Attempt(taken: taken, pace: .normal)]
    for (step, role) in [(ScriptWriter.Shortening.note, Script.Role.note), (.payer, .payer)] where script.says(role) {
      taken.append(step)
      attempts.append(Attempt(taken: taken, pace: .normal))
    }
    attempts.append(Attempt(taken: taken + [.rate], pace: .justEnough))
    attempts.append(Attempt(taken: taken + [.rate], pace: .fastest))
    if case .payment = announcement { attempts.append(Attempt(taken: taken + [.amountOnly], pace: .normal)) }
    return attempts
  }

  /// Returns the rate of an attempt in words per minute.
  ///
  /// - Parameter milliseconds: The duration of the same words at `rate`; `nil` if it is unknown.
  /// - Returns: The rate; `nil` if even the fastest rate is too slow.
  static func rate(for pace: Attempt.Pace, rate: Int, milliseconds: Int?) -> Int? {
    let fastest = min(RenderOptions.rates.upperBound, rate * fastestPercent / 100)
    guard pace != .normal else { return rate }
    guard let milliseconds else { return nil }
    let room = limitMilliseconds - marginMilliseconds
    let needed = (rate * milliseconds + room - 1) / room
    switch pace {
    case .normal: return rate
    case .justEnough: return needed <= fastest ? needed : nil
    case .fastest: return needed <= fastest * 105 / 100 ? fastest : nil
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Announcements

/// Which ways to say an announcement are tried, from the whole to the shortest, so that it ends in less than 30.0 s.
/// A pure value: it holds the order, the renderer the engine.
struct Shortenings {
  /// A sound of 30.0 s is replaced by the default one (Apple, UNNotificationSound): a clip has fewer frames than this.
  static let limitMilliseconds = 30_000

  /// Speech up to this much faster is still understood: hundredths of the rate.
  static let fastestPercent = 125

  /// Left unused below the limit when a rate is chosen, in ms: the engine does not speed up quite in proportion.
  static let marginMilliseconds = 500

  struct Attempt: Equatable {
    var taken: [ScriptWriter.Shortening]

    /// Whether the rate is to be raised, to just what is needed or to the fastest.
    enum Pace: String, Equatable { case normal, justEnough = "just_enough", fastest }
    var pace: Pace
  }

  /// - Parameter script: the whole script; a step that would leave nothing out is not an attempt.
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

  /// Words a minute for an attempt.
  /// - Parameter milliseconds: how long the same words took at `rate`; `nil` when that is not known.
  /// - Returns: `nil` when no rate up to the fastest can be enough.
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

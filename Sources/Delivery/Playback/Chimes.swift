// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Waveforms

/// The chimes that are played before announcements, mastered to the loudness of announcements. One chime is for all
/// announcements. A kind of payment can have its own chime, so that a listener does not take a refund for income before
/// the words begin.
public struct Chimes: Sendable, Hashable {
  /// The chime of one kind of payment, which replaces the chime of all announcements.
  public enum Own: Sendable, Hashable {
    /// No chime.
    case none
    case sound(Waveform)
  }

  /// The chime of all announcements whose kind has no chime of its own; nil for no chime.
  public var all: Waveform?
  public var own: [Payment.Kind: Own]

  public init(all: Waveform? = nil, own: [Payment.Kind: Own] = [:]) {
    (self.all, self.own) = (all, own)
  }

  /// Returns the chime that is played before an announcement; nil for none.
  ///
  /// - Parameter kind: The kind of the payment; nil for an announcement that is not a payment, such as text.
  public func chime(of kind: Payment.Kind?) -> Waveform? {
    switch kind.flatMap({ own[$0] }) {
    case nil: all
    case Own.none?: nil
    case .sound(let chime)?: chime
    }
  }
}

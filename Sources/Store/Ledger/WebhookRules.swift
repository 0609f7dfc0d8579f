// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
package import WebhookMessages

extension WebhookEvent.Kind {
  /// The event for the end of an announcement; nil if its account gets no message. A cancellation is not an event for
  /// webhooks: the account or the shop has asked for it.
  init?(endOf state: Ledger.State) {
    switch state {
    case .played: self = .played
    case .failed: self = .failed
    case .expired: self = .expired
    case .quiet: self = .quiet
    case .accepted, .rendering, .waiting, .playing, .cancelled: return nil
    }
  }

  /// The event for the end of a push; nil if it has not ended.
  init?(endOf state: Ledger.Push.State) {
    switch state {
    case .delivered: self = .pushed
    case .failed, .unregistered: self = .failed
    case .expired: self = .expired
    case .waiting, .sending: return nil
    }
  }
}

// Times are milliseconds since 1970.
extension WebhookEvent {
  /// The event for a stored answer; nil if its account gets no message.
  package init?(storing new: NewAnswer, at: Int64) {
    guard let detail = new.rendered else { return nil }
    self.init(
      new.decision?.kind == "pending" ? .pending : .rendered, at: Date(wholeMilliseconds: at), announcement: new.id,
      delivery: .clip, detail: detail)
  }

  /// The event for the end of an announcement; nil if its account gets no message.
  package init?(endOf id: String, as state: Ledger.State, _ detail: [String: String], at: Int64) {
    guard let kind = Kind(endOf: state) else { return nil }
    self.init(kind, at: Date(wholeMilliseconds: at), announcement: id, delivery: .play, detail: detail)
  }

  /// The event for the end of a push; nil if it has not ended, or if it announces nothing.
  package init?(endOfPush row: some StoredRow) throws {
    let state: Ledger.Push.State = try row.name("state")
    guard let kind = Kind(endOf: state), let announcement = try row.text("announcement") else { return nil }
    var detail: [String: String] = ["device": try row.value("device"), "state": state.rawValue]
    detail["reason"] = try row.text("reason")
    self.init(
      kind, at: try row.value("finished_at"), announcement: announcement, delivery: .push, detail: detail)
  }

  /// The event for the beginning or the end of an alarm.
  package init(_ alarm: Kind, hasBegun: Bool, _ detail: [String: String], at: Int64) {
    self.init(
      alarm, at: Date(wholeMilliseconds: at), detail: detail.merging(["state": hasBegun ? "began" : "ended"]) { $1 })
  }
}

extension Set<WebhookEvent.Kind> {
  /// Reads the types of an endpoint. A type that this version does not know is left out.
  package init(webhookKinds text: String) {
    self = Set(text.split(separator: " ").compactMap { WebhookEvent.Kind(rawValue: String($0)) })
  }

  /// The types as a ledger stores them.
  package var webhookKinds: String { map(\.rawValue).sorted().joined(separator: " ") }
}

extension WebhookEvent.Format {
  /// Reads the format of an endpoint. A newer version may have stored a format that this version does not know. Such an
  /// endpoint gets the latest format that this version knows.
  package init(webhookFormat number: Int) { self = Self(rawValue: number) ?? .typed }
}

extension Ledger.WebhookAttempt {
  /// The changes of a message and its endpoint after an attempt. All times are milliseconds since 1970.
  package struct Verdict: Sendable, Hashable {
    /// The message's state now.
    package let state: Ledger.Webhook.State
    /// The reason why the endpoint is disabled; nil if it is not.
    package let disabled: Ledger.WebhookEndpoint.DisabledReason?
    package let startedAt: Int64
    /// The time of the message's first attempt.
    package let firstAttemptAt: Int64
    /// The time since which every attempt to the endpoint has failed; nil if this one succeeded.
    package let failingSince: Int64?
  }

  /// Returns the changes of the message and its endpoint after the attempt.
  ///
  /// - Parameters:
  ///   - at: The present time in milliseconds since 1970, like the other times.
  ///   - firstAttemptAt: The time of the message's first attempt; nil if this is the first.
  ///   - deliveredAt: The time of the endpoint's latest delivery; nil before the first.
  ///   - failingSince: The time since which every attempt to the endpoint has failed; nil if the latest one succeeded.
  package func verdict(
    at: Int64, firstAttemptAt: Int64?, deliveredAt: Int64?, failingSince: Int64?
  ) -> Verdict {
    let started = startedAt.wholeMilliseconds ?? at
    let first = isFirst ? started : firstAttemptAt ?? started
    // An old message may have failed before the endpoint's latest delivery. The endpoint has been failing only since
    // that delivery.
    let failing = isFirst ? started : failingSince ?? max(first, deliveredAt ?? first)
    let isTooLong = at - failing >= Int64(patience * 1000)
    let end: (state: Ledger.Webhook.State, disabled: Ledger.WebhookEndpoint.DisabledReason?)
    switch outcome.consequence {
    case .end: end = (.delivered, nil)
    case .disable: end = (.failed, .gone)
    // A failing endpoint is disabled only by the last attempt of a message, so that every message is tried for the
    // same time.
    case .retry where nextAt == nil: end = (.expired, isTooLong ? .failing : nil)
    case .retry: end = (.waiting, nil)
    }
    return Verdict(
      state: end.state, disabled: end.disabled, startedAt: started, firstAttemptAt: first,
      failingSince: end.state == .delivered ? nil : failing)
  }
}

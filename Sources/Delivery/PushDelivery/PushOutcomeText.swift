// SPDX-License-Identifier: Apache-2.0

public import Ledger
import PushMessages

/// The outcome of a push, in words for the people who work in a shop.
public enum PushOutcomeText {
  /// - Parameter reason: The reason that APNs or the sender gave; nil if there is none.
  public static func text(of state: Ledger.Push.State, reason: String?) -> String {
    if state == .delivered { return "Apple accepted the push. Apple does not say whether the phone received it." }
    guard let reason else { return "The push expired before it could be sent." }
    if let text = PushReasonText.text(of: reason) { return text }
    if let own = ownReasons.first(where: { $0.reason == reason }) { return own.text }
    return "Apple, or a server in its place, answered with \(reason), which is not documented."
  }

  /// A reason of Crier itself and not of APNs: a row of the second table in `docs/push.md`.
  public struct OwnReason: Sendable, Hashable {
    public let reason: String
    /// The way in which a push in the outbox ends for this reason.
    public let ending: Ending
    /// What the reason means and what to do, in sentences.
    public let text: String

    public enum Ending: String, Sendable {
      case unregistered, failed
      /// The push is tried again until it expires. An expired push keeps the reason.
      case waiting = "waiting, then expired"
    }
  }

  /// All reasons that are Crier's own.
  public static let ownReasons: [OwnReason] =
    [
      OwnReason(
        reason: PushSender.noToken, ending: .unregistered,
        text: "The phone has no token. Its app must register for notifications."),
      OwnReason(
        reason: PushSender.notConfigured, ending: .waiting,
        text: "The setting 'apns' does not contain the phone's app and environment."),
    ]
    + PushTransportError.Code.allCases.map {
      OwnReason(reason: $0.rawValue, ending: .waiting, text: text(of: $0))
    }
    + PushRequest.faults.map { OwnReason(reason: $0.rawValue, ending: .failed, text: text(of: $0)) }

  private static func text(of code: PushMessageError.Code) -> String {
    switch code {
    case .bundleIDInvalid: "The bundle id of the app is not valid. Register the phone again."
    case .deviceTokenInvalid: "The phone's token is not valid. The app must register again."
    case .messageTooLarge: "The push was too large."
    default: "The push was faulty, so it was not sent."
    }
  }

  private static func text(of code: PushTransportError.Code) -> String {
    switch code {
    case .cannotConnect: "Apple's server could not be reached. Check the network and the firewall."
    case .certificateRefused: "The certificate of Apple's server is not trusted. Check the network, and the clock."
    case .notHTTP2:
      "The server does not speak HTTP/2, so it is not Apple's push service. Check the setting 'apns', and the proxy."
    case .notProcessed, .connectionLost, .closed: "The connection to Apple's server ended before its answer."
    case .timedOut: "Apple's server did not answer in time."
    case .trustRootsUnusable: "The trusted certificates cannot be read. Check the setting 'apns'."
    case .cannotSign: "The key could not sign. Check the key file of the setting 'apns'."
    }
  }
}

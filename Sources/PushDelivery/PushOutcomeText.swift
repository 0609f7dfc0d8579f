// SPDX-License-Identifier: Apache-2.0

public import Ledger
import PushMessages

/// What became of a push, in words for the people of a shop.
public enum PushOutcomeText {
  /// - Parameter reason: What APNs or the sender said; nil when there is nothing to say.
  public static func text(of state: Ledger.Push.State, reason: String?) -> String {
    if state == .delivered { return "Apple accepted the push. Nothing tells whether the phone received it." }
    guard let reason else { return "The push was no longer news before it could be sent." }
    if let text = PushReasonText.text(of: reason) { return text }
    if reason == PushSender.noToken { return "The phone has no token. Its app must register for notifications." }
    if reason == PushSender.notConfigured { return "The setting apns does not name the phone's app and environment." }
    if let code = PushTransportError.Code(rawValue: reason) { return text(of: code) }
    return "Apple, or a server in its place, answered with \(reason), which is not documented."
  }

  private static func text(of code: PushTransportError.Code) -> String {
    switch code {
    case .cannotConnect: "Apple's server could not be reached. Check the network and the firewall."
    case .certificateRefused: "The certificate of Apple's server is not trusted. Check the network, and the clock."
    case .notHTTP2: "The server is not one of Apple's push service. Check the setting apns, and the proxy."
    case .notProcessed, .connectionLost, .closed: "The connection to Apple's server ended before its answer."
    case .timedOut: "Apple's server did not answer in time."
    case .trustRootsUnusable: "The trusted certificates cannot be read. Check the setting apns."
    case .cannotSign: "The key could not sign. Check the key file of the setting apns."
    }
  }
}

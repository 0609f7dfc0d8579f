// SPDX-License-Identifier: Apache-2.0

extension Ledger {
  /// The changes that are stored with a change of state, in the same transaction.
  public struct Change: Sendable, Hashable {
    /// Codes and numbers for the event and the entry, such as `["code": "no_voice"]`; at most 1,000 bytes as JSON. It
    /// must not contain amounts or names.
    public var detail: [String: String]
    /// The file name of the announcement's clip, at most 4,096 bytes; nil keeps the stored name.
    public var clip: String?
    /// The decision about the announcement when its clip was made; nil keeps the stored decision. The first decision is
    /// never replaced.
    public var decision: Decision?
    /// The length of the part that was played, in milliseconds; nil keeps the stored value.
    public var heardMilliseconds: Int?
    /// The lane's last sequence number that was played or skipped. A number lower than the stored one changes nothing.
    public var passing: Int64?
    /// Whether the members of a summary get the same final state as the summary when it is cancelled or fails.
    /// Otherwise the members are to be played individually again.
    public var endsMembers = false
    /// Whether a received payment that ends as `quiet` is to be named in the summary at the end of the quiet hours. If
    /// a summary of payments ends as `quiet`, its payments are to be named then too.
    public var awaitsSummary = false

    public init(
      detail: [String: String] = [:], clip: String? = nil, decision: Decision? = nil, heardMilliseconds: Int? = nil,
      passing: Int64? = nil
    ) {
      self.detail = detail
      self.clip = clip
      self.decision = decision
      self.heardMilliseconds = heardMilliseconds
      self.passing = passing
    }

    /// The change of an announcement because the process that worked on it has ended.
    package static let restart = Change(detail: ["code": "restart"])

    /// The first rule that a value breaks; nil when the change can be stored.
    package var brokenRule: String? {
      if let rule = Ledger.brokenRule(ofDetail: detail) { return rule }
      if !isText(clip, 0...4096) { return "clip (at most 4096 bytes without NUL)" }
      return decision?.brokenRule
    }
  }
}

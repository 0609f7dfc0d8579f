// SPDX-License-Identifier: Apache-2.0

public import Announcements
public import Announcer
public import Ledger

extension Decision {
  /// Creates the decision about an announcement whose clip was made.
  ///
  /// - Parameter group: The app group in whose folder the clip is.
  public init(_ announcement: Announcement, _ report: ClipReport, group: String?) {
    self.init(
      kind: "text", text: report.text, locale: report.locale, method: report.method, voice: report.voice,
      packDigest: report.packDigest, clip: PublishedClip(name: report.clip.name, group: group),
      durationMilliseconds: report.clip.durationMilliseconds, loudnessLUFS: report.loudnessLUFS,
      warnings: report.warnings)
    switch announcement {
    case .payment(let payment):
      kind = payment.kind.rawValue
      amount = Amount(value: payment.amount.decimalText, currency: payment.amount.currency.code)
      (channel, payer, note) = (payment.channel, payment.payer, payment.note)
      (occurredAt, sequence, refundOf) = (payment.occurredAt, payment.sequence, payment.refundOf)
    case .summary: kind = "summary"
    case .text, .again: break
    }
  }
}

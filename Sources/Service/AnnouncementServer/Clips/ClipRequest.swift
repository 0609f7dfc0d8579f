// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer

/// The values that determine how a clip sounds and where it is published. The account and the announcement's id are
/// not among them.
struct ClipRequest: Sendable, Hashable {
  var announcement: Announcement
  var options: RenderOptions
  var group: String
  /// The generation of the voice packs; see `Announcer.packGeneration`. Without it, a clip in memory would keep the
  /// voice of a pack that was replaced.
  var packGeneration: Int

  init(_ announcement: Announcement, options: RenderOptions, group: String, packGeneration: Int) {
    if case .payment(var payment) = announcement {
      (payment.id, payment.refundOf, payment.sequence, payment.occurredAt) = (nil, nil, nil, nil)
      self.announcement = .payment(payment)
    } else {
      self.announcement = announcement
    }
    self.options = options
    self.group = group
    self.packGeneration = packGeneration
  }
}

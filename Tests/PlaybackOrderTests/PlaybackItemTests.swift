// SPDX-License-Identifier: Apache-2.0

import PlaybackOrder
import Testing

@Suite struct PlaybackItemTests {
  @Test(
    "an alert or information expires at the time that it has, and never expires without a time",
    arguments: [Int64.min, 0, 9, .max])
  func expiry(_ moment: Int64) {
    for category in [PlaybackItem.Category.alert, .information] {
      #expect(PlaybackItem.a(category, 1, expires: moment).hasExpired(at: moment))
      #expect(PlaybackItem.a(category, 1, expires: moment).hasExpired(at: .max))
      #expect(!PlaybackItem.a(category, 1).hasExpired(at: .max))
      if moment > .min { #expect(!PlaybackItem.a(category, 1, expires: moment).hasExpired(at: moment - 1)) }
    }
  }

  @Test("payments and refunds never expire, even if they have a time")
  func money() {
    for category in [PlaybackItem.Category.payment, .refund] {
      #expect(!PlaybackItem.a(category, 1, expires: 0).hasExpired(at: .max))
    }
  }
}

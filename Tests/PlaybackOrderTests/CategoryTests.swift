// SPDX-License-Identifier: Apache-2.0

import PlaybackOrder
import Testing

@Suite struct CategoryTests {
  @Test("payments and refunds count as money, which never expires and is never interrupted")
  func money() {
    for category in PlaybackItem.Category.allCases {
      #expect(category.isMoney == [.payment, .refund].contains(category))
      #expect(category.mayExpire != category.isMoney)
    }
    #expect(PlaybackItem.Category.allCases.filter(\.mayBeInterrupted) == [.information])
  }

  @Test("the names of the categories are the same in ledgers and payloads")
  func names() {
    #expect(PlaybackItem.Category.allCases.map(\.rawValue) == ["payment", "refund", "alert", "information"])
    #expect(PlaybackItem.Category(rawValue: "Payment") == nil)
    #expect(PlaybackItem.Category(rawValue: "") == nil)
  }
}

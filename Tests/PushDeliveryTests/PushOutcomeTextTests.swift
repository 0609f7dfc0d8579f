// SPDX-License-Identifier: Apache-2.0

import Ledger
import PushDelivery
import Testing

@Suite("What became of a push, in words")
struct PushOutcomeTextTests {
  @Test("every reason of our own has words of its own")
  func reasons() {
    let codes = PushTransportError.Code.allCases.map(\.rawValue) + [PushSender.noToken, PushSender.notConfigured]
    for code in codes {
      let text = PushOutcomeText.text(of: .failed, reason: code)
      #expect(text.hasSuffix(".") && !text.contains(code) && !text.contains("not documented"), "\(code)")
    }
  }

  @Test("a delivery promises nothing about the phone, and an unknown reason is named as it stands")
  func others() {
    #expect(PushOutcomeText.text(of: .delivered, reason: nil).contains("Nothing tells"))
    #expect(PushOutcomeText.text(of: .expired, reason: nil).contains("no longer news"))
    #expect(PushOutcomeText.text(of: .failed, reason: "Status404").contains("Status404"))
    #expect(PushOutcomeText.text(of: .failed, reason: "BadTopic").contains("bundle id"))
  }
}

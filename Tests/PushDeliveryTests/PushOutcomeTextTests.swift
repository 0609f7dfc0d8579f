// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import PushDelivery
import PushMessages
import Testing

@Suite("The outcome of a push in words")
struct PushOutcomeTextTests {
  @Test("every reason for a push's end that Crier itself gives has its own text")
  func reasons() {
    let codes =
      PushTransportError.Code.allCases.map(\.rawValue) + [PushSender.noToken, PushSender.notConfigured]
      + PushRequest.faults.map(\.rawValue)
    #expect(PushOutcomeText.ownReasons.map(\.reason).sorted() == codes.sorted())
    for code in codes {
      let text = PushOutcomeText.text(of: .failed, reason: code)
      #expect(text.hasSuffix(".") && !text.contains(code) && !text.contains("not documented"), "\(code)")
    }
  }

  @Test("docs/push.md has the table of the reasons for a push's end that Crier itself gives")
  func documentation() throws {
    let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/push.md")
    let section = try String(contentsOf: page, encoding: .utf8).components(separatedBy: "\n### ").first {
      $0.hasPrefix("Crier's own reasons\n")
    }
    let rows = try #require(section).split(separator: "\n").compactMap { line -> [String]? in
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      return cells.count == 3 && cells[0].hasPrefix("`") ? cells : nil
    }
    let own = PushOutcomeText.ownReasons.map { ["`\($0.reason)`", $0.ending.rawValue, $0.text] }
    #expect(rows.filter { !$0[0].contains("Status") } == own)
    #expect(rows.contains { $0[0] == "`Status…`" })
  }

  @Test(
    "the text for a delivered push does not promise its arrival on the phone, and an unknown reason stays unchanged")
  func others() {
    #expect(PushOutcomeText.text(of: .delivered, reason: nil).contains("Apple does not say"))
    #expect(PushOutcomeText.text(of: .expired, reason: nil).contains("expired"))
    #expect(PushOutcomeText.text(of: .failed, reason: "Status404").contains("Status404"))
    #expect(PushOutcomeText.text(of: .failed, reason: "BadTopic").contains("bundle id"))
  }
}

// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import TestSupport
import Testing

@Suite("Every character of Unicode")
struct EveryScalarChecks {
  /// The distance of the characters that are read. `make check` reads all characters, and CI a fourth of them.
  private static let step = UInt32(ProcessInfo.processInfo.environment["CRIER_SCALAR_STEP"] ?? "") ?? 1

  @Test(
    "no forbidden character of a name, a note or a text reaches the engine, in any locale",
    arguments: ["en-US", "es-MX", "hi-IN", "ja-JP", "ko-KR", "zh-CN"])
  func nothingForbidden(locale: String) throws {
    let books = try PhraseBooks(directory: Checkout.installation.data.appending(path: "Templates"))
    let writer = try books.writer(for: locale)
    let dollar = try Currency(code: "USD").orThrow("USD is a currency")
    var payment = Payment(amount: try Money(minorUnits: 1250, currency: dollar))
    var faults: [String] = []
    for value in stride(from: 0, through: UInt32(0x10_FFFF), by: UInt32.Stride(Self.step)) {
      guard let scalar = Unicode.Scalar(value), scalar.properties.generalCategory != .unassigned else { continue }
      // The 137,000 private-use characters have the same properties, so two in a hundred represent them.
      if scalar.properties.generalCategory == .privateUse, value % 50 != 0 { continue }
      let text = "ab \(scalar) c\(scalar)d"
      (payment.payer, payment.note) = (text, text)
      for announcement in [Announcement.payment(payment), .text(text, locale: nil)] {
        let script = try writer.script(for: announcement)
        guard let fault = script.runs.lazy.compactMap({ EngineText.fault(in: $0.spelling) }).first else { continue }
        faults.append("U+\(String(value, radix: 16)): \(fault)")
      }
    }
    #expect(faults.isEmpty, "\(faults.count): \(faults.prefix(20))")
  }
}

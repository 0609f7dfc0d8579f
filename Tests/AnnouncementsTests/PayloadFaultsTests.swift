// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@testable import Announcements

@Suite("All faults of a payload")
struct PayloadFaultsTests {
  /// Returns the faults of a request, as `code path`.
  private func faults(_ json: String, strict: Bool = false) -> [String] {
    do throws(AnnouncementError) {
      _ = try PayloadDecoder.request(Data(json.utf8), unknownKeys: strict ? .refuse : .warn)
      return []
    } catch {
      #expect(error.others.allSatisfy { $0.others.isEmpty })
      return ([error] + error.others).map { "\($0.code.rawValue) \($0.subject)" }
    }
  }

  @Test("a payload has a fault for each required key that is missing")
  func missing() {
    #expect(faults(#"{"id":"s1"}"#) == ["field_missing currency", "field_missing amount"])
    #expect(faults("{}") == ["field_missing id", "field_missing currency", "field_missing amount"])
    #expect(
      faults(#"{"payment":{"id":"s1"}}"#) == ["field_missing payment.currency", "field_missing payment.amount"])
  }

  @Test("each key with a wrong value is reported as a fault, and so is each wrong option beside the payment")
  func wrong() {
    let payload = #"""
      {"id":7,"amount":"12.505","currency":"USD","kind":"lost","payer":"","sequence":"4","occurred_at":"yesterday",
       "deliver":[],"rate":7,"device":8}
      """#
    #expect(
      faults(payload) == [
        "field_invalid id", "field_invalid amount", "field_invalid kind", "field_invalid payer",
        "field_invalid sequence", "field_invalid occurred_at", "field_invalid deliver", "field_invalid device",
        "field_invalid rate",
      ])
  }

  @Test("a misspelt key is reported as a fault, and the key that was probably meant is not reported as missing")
  func misspelt() {
    #expect(
      faults(#"{"id":"s1","ammount":"1.00","curency":"USD"}"#) == ["field_unknown ammount", "field_unknown curency"])
    #expect(
      faults(#"{"id":"s1","ammount":"1.00","currency":"USD","kind":"lost"}"#)
        == ["field_unknown ammount", "field_invalid kind"])
  }

  @Test("a payload with a single fault reports only that fault, and a payload without faults reports none")
  func single() {
    #expect(faults(#"{"id":"s1","amount":"1.00"}"#) == ["field_missing currency"])
    #expect(faults(#"{"id":"s1","amount":"1.00","currency":"USD"}"#) == [])
    #expect(faults("[]") == ["payload_malformed payload"])
  }

  @Test("of a thousand faults of a payload, twenty are reported")
  func many() {
    let keys = (0..<1000).map { #""amount\#(UnicodeScalar(0x4E00 + $0)!)":1"# }.joined(separator: ",")
    #expect(faults("{\(keys)}").count == 20)
  }

  @Test("a payload with an invalid text also reports a fault of its options")
  func text() {
    #expect(
      faults(#"{"text":"","locale":7,"deliver":["moon"]}"#)
        .contains("field_invalid deliver"))
  }

  @Test("the descriptions of a payload's faults contain none of the payload's values")
  func secrets() {
    do throws(AnnouncementError) {
      _ = try PayloadDecoder.request(
        Data(#"{"id":"geheim-1","amount":"77.777","currency":"USD","kind":"geheim-2","note":7}"#.utf8))
      Issue.record("The payload was accepted.")
    } catch {
      let texts = ([error] + error.others).map(\.description).joined()
      #expect(!texts.contains("geheim") && !texts.contains("77"))
    }
  }

  // MARK: The payment that a refund pays back

  private func payment(_ more: String) throws -> Payment? {
    let announcement = try PayloadDecoder.decode(
      Data(#"{"id":"r1","amount":"1.00","currency":"USD",\#(more)}"#.utf8))
    if case .payment(let payment) = announcement { return payment }
    return nil
  }

  @Test("a refund may name the payment that it pays back, by any id that a payment can have")
  func refund() throws {
    #expect(try payment(#""kind":"refunded","refund_of":"支付-1/a""#)?.refundOf == "支付-1/a")
    #expect(try payment(#""kind":"refunded""#)?.refundOf == nil)
    #expect(try payment(#""kind":"refunded","refund_of":null"#)?.refundOf == nil)
  }

  @Test(
    "'refund_of' without the kind 'refunded' is a conflict, so that a refund without this kind is not taken for income",
    arguments: [#""refund_of":"p1""#, #""kind":"received","refund_of":"p1""#, #""kind":"failed","refund_of":"p1""#])
  func noRefund(_ more: String) throws {
    #expect { try payment(more) } throws: { ($0 as? AnnouncementError)?.code == .fieldsConflict }
  }

  @Test(
    "an invalid id in 'refund_of' is refused",
    arguments: [#""""#, "7", #""a\u0007""#, #""a\u200b""#, "\"\(String(repeating: "x", count: 129))\""])
  func malformedRefund(_ id: String) throws {
    #expect { try payment(#""kind":"refunded","refund_of":\#(id)"#) } throws: {
      let error = $0 as? AnnouncementError
      return error?.code == .fieldInvalid && error?.subject == "refund_of"
    }
  }

  @Test(
    "a payment gateway's field such as 'refund_id' is ignored with a warning, and not taken for a misspelt 'refund_of'",
    arguments: ["refund_id", "refund_no", "refundId", "refunds"])
  func gateways(_ key: String) throws {
    let payload = #"{"id":"r1","amount":"1.00","currency":"USD","kind":"refunded","\#(key)":"x"}"#
    let decoded = try PayloadDecoder.payload(Data(payload.utf8))
    #expect(decoded.warnings == ["\(key): unknown key, ignored"])
  }
}

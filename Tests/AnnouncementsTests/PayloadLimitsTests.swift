// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

@testable import Announcements

@Suite("The cost of a payload is proportional to its size")
struct PayloadLimitsTests {
  /// Returns one user-perceived character that consists of the given number of scalars.
  private func grapheme(_ scalars: Int) -> String {
    "e" + String(String.UnicodeScalarView(repeatElement("\u{301}", count: scalars - 1)))
  }

  private func fault(_ json: String) -> AnnouncementError? {
    do throws(AnnouncementError) {
      _ = try PayloadDecoder.request(Data(json.utf8))
      return nil
    } catch { return error }
  }

  @Test(
    "the length of a text is measured in Unicode scalars, however many characters a reader sees",
    arguments: [
      ("payer", 80), ("payer_reading", 80), ("note", 200), ("channel", 80), ("id", 128), ("locale", 64), ("kind", 64),
      ("currency", 64), ("occurred_at", 64), ("device", 128), ("voice", 64), ("group", 155),
    ])
  func scalars(field: String, limit: Int) {
    var fields = ["id": "p1", "amount": "1.00", "currency": "USD"]
    for count in [limit + 1, 30_000] {
      fields[field] = grapheme(count)
      let json = "{" + fields.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",") + "}"
      #expect(
        fault(json)?.description == "\(field): is a string of \(count) characters; give at most \(limit) characters.")
    }
    fields[field] = grapheme(limit)
    let json = "{" + fields.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",") + "}"
    #expect(fault(json)?.problem.hasPrefix("is a string of") != true)
  }

  @Test("an alert and a text may have 2,000 Unicode scalars")
  func texts() throws {
    #expect(fault(#"{"text":"\#(grapheme(2_001))"}"#)?.subject == "text")
    #expect(fault(#"{"aps":{"alert":"\#(grapheme(2_001))"}}"#)?.subject == "aps.alert")
    #expect(fault(#"{"aps":{"alert":{"body":"\#(grapheme(2_001))"}}}"#)?.subject == "aps.alert.body")
    #expect(fault(#"{"text":"\#(grapheme(2_000))"}"#) == nil)
  }

  @Test("payload keys are compared by their bytes, and only the beginning of a long key is kept")
  func keys() throws {
    let long = grapheme(15_000)
    guard case .object(let values) = try PayloadParser.value(of: Array(#"{"\#(long)":1,"\#(long)x":2,"a":3}"#.utf8))
    else { throw Missing(what: "an object") }
    #expect(values.keys.allSatisfy { $0.utf8.count <= PayloadParser.longestKey + 4 })
    #expect(fault(#"{"\#(long)":1,"\#(long)":2}"#)?.problem == "occurs twice in one object")
  }

  @Test("more than thirty marks on one letter are removed from a text, as in Unicode's stream-safe format")
  func marks() {
    let text = FoldedText("Ya" + grapheme(2_000) + "b" + grapheme(20))
    #expect(text.scalars.count <= 2 + 31 + 1 + 20)
    #expect(text.scalars.contains("b"))
    let plain = "Zürich ज़िंदगी 한국 é̂ ยินดี"
    #expect(String(String.UnicodeScalarView(FoldedText(plain).scalars)) == plain.precomposedStringWithCanonicalMapping)
  }

  @Test("symbols that expand to many letters are expanded in a name, and in a text up to its size limit")
  func signs() {
    #expect(FoldedText(String(repeating: "\u{FDFA}", count: 80)).scalars.count == 80 * 18)
    #expect(FoldedText(String(repeating: "\u{FDFA}", count: 2_000)).scalars.count < 10_000)
    #expect(FoldedText(String(repeating: "㍿", count: 200)).scalars.count == 800)
  }

  @Test("a web address is found anywhere in a text, and a long word without an address is examined only once")
  func addresses() throws {
    let texts = [
      ("Write to a.b@example.org.", "Write to a dot b at example dot org"),
      ("see:http://shop.example/x?y", "see, shop dot example"),
      ("WWW.Example.com", "WWW dot Example dot com"),
    ]
    for (text, said) in texts {
      #expect(try Books.script(.text(text, locale: nil), "en-US").text.hasPrefix(said), "\(text)")
    }
    let long = String(repeating: "a.", count: 900)
    #expect(try !Books.script(.text(long, locale: nil), "en-US").text.contains("dot"))
  }

  // MARK: JSON

  @Test(
    "valid JSON is read: escapes, surrogate pairs, numbers and blanks",
    arguments: [
      (#"{"a":"x\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00"}"#, "x\"\\/\u{8}\u{C}\n\r\tA\u{E9}\u{1F600}"),
      ("{\"a\":\"é\"}", "é"), (#"{"b":[1,-2.5e+3,1E-5],"a":"x"}"#, "x"), (" \t\r\n{ \"a\" : \"\" } \n", ""),
    ])
  func strings(json: String, expected: String) throws {
    guard case .object(let values) = try PayloadParser.value(of: Array(json.utf8)),
      case .string(let text)? = values["a"]
    else { throw Missing(what: "a string") }
    #expect(text == expected)
  }

  @Test(
    "invalid JSON is refused",
    arguments: [
      "", " ", "{", "}", "[", "{]", "[}", "{,}", "{\"a\"}", "{\"a\":}", "{,\"a\":1}", "[,1]", "[1,,]", "{\"a\":1,,}",
      "[1 2]", "{\"a\":1 \"b\":2}",
      "{a:1}", "{'a':1}", "{\"a\":1}x", "{\"a\":1}{}", "tru", "truex", "nul", "NaN", "[01]", "[1.]", "[.5]", "[-]",
      "[1e]", "[+1]", "[1e+]", "[--1]", "[1.2.3]", "[0x10]", "\"a", "\"\\", "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"",
      "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"", "\"a\nb\"", "\"\u{1}\"", "{\"a\":1/*c*/}", "//\n{}",
    ])
  func notJSON(text: String) {
    #expect(throws: AnnouncementError.self) { try PayloadParser.value(of: Array(text.utf8)) }
  }

  @Test("the JSON parser agrees with Foundation on valid and invalid JSON, except for a comma after the last element")
  func likeFoundation() {
    var random = SplitMix64(seed: 11)
    let good = [
      #"{"a":{"b":[1,-2.5,0,true,false,null,"x\u00e9\"\\y"],"c":""},"d":[[],{}],"e":"\ud83d\ude00é"}"#,
      #"{"id":"1","amount":12.5,"currency":"CNY","note":"a\nb","x":[0.1,15,-0]}"#,
    ]
    let signs = Array("{}[]\",:\\/ue0123456789-+.tfn \n\u{1}x".utf8)
    var read = 0
    for round in 0..<20_000 {
      var bytes = Array(good[round % good.count].utf8)
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0...2, using: &random) {
        case 0: bytes[index] = signs.randomElement(using: &random) ?? 0
        case 1: bytes.remove(at: index)
        default: bytes.insert(signs.randomElement(using: &random) ?? 0, at: index)
        }
      }
      let theirs = (try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)) != nil
      do throws(AnnouncementError) {
        _ = try PayloadParser.value(of: bytes)
        read += 1
        #expect(theirs, "\(String(decoding: bytes, as: UTF8.self))")
      } catch {
        // Foundation accepts a repeated key, a number whose digits it cannot keep, and an additional comma.
        let isOurs =
          error.problem.hasPrefix("occurs twice") || error.problem.hasPrefix("contains a number")
          || error.problem.contains("there is a comma before a closing bracket")
        #expect(!theirs || isOurs, "\(String(decoding: bytes, as: UTF8.self))")
      }
    }
    #expect(read > 1_000)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport
import Testing

@Suite("A backend's request is decoded")
struct AnnouncementRequestTests {
  private func request(_ json: String) throws -> AnnouncementRequest { try PayloadDecoder.request(Data(json.utf8)) }

  private func fault(_ json: String) -> AnnouncementError? {
    do throws(AnnouncementError) {
      _ = try PayloadDecoder.request(Data(json.utf8))
      return nil
    } catch { return error }
  }

  /// Returns a payment with additional keys beside it.
  private func payment(_ more: String) -> String { #"{"id":"p1","amount":"1.00","currency":"CNY",\#(more)}"# }

  @Test("a request with only a payment asks for a clip, without options")
  func plain() throws {
    let request = try request(#"{"id":"p1","amount":"1.00","currency":"CNY"}"#)
    #expect(request.id == "p1" && request.deliver == [.clip] && request.device == nil)
    #expect(request.options == .init())
    guard case .payment(let payment) = request.announcement else { throw Missing(what: "a payment") }
    #expect(payment.id == "p1")
  }

  @Test("each option of a request is read as written")
  func options() throws {
    let request = try request(
      payment(
        #""deliver":["play","clip","play"],"device":"d1","method":"sing","voice":"en-us","rate":450,"pack":"p","#
          + #""format":"mp3","encoding":"pcm16","sample_rate":8000,"group":"group.a""#))
    #expect(request.deliver == [.clip, .play] && request.device == "d1")
    let options = request.options
    #expect(options.method == "sing" && options.voice == "en-us" && options.rate == 450 && options.pack == "p")
    #expect(
      options.format == "mp3" && options.encoding == "pcm16" && options.sampleRate == 8_000
        && options.group == "group.a")
  }

  @Test("an option that is null counts as absent, and an option that is empty text is an error")
  func absent() throws {
    let request = try request(payment(#""deliver":null,"device":null,"method":null,"voice":null,"rate":null"#))
    #expect(request.deliver == [.clip] && request.device == nil && request.options == .init())
    for field in ["device", "method", "voice", "pack", "format", "encoding", "group"] {
      for value in ["", "  "] {
        let fault = fault(payment(#""\#(field)":"\#(value)""#))
        #expect(fault?.code == .fieldInvalid && fault?.subject == field)
      }
    }
  }

  @Test("options beside the payment of an APNs payload are read, and options inside the payment are ignored")
  func places() throws {
    let beside = try request(
      #"{"payment":{"id":"p1","amount":"1.00","currency":"CNY","rate":20,"voice":"x"},"voice":"y","deliver":["play"]}"#)
    #expect(beside.options.voice == "y" && beside.options.rate == nil && beside.deliver == [.play] && beside.id == "p1")
    let alert = try request(#"{"aps":{"alert":"Hello"},"id":"a1","format":"caf"}"#)
    let place = "unknown key, ignored; put this option beside payment, at the top level of the request"
    #expect(beside.warnings == ["payment.rate: \(place)", "payment.voice: \(place)"])
    #expect(alert.announcement == .text("Hello", locale: nil) && alert.id == "a1" && alert.options.format == "caf")
  }

  @Test("the warning about an option inside the payment says where the option belongs")
  func misplaced() throws {
    let body = #"{"payment":{"id":"p1","amount":"1.00","currency":"CNY","deliver":["play"],"memo":1}}"#
    #expect(
      try request(body).warnings == [
        "payment.deliver: unknown key, ignored; put this option beside payment, at the top level of the request",
        "payment.memo: unknown key, ignored",
      ])
    let error = #expect(throws: AnnouncementError.self) {
      try PayloadDecoder.request(Data(body.utf8), unknownKeys: .refuse)
    }
    #expect(error?.subject == "payment.deliver")
    #expect(error?.remedy == "put this option beside payment, at the top level of the request")
    // A payload without options, as crier render reads it, has no place for them.
    #expect(try PayloadDecoder.payload(Data(body.utf8)).warnings.first == "payment.deliver: unknown key, ignored")
  }

  @Test("the error for an empty list of deliveries says that the list is empty")
  func noDelivery() {
    #expect(
      fault(payment(#""deliver":[]"#))?.description
        == #"deliver: is an empty array; give an array with one or more of "clip", "play", "push"."#)
  }

  @Test("a text announcement may have a locale and an id, and an id that is not text is an error")
  func text() throws {
    #expect(try request(#"{"text":"Hello","locale":"en-US"}"#).announcement == .text("Hello", locale: "en-US"))
    #expect(try request(#"{"text":"Hello"}"#).id == nil)
    #expect(try request(#"{"text":"Hello","id":"t1"}"#).id == "t1")
    #expect(fault(#"{"text":"Hello","id":7}"#)?.subject == "id")
  }

  @Test(
    "a request's value of the wrong shape is an error that names the field but not the value",
    arguments: [
      (#""deliver":"play""#, "deliver"), (#""deliver":[]"#, "deliver"), (#""deliver":{"play":1}"#, "deliver"),
      (#""deliver":["secret"]"#, "deliver"), (#""deliver":["Play"]"#, "deliver"), (#""deliver":["play",7]"#, "deliver"),
      (#""deliver":[null]"#, "deliver"), (#""device":7"#, "device"), (#""method":["secret"]"#, "method"),
      (#""voice":true"#, "voice"), (#""rate":"160""#, "rate"), (#""rate":79"#, "rate"), (#""rate":451"#, "rate"),
      (#""rate":-1"#, "rate"), (#""rate":160.5"#, "rate"), (#""rate":99999999999999999999"#, "rate"),
      (#""rate":[]"#, "rate"), (#""pack":{}"#, "pack"), (#""format":1"#, "format"), (#""encoding":false"#, "encoding"),
      (#""sample_rate":7999"#, "sample_rate"), (#""sample_rate":48001"#, "sample_rate"),
      (#""sample_rate":"8000""#, "sample_rate"), (#""sample_rate":8000.5"#, "sample_rate"),
      (#""group":[]"#, "group"),
    ])
  func shapes(more: String, field: String) {
    let fault = fault(payment(more))
    #expect(fault?.code == .fieldInvalid && fault?.subject == field)
    #expect(fault?.description.contains("secret") == false)
  }

  @Test(
    "an option with too many characters is an error that names the field",
    arguments: [
      ("device", 128), ("method", 32), ("voice", 64), ("pack", 64), ("format", 32), ("encoding", 32), ("group", 155),
    ])
  func lengths(field: String, limit: Int) throws {
    #expect(fault(payment(#""\#(field)":"\#(String(repeating: "x", count: limit))""#)) == nil)
    let fault = fault(payment(#""\#(field)":"\#(String(repeating: "x", count: limit + 1))""#))
    #expect(fault?.code == .fieldInvalid && fault?.subject == field)
  }

  @Test("a request that is empty, lacks an id, repeats a key or has both a text and an amount is refused")
  func payload() {
    #expect(fault(#"{"amount":"1.00","currency":"CNY"}"#)?.code == .fieldMissing)
    #expect(fault("")?.code == .payloadMalformed)
    #expect(fault(#"{"text":"a","amount":"1.00"}"#)?.code == .fieldsConflict)
    #expect(fault(payment(#""rate":100,"rate":200"#))?.code == .payloadMalformed)
  }
}

@Suite("A stored request is read again")
struct StoredRequestTests {
  @Test(
    "a stored request is read with the result that it had when it was accepted",
    arguments: [
      #"{"id":"p1","amount":"1.00","currency":"CNY"}"#, "  \n{ \"text\" : \"Hello\\u0041\" }  ",
      #"{"aps":{"alert":"x"},"locale":"ja-JP"}"#, #"{"text":"a","crier:defaults":{"locale":"zh-CN"}}"#,
    ])
  func same(json: String) throws {
    let data = Data(json.utf8)
    #expect(try PayloadDecoder.storedRequest(data) == PayloadDecoder.request(data))
  }

  @Test("a request of the largest size is read, and a larger request is refused")
  func largest() throws {
    let start = #"{"text":"a","unknown":""#
    func request(_ count: Int) -> Data {
      Data((start + String(repeating: "x", count: count - start.utf8.count - 2) + "\"}").utf8)
    }
    _ = try PayloadDecoder.storedRequest(request(PayloadDecoder.largestBytes))
    #expect(throws: AnnouncementError.self) { try PayloadDecoder.request(request(PayloadDecoder.largestBytes + 1)) }
    #expect(throws: AnnouncementError.self) { try PayloadDecoder.decode(request(PayloadDecoder.largestBytes + 1)) }
  }

  @Test("an APNs alert is spoken in the locale beside 'aps', and an unknown key of the app causes only a warning")
  func alertLocale() throws {
    let request = try PayloadDecoder.request(
      Data(#"{"aps":{"alert":"收款到账 100.00 元"},"locale":"zh-CN","shop":7}"#.utf8))
    #expect(request.announcement == .text("收款到账 100.00 元", locale: "zh-CN"))
    #expect(request.warnings == ["shop: unknown key, ignored"])
    let without = try PayloadDecoder.request(Data(#"{"aps":{"alert":"Paid"},"locale":null}"#.utf8))
    #expect(without.announcement == .text("Paid", locale: nil))
  }

  @Test("a locale beside 'aps' that is not text is an error, except in a request that is already stored")
  func wrongAlertLocale() throws {
    let data = Data(#"{"aps":{"alert":"Paid"},"locale":7}"#.utf8)
    let error = #expect(throws: AnnouncementError.self) { try PayloadDecoder.request(data) }
    #expect(error?.code == .fieldInvalid && error?.description.hasPrefix("locale:") == true)
    #expect(try PayloadDecoder.storedRequest(data).announcement == .text("Paid", locale: nil))
  }
}

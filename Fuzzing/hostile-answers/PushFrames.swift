// SPDX-License-Identifier: Apache-2.0

/// Frames of HTTP/2 (RFC 9113) that a server may send, and those that it must not send.
enum PushFrames {
  static let data: UInt8 = 0
  static let headers: UInt8 = 1
  static let reset: UInt8 = 3
  static let settings: UInt8 = 4
  static let promise: UInt8 = 5
  static let ping: UInt8 = 6
  static let goAway: UInt8 = 7
  static let windowUpdate: UInt8 = 8
  static let continuation: UInt8 = 9

  static let endStream: UInt8 = 1
  static let endHeaders: UInt8 = 4
  static let padded: UInt8 = 8

  /// An answer to one request.
  struct Answer {
    var bytes: [UInt8]
    /// Whether the client may have ended the connection because of the answer, or may no longer find where frames
    /// begin.
    var breaksRules = false
  }

  static func frame(_ type: UInt8, flags: UInt8 = 0, stream: Int, _ payload: [UInt8]) -> [UInt8] {
    big(payload.count, 3) + [type, flags] + big(stream, 4) + payload
  }

  static func big(_ value: Int, _ length: Int) -> [UInt8] {
    (0..<length).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
  }

  private static func end(_ stream: Int, code: Int = 8) -> [UInt8] { frame(reset, stream: stream, big(code, 4)) }

  /// Returns the frames that the server sends first: nearly always settings that allow requests.
  static func beginning(_ random: inout AnswerRandom) -> [UInt8] {
    if random.once(in: 500) { return random.bytes(random.number(1..<100)) }
    if random.once(in: 50) { return oddSettings(&random) + usualSettings }
    return usualSettings
  }

  /// The usual settings. They allow few streams at a time, because an answer that ends the connection also ends all
  /// other requests on it.
  private static let usualSettings = frame(settings, stream: 0, big(3, 2) + big(8, 4) + big(4, 2) + big(65_535, 4))

  /// Returns a random answer. Nearly all answers follow the rules of HTTP/2, so that one connection serves many
  /// requests.
  static func answer(on stream: Int, _ random: inout AnswerRandom) -> Answer {
    switch random.number(0..<1_000) {
    case 0..<620: return Answer(bytes: response(on: stream, &random))
    case 620..<700:
      let count = random.number(1..<20)
      let flood = (0..<count).flatMap { _ in informational(on: stream, &random) }
      let isFinal = !random.once(in: 4)
      return Answer(bytes: flood + (isFinal ? response(on: stream, &random) : end(stream)))
    case 700..<780:
      let code = random.pick([0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 13, 14, 0x7FFF_FFFF, 0xFFFF_FFFF])
      let part = random.once(in: 2) ? fields(on: stream, ends: false, &random) : []
      return Answer(bytes: part + end(stream, code: code))
    case 780..<820:
      // The answer has trailers, which may leave the stream open, or contain another status.
      let body = frame(data, stream: stream, text(&random))
      let trailers = fields(on: stream, ends: !random.once(in: 4), &random)
      return Answer(bytes: fields(on: stream, ends: false, &random) + body + trailers + end(stream))
    case 820..<860: return Answer(bytes: unrelated(&random) + response(on: stream, &random))
    case 860..<890: return Answer(bytes: oddSettings(&random) + usualSettings + response(on: stream, &random))
    case 890..<910:
      // The end of the stream comes twice, or other frames follow it.
      let late = random.pick([
        fields(on: stream, ends: true, &random), frame(data, flags: endStream, stream: stream, []),
      ])
      return Answer(bytes: response(on: stream, &random) + late, breaksRules: true)
    case 910..<930: return goodbye(on: stream, &random)
    case 930..<931: return Answer(bytes: [])  // Never.
    case 931..<950: return Answer(bytes: random.mutated(response(on: stream, &random)), breaksRules: true)
    case 950..<965: return Answer(bytes: brokenFields(on: stream, &random), breaksRules: true)
    case 965..<985: return Answer(bytes: forbidden(on: stream, &random), breaksRules: true)
    case 985..<990: return Answer(bytes: random.bytes(random.number(1..<200)), breaksRules: true)
    case 990..<995:
      let whole = response(on: stream, &random)
      return Answer(bytes: Array(whole.prefix(random.number(0..<whole.count))), breaksRules: true)
    default:
      let other = random.pick([0, 2, max(0, stream - 2), stream + 2, 0x7FFF_FFFF])
      return Answer(bytes: response(on: other, &random) + end(stream), breaksRules: true)
    }
  }

  // MARK: Whole answers

  private static func response(on stream: Int, _ random: inout AnswerRandom) -> [UInt8] {
    if random.once(in: 3) { return fields(on: stream, ends: true, &random) }
    let body = text(&random)
    var bytes = fields(on: stream, ends: false, &random)
    let parts = random.number(1..<5)
    let length = max(1, body.count / parts)
    var rest = body[...]
    repeat {
      let part = Array(rest.prefix(length))
      rest = rest.dropFirst(length)
      bytes += piece(part, ends: rest.isEmpty, on: stream, &random)
    } while !rest.isEmpty
    return bytes
  }

  private static func piece(_ part: [UInt8], ends: Bool, on stream: Int, _ random: inout AnswerRandom) -> [UInt8] {
    let flags = ends ? endStream : 0
    let empty = random.once(in: 20) ? frame(data, stream: stream, []) : []
    guard random.once(in: 10) else { return empty + frame(data, flags: flags, stream: stream, part) }
    let padding = random.number(0..<256)
    return empty
      + frame(
        data, flags: flags | padded, stream: stream,
        [UInt8(padding)] + part + [UInt8](repeating: 0, count: padding))
  }

  private static func text(_ random: inout AnswerRandom) -> [UInt8] {
    let reasons = [
      "BadDeviceToken", "ExpiredProviderToken", "InvalidProviderToken", "Unregistered", "TooManyRequests",
      "PayloadEmpty",
      "InternalServerError", "ServiceUnavailable", "Shutdown", "", "A\\u0000", "12.50",
      String(repeating: "R", count: 65),
    ]
    switch random.number(0..<12) {
    case 0..<5: return Array(#"{"reason":"\#(random.pick(reasons))"}"#.utf8)
    case 5, 6:
      return Array(#"{"reason":"\#(random.pick(reasons))","timestamp":\#(random.numberText())}"#.utf8)
    case 7: return [UInt8](repeating: UInt8(ascii: random.once(in: 2) ? "[" : "{"), count: random.number(1..<4_000))
    case 8: return random.bytes(random.number(0..<300))
    case 9: return [UInt8](repeating: 0x20, count: random.pick([0, 1, 4_095, 4_096, 4_097, 16_384]))
    case 10: return random.mutated(Array(#"{"reason":"Unregistered","timestamp":1790000000000}"#.utf8))
    default: return []
    }
  }

  // MARK: Header fields

  private static let statuses = [
    "200", "200", "200", "200", "200", "200", "200", "200", "200", "200", "400", "403", "403", "410", "410", "429",
    "500",
    "503", "400", "403", "404", "405", "410", "413", "429", "500", "503", "0", "00", "000", "1", "99",
    "099",
    "100", "101", "103", "199", "299", "300", "301", "599", "600", "999", "1000", "65536", "+200", "200 ", " 200",
    "2e2",
    "200.0", "20\u{0}0", "OK",
  ]

  private static func informational(on stream: Int, _ random: inout AnswerRandom) -> [UInt8] {
    let status = random.pick(["100", "101", "102", "103", "199"])
    return frame(headers, flags: endHeaders, stream: stream, literal(":status", status))
  }

  private static func fields(on stream: Int, ends: Bool, _ random: inout AnswerRandom) -> [UInt8] {
    var list: [(String, String)] = []
    if !random.once(in: 50) {
      list.append((":status", random.once(in: 10) ? random.numberText() : random.pick(statuses)))
    }
    if random.once(in: 50) { list.append((":status", random.pick(statuses))) }
    let names = [
      "apns-id", "retry-after", "content-length", "content-type", "date", "apns-unique-id", "connection", "te",
      "transfer-encoding", "Apns-Id", "", ":path", ":status", "x\u{0}", "x y",
    ]
    for _ in 0..<random.number(0..<4) { list.append((random.pick(names), value(&random))) }
    if random.once(in: 10) { random.shuffle(&list) }
    let block = list.flatMap { literal($0.0, $0.1, random.pick([0x00, 0x00, 0x10, 0x40])) }
    let flags = ends ? endStream : 0
    guard random.once(in: 10), block.count > 1 else {
      return frame(headers, flags: flags | endHeaders, stream: stream, block)
    }
    // The block of fields is sent in several frames.
    let cut = random.number(0..<block.count)
    let second = random.number(cut..<block.count)
    return frame(headers, flags: flags, stream: stream, Array(block[..<cut]))
      + frame(continuation, stream: stream, Array(block[cut..<second]))
      + frame(continuation, flags: endHeaders, stream: stream, Array(block[second...]))
  }

  private static func value(_ random: inout AnswerRandom) -> String {
    switch random.number(0..<6) {
    case 0, 1: random.numberText()
    case 2: "eabeae54-14a8-11e5-b60b-1697f925ec7b"
    case 3: String(repeating: "v", count: random.pick([0, 1, 100, 4_000, 12_000]))
    case 4: "\r\nx: y\u{0}"
    default: random.pick(["Wed, 21 Oct 2099 07:28:00 GMT", "chunked", "close", "\u{FFFD}", "application/json"])
    }
  }

  /// Returns a field whose name and value are written literally (RFC 7541, section 6.2).
  ///
  /// - Parameter kind: 0x00, 0x10 or 0x40: not indexed, never indexed, and added to the table.
  private static func literal(_ name: String, _ value: String, _ kind: UInt8 = 0) -> [UInt8] {
    [kind] + string(name) + string(value)
  }

  private static func string(_ text: String) -> [UInt8] { integer(text.utf8.count, bits: 7) + Array(text.utf8) }

  private static func integer(_ value: Int, bits: Int, first: UInt8 = 0) -> [UInt8] {
    let most = 1 << bits - 1
    guard value >= most else { return [first | UInt8(value)] }
    var bytes = [first | UInt8(most)]
    var rest = value - most
    while rest >= 128 {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }

  /// Returns header fields that cannot be decoded.
  private static func brokenFields(on stream: Int, _ random: inout AnswerRandom) -> [UInt8] {
    let status = literal(":status", "200")
    let block: [UInt8] =
      switch random.number(0..<9) {
      case 0: integer(random.pick([0, 62, 100, 1 << 20, 1 << 40]), bits: 7, first: 0x80)
      case 1: [0xFF] + [UInt8](repeating: 0xFF, count: random.number(1..<30))
      case 2: integer(random.pick([4_097, 1 << 20, 1 << 32, 1 << 40]), bits: 5, first: 0x20) + status
      case 3: status + integer(0, bits: 5, first: 0x20)
      case 4: [0x00] + integer(1 << 30, bits: 7) + random.bytes(20)
      case 5: [0x00, 0x80 | 4] + random.bytes(4) + [0x80 | 8] + random.bytes(8)
      case 6: [0x00, 0x84, 0xFF, 0xFF, 0xFF, 0xFF] + status
      case 7: random.bytes(random.number(1..<100))
      default: random.mutated(status + literal("apns-id", "1") + literal("retry-after", "7"))
      }
    return frame(headers, flags: endHeaders | endStream, stream: stream, block) + end(stream)
  }

  // MARK: The connection

  /// Returns frames that a server may send at any time, or that are nearly allowed.
  private static func unrelated(_ random: inout AnswerRandom) -> [UInt8] {
    switch random.number(0..<5) {
    case 0: frame(ping, stream: 0, random.bytes(8))
    case 1: frame(windowUpdate, stream: 0, big(random.number(1..<1_000), 4))
    case 2: frame(UInt8(random.number(10..<256)), flags: UInt8(random.number(0..<256)), stream: 0, random.bytes(20))
    case 3: frame(2, stream: 1, big(0, 4) + [random.bytes(1)[0]])
    default: frame(ping, flags: 1, stream: 0, random.bytes(8))
    }
  }

  private static func oddSettings(_ random: inout AnswerRandom) -> [UInt8] {
    let values = [0, 1, 2, 100, 4_096, 16_384, 65_535, 1 << 24 - 1, 1 << 31 - 1, 1 << 32 - 1]
    let payload = (0..<random.number(0..<6)).flatMap { _ in
      big(random.pick([1, 3, 3, 4, 6, 8, 9, 0xFFFF]), 2) + big(random.pick(values), 4)
    }
    return frame(settings, stream: 0, payload)
  }

  private static func goodbye(on stream: Int, _ random: inout AnswerRandom) -> Answer {
    let last = random.pick([0, 1, max(0, stream - 2), stream, stream + 2, 0x7FFF_FFFF])
    let code = random.pick([0, 0, 1, 2, 11, 0xFFFF_FFFF])
    let farewell = frame(goAway, stream: 0, big(last, 4) + big(code, 4) + random.bytes(random.number(0..<20)))
    let rest = random.once(in: 2) ? response(on: stream, &random) : end(stream, code: 7)
    let again = random.once(in: 4) ? frame(goAway, stream: 0, big(random.number(0..<100), 4) + big(0, 4)) : []
    return Answer(bytes: farewell + rest + again, breaksRules: true)
  }

  /// Returns frames that a server must not send.
  private static func forbidden(on stream: Int, _ random: inout AnswerRandom) -> [UInt8] {
    let status = literal(":status", "200")
    return switch random.number(0..<18) {
    case 0: frame(promise, flags: endHeaders, stream: stream, big(2, 4) + literal(":path", "/"))
    case 1: frame(settings, flags: 1, stream: 0, big(3, 2) + big(1, 4))
    case 2: frame(settings, stream: 0, random.bytes(random.pick([1, 5, 7])))
    case 3: frame(settings, stream: stream, [])
    case 4: frame(settings, stream: 0, big(random.pick([2, 4, 5]), 2) + big(random.pick([2, 1 << 31, 0]), 4))
    case 5: frame(ping, stream: random.pick([0, stream]), random.bytes(random.pick([0, 7, 8, 9])))
    case 6: frame(windowUpdate, stream: random.pick([0, stream]), big(random.pick([0, 1 << 31 - 1]), 4))
    case 7: frame(windowUpdate, stream: stream, random.bytes(random.pick([0, 3, 5])))
    case 8: frame(reset, stream: random.pick([0, 2, stream + 100]), big(8, 4))
    case 9: frame(reset, stream: stream, random.bytes(random.pick([0, 3, 5])))
    case 10: frame(goAway, stream: random.pick([0, stream]), random.bytes(random.pick([0, 7, 8])))
    case 11: frame(continuation, flags: endHeaders, stream: stream, status)
    case 12: frame(headers, stream: stream, status) + frame(data, flags: endStream, stream: stream, [])
    case 13: frame(headers, stream: stream, status) + (0..<200).flatMap { _ in frame(continuation, stream: stream, []) }
    case 14: frame(data, flags: padded, stream: stream, [200, 1, 2])
    case 15: frame(headers, flags: endHeaders | padded, stream: stream, [255] + status)
    case 16: frame(data, flags: endStream, stream: random.pick([0, stream]), random.bytes(3))
    default: big(random.pick([16_385, 1 << 24 - 1]), 3) + [data, 0] + big(stream, 4) + random.bytes(100)
    }
  }
}

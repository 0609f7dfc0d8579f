// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore

/// A message of the Wyoming protocol: a line of JSON, which states the lengths of more JSON and of a payload that
/// follow it (https://github.com/OHF-Voice/wyoming, "Format").
struct WyomingEvent: Sendable {
  var type: String
  var data: Data
  var payload: ByteBuffer

  /// The values of an event that a client of a speech server needs. A value of another type counts as missing.
  struct Data: Sendable, Hashable, Decodable {
    var rate: Int?
    var width: Int?
    var channels: Int?
    /// The programs that speak, in a description.
    var programs: [SpeechServerDescription.Program]?

    init() {}

    private enum Key: String, CodingKey { case rate, width, channels, tts }

    init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: Key.self)
      rate = try? values.decodeIfPresent(Int.self, forKey: .rate)
      width = try? values.decodeIfPresent(Int.self, forKey: .width)
      channels = try? values.decodeIfPresent(Int.self, forKey: .channels)
      programs = try? values.decodeIfPresent([SpeechServerDescription.Program].self, forKey: .tts)
    }

    /// Adds the values of the JSON that follows the line. They replace the values of the line.
    fileprivate mutating func merge(_ other: Data) {
      rate = other.rate ?? rate
      width = other.width ?? width
      channels = other.channels ?? channels
      programs = other.programs ?? programs
    }
  }

  /// Returns the bytes of an event without a payload. `data` is a part of the line, because every version of the
  /// protocol reads it there.
  static func line(_ type: String, _ data: some Encodable) -> ByteBuffer {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    var buffer = ByteBuffer()
    // Texts can always be encoded. An empty line would be an error of the server.
    if let json = try? encoder.encode(EventLine(type: type, data: data)) { buffer.writeBytes(json) }
    buffer.writeInteger(UInt8(ascii: "\n"))
    return buffer
  }
}

/// The line of an event that is sent.
private struct EventLine<Content: Encodable>: Encodable {
  var type: String
  var data: Content
}

/// Divides the bytes of a server into events. It uses no connection.
///
/// Every stated length is checked against the limits, so the limits bound the memory.
struct WyomingEventReader: Sendable {
  private struct Head: Decodable {
    var type: String
    var data: WyomingEvent.Data?
    var data_length: Int?
    var payload_length: Int?
  }

  private enum State {
    case line
    case data(Head, payloadLength: Int, dataLength: Int)
    case payload(WyomingEvent, length: Int)
  }

  private let mostLineBytes: Int
  private let mostBytes: Int
  private var state = State.line
  private var buffer = ByteBuffer()
  /// The number of bytes at the beginning of the buffer in which no end of a line was found.
  private var searched = 0
  private var received = 0

  /// - Parameters:
  ///   - mostLineBytes: The largest length of a line, and of the JSON after it, in bytes.
  ///   - mostBytes: The largest number of bytes of all events together.
  init(mostLineBytes: Int, mostBytes: Int) {
    self.mostLineBytes = mostLineBytes
    self.mostBytes = mostBytes
  }

  /// Adds bytes. Call ``next()`` until it returns nil.
  ///
  /// - Throws: `answerTooLarge`.
  mutating func add(_ bytes: ByteBuffer) throws(SpeechServerError) {
    received += bytes.readableBytes
    guard received <= mostBytes else { throw .tooLarge(mostBytes) }
    buffer.discardReadBytes()
    buffer.writeImmutableBuffer(bytes)
  }

  /// Returns the next complete event; nil if more bytes are needed.
  ///
  /// - Throws: `answerInvalid`, `answerTooLarge`.
  mutating func next() throws(SpeechServerError) -> WyomingEvent? {
    if case .line = state {
      guard let head = try nextHead() else { return nil }
      let data = try Self.length(head.data_length, most: mostLineBytes)
      let payload = try Self.length(head.payload_length, most: mostBytes - received + buffer.readableBytes)
      state = .data(head, payloadLength: payload, dataLength: data)
    }
    if case .data(let head, let payloadLength, let dataLength) = state {
      guard let bytes = buffer.readBytes(length: dataLength) else { return nil }
      var event = WyomingEvent(type: head.type, data: head.data ?? WyomingEvent.Data(), payload: ByteBuffer())
      if !bytes.isEmpty { event.data.merge(try Self.decode(WyomingEvent.Data.self, bytes)) }
      state = .payload(event, length: payloadLength)
    }
    guard case .payload(var event, let length) = state, let payload = buffer.readSlice(length: length) else {
      return nil
    }
    event.payload = payload
    state = .line
    return event
  }

  private mutating func nextHead() throws(SpeechServerError) -> Head? {
    let view = buffer.readableBytesView
    guard let end = view.dropFirst(searched).firstIndex(of: UInt8(ascii: "\n")) else {
      searched = view.count
      guard searched <= mostLineBytes else { throw .tooLarge(mostLineBytes) }
      return nil
    }
    searched = 0
    let length = view.distance(from: view.startIndex, to: end)
    guard length <= mostLineBytes else { throw .tooLarge(mostLineBytes) }
    let line = buffer.readBytes(length: length) ?? []
    buffer.moveReaderIndex(forwardBy: 1)
    return try Self.decode(Head.self, line)
  }

  private static func length(_ stated: Int?, most: Int) throws(SpeechServerError) -> Int {
    let length = stated ?? 0
    guard length >= 0 else { throw .invalid("stated a negative length") }
    guard length <= most else { throw .tooLarge(most) }
    return length
  }

  private static func decode<Value: Decodable>(
    _ type: Value.Type, _ bytes: [UInt8]
  ) throws(SpeechServerError) -> Value {
    do { return try JSONDecoder().decode(type, from: Foundation.Data(bytes)) } catch {
      throw .invalid("sent bytes that are not an event of the Wyoming protocol")
    }
  }
}

extension SpeechServerError {
  static func tooLarge(_ limit: Int) -> SpeechServerError {
    SpeechServerError(
      .answerTooLarge, "sent more than \(limit) bytes where fewer are allowed", remedy: "update or restart the server")
  }
}

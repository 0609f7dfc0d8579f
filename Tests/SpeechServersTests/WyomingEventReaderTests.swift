// SPDX-License-Identifier: Apache-2.0

import NIOCore
import SpeechServerTestSupport
import TestSupport
import Testing
import Waveforms

@testable import SpeechServers

@Suite("The reader of Wyoming events")
struct WyomingEventReaderTests {
  private static func events(_ pieces: [[UInt8]]) throws -> [WyomingEvent] {
    var reader = WyomingEventReader(mostLineBytes: 1_000, mostBytes: 100_000)
    var events: [WyomingEvent] = []
    for piece in pieces {
      try reader.add(ByteBuffer(bytes: piece))
      while let event = try reader.next() { events.append(event) }
    }
    return events
  }

  @Test("Wyoming events are the same, wherever their bytes are divided")
  func divided() throws {
    let payload: [UInt8] = [10, 123, 0, 255, 10]
    let bytes =
      StandInAnswer.event("audio-start", StandInAnswer.format(rate: 16_000))
      + StandInAnswer.event("audio-chunk", payload: payload) + Array(#"{"type":"audio-stop"}"#.utf8) + [10]
    for size in 1...bytes.count {
      let pieces = stride(from: 0, to: bytes.count, by: size).map {
        Array(bytes[$0..<min(bytes.count, $0 + size)])
      }
      let events = try Self.events(pieces)
      #expect(events.map(\.type) == ["audio-start", "audio-chunk", "audio-stop"])
      #expect(events[0].data.rate == 16_000 && Array(events[1].payload.readableBytesView) == payload)
    }
  }

  @Test("the data of a Wyoming event may be in its line or after it, and the data after it takes precedence")
  func data() throws {
    let inLine = #"{"type": "audio-start", "data": {"rate": 8000, "width": 2, "channels": 1}, "data_length": 15}"#
    let event = try #require(try Self.events([Array((inLine + "\n" + #"{"rate": 16000}"#).utf8)]).first)
    #expect(event.data.rate == 16_000 && event.data.width == 2 && event.data.channels == 1)
  }

  @Test("a value of a wrong type in a Wyoming event counts as missing")
  func types() throws {
    let line = #"{"type": "x", "data": {"rate": "fast", "width": 2.5, "channels": null, "tts": 7}}"#
    let event = try #require(try Self.events([Array((line + "\n").utf8)]).first)
    #expect(event.data == WyomingEvent.Data())
  }

  @Test("random bytes, and Wyoming events with random damage, give events or an error, and never trap")
  func random() throws {
    var random = SplitMix64(seed: 3)
    let whole =
      StandInAnswer.event("audio-start", StandInAnswer.format())
      + StandInAnswer.event("audio-chunk", StandInAnswer.format(), payload: [1, 2, 3, 4])
      + StandInAnswer.event("audio-stop")
    var errors = 0
    for round in 0..<3_000 {
      var bytes = whole
      if round.isMultiple(of: 2) {
        bytes = (0..<Int.random(in: 0...300, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      } else {
        for _ in 0...Int.random(in: 0...3, using: &random) {
          bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
      }
      var speaking = WyomingSpeaking(try Self.words.get(), voice: "joe", within: SpeechServerLimits())
      do { _ = try speaking.take(ByteBuffer(bytes: bytes)) } catch {
        errors += 1
        #expect(error.isOfServer)
      }
    }
    #expect(errors > 1_000)
  }

  private static let words = Result { try Fixture.words() }
}

// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Waveforms

/// The exchange that asks a Wyoming server to speak.
struct WyomingSpeaking: SpeechExchange {
  private struct Synthesize: Encodable {
    struct Voice: Encodable { var name: String }
    var text: String
    var voice: Voice
  }

  let question: [ByteBuffer]
  private let limits: SpeechServerLimits
  private var reader: WyomingEventReader
  private var sound: ReceivedSound?
  private(set) var hasSound = false

  init(_ words: ReadBackWords, voice: String, within limits: SpeechServerLimits) {
    question = [
      WyomingEvent.line("synthesize", Synthesize(text: words.text, voice: Synthesize.Voice(name: voice)))
    ]
    self.limits = limits
    reader = WyomingEventReader(mostLineBytes: limits.mostHeaderBytes, mostBytes: limits.mostBytes)
  }

  mutating func take(_ part: ByteBuffer) throws(SpeechServerError) -> Waveform? {
    try reader.add(part)
    while let event = try reader.next() {
      if let answer = try read(event) { return answer }
    }
    return nil
  }

  private mutating func read(_ event: WyomingEvent) throws(SpeechServerError) -> Waveform? {
    switch event.type {
    case "audio-start":
      guard sound == nil else { throw .invalid("began a second sound") }
      sound = ReceivedSound(try format(event.data), within: limits)
    case "audio-chunk":
      guard let format = sound?.format else { throw .invalid("sent samples without a format") }
      let stated = event.data
      guard stated.rate ?? format.rate == format.rate, stated.width ?? format.width == format.width,
        stated.channels ?? format.channels == format.channels
      else { throw .format("samples of another format than it stated", limits) }
      if event.payload.readableBytes > 0 { hasSound = true }
      try sound?.append(event.payload.readableBytesView)
    case "audio-stop":
      guard let sound else { throw .noSound }
      return try sound.waveform()
    case "error": throw .failed()
    // Newer versions of the protocol may send further events.
    default: break
    }
    return nil
  }

  private func format(_ data: WyomingEvent.Data) throws(SpeechServerError) -> PCMFormat {
    guard let rate = data.rate, let width = data.width, let channels = data.channels else {
      throw .invalid("began a sound without its rate, width and channels")
    }
    return try PCMFormat(rate: rate, width: width, channels: channels, within: limits)
  }

  static func addHandlers(to channel: any Channel, within limits: SpeechServerLimits) throws {}
}

/// The exchange that asks a Wyoming server for its voices.
struct WyomingDescribing: SpeechExchange {
  let question = [WyomingEvent.line("describe", [String: String]())]
  let hasSound = true
  private var reader: WyomingEventReader

  init(within limits: SpeechServerLimits) {
    // The description of hundreds of voices takes hundreds of kilobytes.
    reader = WyomingEventReader(mostLineBytes: limits.mostBytes, mostBytes: limits.mostBytes)
  }

  mutating func take(_ part: ByteBuffer) throws(SpeechServerError) -> SpeechServerDescription? {
    try reader.add(part)
    while let event = try reader.next() {
      switch event.type {
      case "info":
        var description = SpeechServerDescription()
        description.programs = event.data.programs ?? []
        return description
      case "error": throw .failed()
      default: break
      }
    }
    return nil
  }

  static func addHandlers(to channel: any Channel, within limits: SpeechServerLimits) throws {}
}

extension SpeechServerError {
  /// The error for a server that reports a failure. Its text may quote the words, so it is not repeated.
  static func failed(status: Int? = nil) -> SpeechServerError {
    SpeechServerError(
      .serverFailed, status.map { "failed with the status \($0)" } ?? "said that it failed",
      remedy: "look into the log of the server", status: status)
  }
}

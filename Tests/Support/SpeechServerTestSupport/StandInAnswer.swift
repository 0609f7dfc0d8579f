// SPDX-License-Identifier: Apache-2.0

/// What a ``StandInSpeechServer`` does after a request, step by step.
public struct StandInAnswer: Sendable {
  public enum Step: Sendable {
    case send([UInt8])
    /// Sends these bytes again and again until the client closes the connection.
    case sendForEver([UInt8])
    /// Keeps the connection open, and sends nothing more.
    case stall
    case close
  }

  public var steps: [Step]

  public init(_ steps: [Step]) { self.steps = steps }

  /// Sends a text and closes the connection.
  public static func text(_ text: String) -> StandInAnswer { StandInAnswer([.send(Array(text.utf8)), .close]) }

  // MARK: Wyoming

  /// Returns an event. The data follows the line, as the protocol's own client writes it.
  public static func event(_ type: String, _ data: String = "{}", payload: [UInt8] = []) -> [UInt8] {
    let length = payload.isEmpty ? "" : #", "payload_length": \#(payload.count)"#
    let line = #"{"type": "\#(type)", "version": "1.10.2", "data_length": \#(data.utf8.count)\#(length)}"#
    return Array("\(line)\n\(data)".utf8) + payload
  }

  public static func format(rate: Int = EncodedSpeech.sampleRate, width: Int = 2, channels: Int = 1) -> String {
    #"{"rate": \#(rate), "width": \#(width), "channels": \#(channels), "timestamp": null}"#
  }

  /// Returns the steps of a sound, in chunks of 1,024 samples as wyoming-piper sends them.
  public static func wyoming(_ samples: [Int16], rate: Int = EncodedSpeech.sampleRate) -> StandInAnswer {
    let format = format(rate: rate)
    var bytes = event("audio-start", format)
    for start in stride(from: 0, to: samples.count, by: 1_024) {
      let chunk = samples[start..<min(samples.count, start + 1_024)]
      bytes += event("audio-chunk", format, payload: self.bytes(of: chunk))
    }
    // A Wyoming server keeps the connection open.
    return StandInAnswer([.send(bytes + event("audio-stop")), .stall])
  }

  /// Returns the description of a server with one program and one voice.
  public static func description(voice: String, version: String = "1.0") -> StandInAnswer {
    let voices = #"[{"name": "\#(voice)", "languages": ["en_US"], "version": "\#(version)"}]"#
    return StandInAnswer([
      .send(event("info", #"{"tts": [{"name": "stand-in", "version": "2", "voices": \#(voices)}]}"#)), .stall,
    ])
  }

  // MARK: HTTP

  /// Returns an answer over HTTP, with the length of its body.
  public static func http(_ status: String = "200 OK", headers: String = "", body: [UInt8]) -> StandInAnswer {
    let head = "HTTP/1.1 \(status)\r\ncontent-length: \(body.count)\r\n\(headers)\r\n"
    return StandInAnswer([.send(Array(head.utf8) + body), .close])
  }

  /// Returns a WAV file with 16-bit samples. The lengths that its header states may be wrong.
  public static func wav(
    _ samples: [Int16], rate: Int = EncodedSpeech.sampleRate, channels: Int = 1, statedBytes: Int? = nil
  ) -> [UInt8] {
    let data = bytes(of: samples[...])
    let stated = statedBytes ?? data.count
    let whole = stated > 0xFFFF_FF00 || stated == 0 ? stated : stated + 36
    return Array("RIFF".utf8) + little(whole, 4) + Array("WAVEfmt ".utf8) + little(16, 4) + little(1, 2)
      + little(channels, 2) + little(rate, 4) + little(rate * 2 * channels, 4) + little(2 * channels, 2) + little(16, 2)
      + Array("data".utf8) + little(stated, 4) + data
  }

  /// Returns samples as bytes, the low byte first.
  public static func bytes(of samples: ArraySlice<Int16>) -> [UInt8] {
    samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
  }

  private static func little(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }
}

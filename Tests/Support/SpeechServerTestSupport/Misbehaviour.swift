// SPDX-License-Identifier: Apache-2.0

public import SpeechServers

/// What a server may do wrong, and the codes of the errors that say so.
public struct Misbehaviour: Sendable, CustomStringConvertible {
  public var description: String
  public var codes: [SpeechServerError.Code]
  public var answer: StandInAnswer

  init(_ name: String, _ codes: SpeechServerError.Code..., answer: StandInAnswer) {
    (description, self.codes, self.answer) = (name, codes, answer)
  }

  init(_ name: String, _ codes: SpeechServerError.Code..., sending bytes: [UInt8]...) {
    (description, self.codes) = (name, codes)
    answer = StandInAnswer([.send(Array(bytes.joined())), .stall])
  }
}

extension Misbehaviour {
  private static let format = StandInAnswer.format()
  private static let start = StandInAnswer.event("audio-start", format)
  private static let stop = StandInAnswer.event("audio-stop")
  private static let samples = StandInAnswer.bytes(of: EncodedSpeech.samples(for: "word")[...])
  private static let chunk = StandInAnswer.event("audio-chunk", format, payload: samples)
  private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
  private static func started(_ format: String) -> [UInt8] { StandInAnswer.event("audio-start", format) }

  public static let overWyoming = [
    Misbehaviour("closes at once", .closedEarly, answer: StandInAnswer([.close])),
    Misbehaviour(
      "closes within a chunk", .closedEarly, answer: StandInAnswer([.send(start + chunk.prefix(700)), .close])),
    Misbehaviour(
      "closes after the chunks, without an end", .closedEarly, answer: StandInAnswer([.send(start + chunk), .close])),
    Misbehaviour(
      "sends an error", .serverFailed, sending: StandInAnswer.event("error", #"{"text": "no such voice"}"#)),
    Misbehaviour(
      "sends an error within the sound", .serverFailed, sending: start, chunk,
      StandInAnswer.event("error", #"{"text": "twelve", "code": "E"}"#)),
    Misbehaviour("sends no sound", .noSound, sending: start, stop),
    Misbehaviour("ends a sound that it did not begin", .noSound, sending: stop),
    Misbehaviour("sends samples without a format", .answerInvalid, sending: chunk),
    Misbehaviour("begins two sounds", .answerInvalid, sending: start, start),
    Misbehaviour("begins without a rate", .answerInvalid, sending: started(#"{"width": 2, "channels": 1}"#)),
    Misbehaviour(
      "states a rate as a text", .answerInvalid, sending: started(#"{"rate": "22050", "width": 2, "channels": 1}"#)),
    Misbehaviour("sends 96,000 Hz", .formatUnsupported, sending: started(StandInAnswer.format(rate: 96_000))),
    Misbehaviour("sends 0 Hz", .formatUnsupported, sending: started(StandInAnswer.format(rate: 0))),
    Misbehaviour("sends a negative rate", .formatUnsupported, sending: started(StandInAnswer.format(rate: -1))),
    Misbehaviour("sends 8 bits", .formatUnsupported, sending: started(StandInAnswer.format(width: 1))),
    Misbehaviour("sends 32 bits", .formatUnsupported, sending: started(StandInAnswer.format(width: 4))),
    Misbehaviour("sends no channel", .formatUnsupported, sending: started(StandInAnswer.format(channels: 0))),
    Misbehaviour("sends 64 channels", .formatUnsupported, sending: started(StandInAnswer.format(channels: 64))),
    Misbehaviour(
      "changes the format within the sound", .formatUnsupported, sending: start,
      StandInAnswer.event("audio-chunk", StandInAnswer.format(rate: 44_100), payload: samples)),
    Misbehaviour(
      "ends within a sample", .lengthMismatch, sending: start,
      StandInAnswer.event("audio-chunk", format, payload: [1, 2, 3]), stop),
    Misbehaviour(
      "states a shorter payload than it sends", .answerInvalid, sending: start,
      bytes(#"{"type": "audio-chunk", "payload_length": 10}"# + "\n"), samples, bytes("\n")),
    Misbehaviour(
      "states a longer payload than it sends", .answerInvalid, .closedEarly,
      answer: StandInAnswer([
        .send(start + bytes(#"{"type": "audio-chunk", "payload_length": \#(samples.count + 30)}"# + "\n")),
        .send(samples + stop + stop), .close,
      ])),
    Misbehaviour(
      "states a payload of a terabyte", .answerTooLarge, sending: start,
      bytes(#"{"type": "audio-chunk", "payload_length": 1099511627776}"# + "\n")),
    Misbehaviour(
      "states a payload of more than 64 bits", .answerInvalid, sending: start,
      bytes(#"{"type": "audio-chunk", "payload_length": 1e300}"# + "\n")),
    Misbehaviour(
      "states a negative payload", .answerInvalid, sending: bytes(#"{"type": "x", "payload_length": -5}"# + "\n")),
    Misbehaviour(
      "states a negative length of data", .answerInvalid, sending: bytes(#"{"type": "x", "data_length": -5}"# + "\n")),
    Misbehaviour(
      "states data of a gigabyte", .answerTooLarge,
      sending: bytes(#"{"type": "x", "data_length": 1073741824}"# + "\n")),
    Misbehaviour(
      "sends a line without an end", .answerTooLarge,
      answer: StandInAnswer([.send(bytes(#"{"type": ""#)), .sendForEver(bytes(String(repeating: "a", count: 4_096)))])
    ),
    Misbehaviour(
      "sends nested JSON without an end", .answerTooLarge, .answerInvalid,
      answer: StandInAnswer([.sendForEver(bytes(String(repeating: #"{"data":"#, count: 512)))])),
    Misbehaviour(
      "sends a line of deeply nested JSON", .answerInvalid,
      sending: bytes(String(repeating: "[", count: 60_000) + "\n")),
    Misbehaviour(
      "sends unknown events without an end", .answerTooLarge,
      answer: StandInAnswer([.sendForEver(StandInAnswer.event("ping"))])),
    Misbehaviour(
      "sends a sound without an end", .soundTooLong, .answerTooLarge,
      answer: StandInAnswer([.send(start), .sendForEver(chunk)])),
    Misbehaviour("sends something else", .answerInvalid, sending: bytes("HTTP/1.1 400 Bad Request\r\n\r\n")),
    Misbehaviour(
      "sends zeros", .answerTooLarge, answer: StandInAnswer([.sendForEver([UInt8](repeating: 0, count: 999))])),
    Misbehaviour("sends an event without a type", .answerInvalid, sending: bytes(#"{"data": {}}"# + "\n")),
    Misbehaviour("sends invalid UTF-8", .answerInvalid, sending: [0x7B, 0x22, 0xFF, 0xFE, 0x22, 0x7D, 0x0A]),
  ]

  private static let wav = StandInAnswer.wav(EncodedSpeech.samples(for: "word"))
  private static func raw(_ text: String, _ body: [UInt8] = []) -> StandInAnswer {
    StandInAnswer([.send(bytes(text) + body), .close])
  }
  private static func http(body: [UInt8]) -> StandInAnswer { .http(body: body) }

  public static let overHTTP =
    [
      Misbehaviour("closes at once", .closedEarly, answer: StandInAnswer([.close])),
      Misbehaviour(
        "closes within the body", .closedEarly, .answerInvalid,
        answer: raw("HTTP/1.1 200 OK\r\ncontent-length: \(wav.count)\r\n\r\n", Array(wav.prefix(900)))),
      Misbehaviour(
        "closes within a chunk", .closedEarly, .answerInvalid,
        answer: raw("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5000\r\n", Array(wav.prefix(900)))),
      Misbehaviour(
        "ends the sound with the connection, and states no length", .lengthMismatch,
        answer: raw(
          "HTTP/1.1 200 OK\r\n\r\n", StandInAnswer.wav(EncodedSpeech.samples(for: "word"), statedBytes: 0xFFFF_FFFF))),
      Misbehaviour("sends an empty body", .noSound, answer: http(body: [])),
      Misbehaviour("sends no content", .noSound, answer: .text("HTTP/1.1 204 No Content\r\n\r\n")),
      Misbehaviour("sends a WAV file without samples", .noSound, answer: http(body: StandInAnswer.wav([]))),
      Misbehaviour(
        "states more samples than it sends", .lengthMismatch,
        answer: http(body: StandInAnswer.wav(EncodedSpeech.samples(for: "word"), statedBytes: 1_000_000))),
      Misbehaviour(
        "states fewer samples than it sends", .answerInvalid,
        answer: http(body: StandInAnswer.wav(EncodedSpeech.samples(for: "word"), statedBytes: 1_000))),
      Misbehaviour("sends half a header", .answerInvalid, answer: http(body: Array(wav.prefix(20)))),
      Misbehaviour("sends JSON", .answerInvalid, answer: http(body: bytes(#"{"error": {"message": "x"}}"#))),
      Misbehaviour("sends MP3", .answerInvalid, answer: http(body: [0xFF, 0xFB, 0x90, 0x64] + samples)),
      Misbehaviour("sends FLAC", .answerInvalid, answer: http(body: bytes("fLaC") + samples)),
      Misbehaviour("sends noise", .answerInvalid, answer: http(body: samples)),
      Misbehaviour(
        "sends a WAV file of 96,000 Hz", .formatUnsupported,
        answer: http(body: StandInAnswer.wav([1, 2, 3], rate: 96_000))),
      Misbehaviour(
        "sends a WAV file of 6 channels", .formatUnsupported,
        answer: http(body: StandInAnswer.wav([1, 2, 3, 4, 5, 6], channels: 6))),
      Misbehaviour(
        "sends a sound of 40 s", .soundTooLong,
        answer: http(body: StandInAnswer.wav([Int16](repeating: 9, count: 40 * 22_050)))),
      Misbehaviour(
        "states a body of a gigabyte", .answerTooLarge,
        answer: StandInAnswer([.send(bytes("HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n")), .stall])),
      Misbehaviour(
        "sends a body without an end", .answerTooLarge,
        answer: StandInAnswer([.send(bytes("HTTP/1.1 200 OK\r\n\r\n")), .sendForEver(wav)])),
      Misbehaviour(
        "sends a head without an end", .answerTooLarge,
        answer: StandInAnswer([
          .send(bytes("HTTP/1.1 200 OK\r\n")), .sendForEver(bytes("x-\(String(repeating: "a", count: 990)): b\r\n")),
        ])),
      Misbehaviour(
        "sends a header field without an end", .answerTooLarge,
        answer: StandInAnswer([
          .send(bytes("HTTP/1.1 200 OK\r\nx: ")), .sendForEver(bytes(String(repeating: "a", count: 990))),
        ])),
      Misbehaviour(
        "sends informational answers without an end", .answerInvalid,
        answer: StandInAnswer([.sendForEver(bytes("HTTP/1.1 100 Continue\r\n\r\n"))])),
      Misbehaviour(
        "switches protocols", .answerInvalid, answer: .text("HTTP/1.1 101 Switching Protocols\r\n\r\n")),
      Misbehaviour("sends another protocol", .answerInvalid, answer: .text("{\"type\": \"info\"}\n")),
      Misbehaviour("sends HTTP/2", .answerInvalid, answer: .text("HTTP/2.0 200 OK\r\n\r\n")),
      Misbehaviour(
        "sends two lengths", .answerInvalid, .closedEarly,
        answer: .text(
          "HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 9\r\n\r\nabc")),
      Misbehaviour(
        "sends a negative length", .answerInvalid,
        answer: .text(
          "HTTP/1.1 200 OK\r\ncontent-length: -3\r\n\r\nabc")),
      Misbehaviour(
        "sends requests elsewhere", .requestRefused,
        answer: .text(
          "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n")),
    ]
    + ["000", "001", "042", "099", "600", "999"].map { status in
      Misbehaviour(
        "sends the status \(status)", .answerInvalid,
        answer: .text("HTTP/1.1 \(status) x\r\ncontent-length: 3\r\n\r\nabc"))
    }
    + [
      ("400", .requestRefused), ("401", .requestRefused), ("404", .requestRefused), ("429", .requestRefused),
      ("500", .serverFailed), ("503", SpeechServerError.Code.serverFailed),
    ].map { status, code in
      Misbehaviour("sends the status \(status)", code, answer: .http("\(status) x", body: bytes("twelve")))
    }
}

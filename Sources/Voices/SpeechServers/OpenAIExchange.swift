// SPDX-License-Identifier: Apache-2.0

import Foundation
import NIOCore
import NIOHTTP1
import Waveforms

/// The answer of an HTTP server, which is read in the only valid order: informational heads, one final head, the body,
/// and the end. Any other order is an error, and so is an invalid status code such as `099`.
struct HTTPAnswer: Sendable {
  private enum State { case head, body, done }

  /// The largest number of informational heads that the client accepts.
  private static let mostInformationalHeads = 8

  private let mostBytes: Int
  private var state = State.head
  private var informationalHeads = 0
  private(set) var body = ByteBuffer()
  /// Whether the head says where the body ends. If it does not, the body ends with the connection, and the last part of
  /// the body may be missing.
  private(set) var endIsKnown = false

  init(mostBytes: Int) { self.mostBytes = mostBytes }

  /// Takes a part of the answer.
  ///
  /// - Returns: Whether the answer is complete.
  /// - Throws: `answerInvalid`, `answerTooLarge`; `requestRefused` or `serverFailed` for a status other than 200. The
  ///   body of such an answer is not read.
  mutating func take(_ part: HTTPClientResponsePart) throws(SpeechServerError) -> Bool {
    switch (state, part) {
    case (.head, .head(let head)): try take(head)
    case (.body, .body(let piece)):
      guard body.readableBytes + piece.readableBytes <= mostBytes else { throw .tooLarge(mostBytes) }
      body.writeImmutableBuffer(piece)
    case (.body, .end):
      state = .done
      return true
    default: throw .invalid("sent an answer that is not valid HTTP")
    }
    return false
  }

  private mutating func take(_ head: HTTPResponseHead) throws(SpeechServerError) {
    let status = Int(head.status.code)
    switch status {
    // Status 101 would confirm an upgrade, but the client never requests one.
    case 100...199 where status != 101 && informationalHeads < Self.mostInformationalHeads:
      informationalHeads += 1
    case 200:
      if let length = head.headers.first(name: "content-length").flatMap({ Int($0) }) {
        guard length <= mostBytes else { throw .tooLarge(mostBytes) }
        endIsKnown = true
      }
      if head.headers[canonicalForm: "transfer-encoding"].contains(where: { $0.lowercased() == "chunked" }) {
        endIsKnown = true
      }
      state = .body
    case 201...299: throw .noSound
    case 300...399: throw Self.refusal(status, "sends requests elsewhere", "give the address to which it sends them")
    case 401, 403: throw Self.refusal(status, "refused the key", "check its key_file")
    case 400...499: throw Self.refusal(status, "refused the request", "check its voice and model, and the address")
    case 500...599: throw .failed(status: status)
    default: throw .invalid("sent an answer that is not valid HTTP")
    }
  }

  private static func refusal(_ status: Int, _ problem: String, _ remedy: String) -> SpeechServerError {
    SpeechServerError(.requestRefused, "\(problem) with the status \(status)", remedy: remedy, status: status)
  }
}

/// The address for requests of the OpenAI protocol, and the API key that they carry.
struct OpenAITarget: Sendable {
  var host: String
  var port: Int
  var path: String
  var isEncrypted: Bool
  var key: String?

  func request(_ method: HTTPMethod, _ resource: String, body: [UInt8] = []) -> [HTTPClientRequestPart] {
    let isUsualPort = port == (isEncrypted ? 443 : 80)
    let written = SpeechServerAddress.written(host)
    var headers = HTTPHeaders([
      ("host", isUsualPort ? written : "\(written):\(port)"), ("user-agent", "crier"), ("connection", "close"),
    ])
    if let key { headers.add(name: "authorization", value: "Bearer \(key)") }
    if !body.isEmpty {
      headers.add(name: "content-type", value: "application/json")
      headers.add(name: "content-length", value: "\(body.count)")
    }
    let head = HTTPRequestHead(version: .http1_1, method: method, uri: path + resource, headers: headers)
    return [.head(head)] + (body.isEmpty ? [] : [.body(.byteBuffer(ByteBuffer(bytes: body)))]) + [.end(nil)]
  }
}

/// The exchange that asks a server of OpenAI's protocol to speak: `POST /audio/speech`
/// (https://platform.openai.com/docs/api-reference/audio/createSpeech).
struct OpenAISpeaking: SpeechExchange {
  private struct Body: Encodable {
    var model: String
    var input: String
    var voice: String
    var response_format: String
    var speed: Double
  }

  let question: [HTTPClientRequestPart]
  private let form: SpeechServer.SoundForm
  private let limits: SpeechServerLimits
  private var answer: HTTPAnswer

  var hasSound: Bool { answer.body.readableBytes > 0 }

  init(_ words: ReadBackWords, by server: SpeechServer, speedPercent: Int, at target: OpenAITarget) {
    let body = Body(
      model: server.model, input: words.text, voice: server.voice,
      response_format: server.soundForm == .wav ? "wav" : "pcm", speed: Double(speedPercent) / 100)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Texts and a finite number can always be encoded. An empty body would be refused by the server.
    question = target.request(.POST, "/audio/speech", body: (try? encoder.encode(body)).map(Array.init) ?? [])
    form = server.soundForm
    limits = server.limits
    answer = HTTPAnswer(mostBytes: limits.mostBytes)
  }

  mutating func take(_ part: HTTPClientResponsePart) throws(SpeechServerError) -> Waveform? {
    guard try answer.take(part) else { return nil }
    let bytes = Array(answer.body.readableBytesView)
    switch form {
    case .wav: return try ReceivedWAV.waveform(bytes, endIsKnown: answer.endIsKnown, within: limits)
    case .pcm(let rate):
      guard !bytes.isEmpty else { throw .noSound }
      guard answer.endIsKnown else { throw .cut }
      // If an error in JSON or a sound file were played as samples, listeners would hear noise.
      let isText =
        [UInt8(ascii: "{"), UInt8(ascii: "[")].contains(bytes[0]) && String(validating: bytes, as: UTF8.self) != nil
      guard !isText, !bytes.starts(with: "RIFF".utf8) else {
        throw .invalid("sent something else than samples")
      }
      var sound = ReceivedSound(try PCMFormat(rate: rate, width: 2, channels: 1, within: limits), within: limits)
      try sound.append(bytes)
      return try sound.waveform()
    }
  }

  static func addHandlers(to channel: any Channel, within limits: SpeechServerLimits) throws {
    try channel.addHTTPHandlers(within: limits)
  }
}

/// The exchange that asks a server of OpenAI's protocol for its models: `GET /models`
/// (https://platform.openai.com/docs/api-reference/models/list).
struct OpenAIDescribing: SpeechExchange {
  private struct Models: Decodable {
    struct Model: Decodable { var id: String }
    var data: [Model]
  }

  let question: [HTTPClientRequestPart]
  let hasSound = true
  private var answer: HTTPAnswer

  init(at target: OpenAITarget, within limits: SpeechServerLimits) {
    question = target.request(.GET, "/models")
    answer = HTTPAnswer(mostBytes: limits.mostBytes)
  }

  mutating func take(_ part: HTTPClientResponsePart) throws(SpeechServerError) -> SpeechServerDescription? {
    guard try answer.take(part) else { return nil }
    guard let models = try? JSONDecoder().decode(Models.self, from: Data(answer.body.readableBytesView)) else {
      throw .invalid("sent a list of models that cannot be read")
    }
    var description = SpeechServerDescription()
    description.models = models.data.map { SpeechServerDescription.shown($0.id) }
    return description
  }

  static func addHandlers(to channel: any Channel, within limits: SpeechServerLimits) throws {
    try channel.addHTTPHandlers(within: limits)
  }
}

extension Channel {
  fileprivate func addHTTPHandlers(within limits: SpeechServerLimits) throws {
    var sizes = NIOHTTPDecoderLimitConfiguration()
    sizes.maxHeaderListSize = limits.mostHeaderBytes
    sizes.maxHeaderFieldSize = min(sizes.maxHeaderFieldSize, limits.mostHeaderBytes)
    let decoder = HTTPResponseDecoder(
      leftOverBytesStrategy: .dropBytes, informationalResponseStrategy: .forward, limitConfiguration: sizes)
    try pipeline.syncOperations.addHandlers(HTTPRequestEncoder(), ByteToMessageHandler(decoder))
  }
}

// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import SoundFiles
import TestSupport
import SpeechServers
import Testing

@testable import AnnouncementServer

@Suite("Speech requests in OpenAI's form")
struct SpeechRequestTests {
  private static func request(
    _ fields: String, writable: [SpokenFormat] = SpokenFormat.allCases
  ) throws -> SpeechRequest {
    try SpeechRequest(Data("{\(fields)}".utf8), writable: writable)
  }

  /// Returns what is spoken for a request of a key with the locale en-US, at a service with the locale de-DE.
  private static func order(
    _ fields: String, key: AnnouncementRequest.Defaults = AnnouncementRequest.Defaults(locale: "en-US"),
    voices: NamedVoices = NamedVoices()
  ) throws -> SpeechOrder {
    try SpeechOrder(
      try request(#""input":"Paid 12.50 dollars","# + fields), defaults: key,
      base: RenderOptions(defaultLocale: "de-DE"), books: try TestService.books.get(), voices: voices)
  }

  private static func locale(_ order: SpeechOrder) -> String? {
    if case .text(_, let locale) = order.announcement { locale } else { "not a text" }
  }

  /// Returns speech servers with these locales, by id.
  private static func servers(_ servers: [(id: String, locales: [String])]) throws -> [String: SpeechServer] {
    let address = try SpeechServerAddress(wyoming: "tcp://127.0.0.1:10200")
    return Dictionary(
      uniqueKeysWithValues: servers.map {
        ($0.id, SpeechServer(id: $0.id, address: address, voice: "voice", locales: $0.locales))
      })
  }

  @Test("the usual request of OpenAI's client gives an MP3 in the default voice")
  func usual() throws {
    let order = try Self.order(
      #""model":"gpt-4o-mini-tts","voice":"alloy","instructions":"Speak gladly.","stream_format":"audio""#)
    #expect(order.announcement == .text("Paid 12.50 dollars", locale: nil))
    #expect(order.options == RenderOptions(defaultLocale: "en-US"))
    let request = try Self.request(#""input":"Hello""#)
    #expect(request.format == .mp3 && request.speed == 1 && request.voice == nil && request.locale == nil)
  }

  @Test(
    "each sound format is chosen by its name, and samples without a header have 24,000 Hz",
    arguments: SpokenFormat.allCases)
  func format(format: SpokenFormat) throws {
    let fields = #""input":"Hello","response_format":"\#(format.rawValue)""#
    #expect(try Self.request(fields).format == format)
    let options = try Self.order(#""response_format":"\#(format.rawValue)""#).options
    #expect(options.sampleRate == (format == .pcm ? 24_000 : RenderOptions.standardSampleRate))
    #expect(options.format == SoundFormat(container: .wav, encoding: .pcm16))
  }

  @Test("a sound format that the service cannot write is refused with the choices, also if it is the default")
  func writable() {
    let faults = ["", #","response_format":"mp3""#, #","response_format":"opus""#].map { field in
      #expect(throws: Problem.self) { try Self.request(#""input":"Hello"\#(field)"#, writable: [.flac, .wav, .pcm]) }
    }
    #expect(
      faults.map { $0?.detail } == [
        "response_format: is missing, and its default mp3 cannot be written here; give one of flac, wav, pcm.",
        "response_format: is not valid; give one of flac, wav, pcm.",
        "response_format: is not valid; give one of flac, wav, pcm.",
      ])
  }

  @Test(
    "a speed multiplies the usual rate in words a minute, within the limits of the engine",
    arguments: [
      ("0.25", 80), ("0.5", 80), ("0.75", 120), ("1.25", 200), ("1.003", 160), ("1.004", 161), ("1.5e0", 240),
      ("2", 320), ("4", 450), ("4.0", 450), ("0.25000000000000000000000000000001", 80),
    ])
  func speed(speed: String, rate: Int) throws {
    #expect(try Self.order(#""speed":\#(speed)"#).options.rate == rate)
    #expect(try Self.order(#""speed":\#(speed),"voice":"nova""#).options.rate == rate)
  }

  @Test(
    "a speed of 1 sets no rate, so that every kind of voice stays possible",
    arguments: ["1", "1.0", "1e0", "10e-1", "null"])
  func usualSpeed(speed: String) throws { #expect(try Self.order(#""speed":\#(speed)"#).options.rate == nil) }

  @Test("a speed multiplies the usual rate of the language that is spoken")
  func speedOfLocale() throws {
    #expect(try Self.order(#""speed":2,"voice":"zh-CN""#).options.rate == 340)
    #expect(try Self.order(#""speed":2,"locale":"zh-CN""#).options.rate == 340)
  }

  @Test(
    "a voice of espeak-ng speaks the API key's locale if the voice can read it, and otherwise its own locale",
    arguments: [
      ("en-us", nil), ("en-gb-x-rp", nil), ("en-us+f3", nil), ("en", nil), ("de", "de-DE"),
      ("cmn-latn-pinyin", "zh-CN"),
      ("id", "id-ID"), ("es", "es-ES"), ("es-419+m1", "es-MX"), ("pt-br", "pt-BR"),
    ] as [(String, String?)])
  func engineVoice(voice: String, locale: String?) throws {
    let order = try Self.order(#""voice":"\#(voice)""#)
    #expect(order.options.voice == voice && Self.locale(order) == locale)
  }

  @Test("the voice 'en' speaks American English if the API key's locale is in another language")
  func english() throws {
    let order = try Self.order(#""voice":"en""#, key: .init(locale: "zh-CN"))
    #expect(order.options.voice == "en" && Self.locale(order) == "en-US")
  }

  @Test("the value of the field 'voice' is searched among the packs, the speech servers and the locales, in this order")
  func others() throws {
    let voices = NamedVoices(
      packs: ["ada": "en-US", "anna": "de-DE", "broken": nil, "twin": "en-US"],
      servers: try Self.servers([("joe", ["en"]), ("kokoro", ["ja-JP", "zh-CN"]), ("twin", ["en-US"])]))
    let named = try ["ada", "anna", "broken", "twin", "joe", "kokoro", "ja-JP", "en_AU"].map {
      try Self.order(#""voice":"\#($0)""#, voices: voices)
    }
    #expect(named.map(\.options.pack) == ["ada", "anna", "broken", "twin", nil, nil, nil, nil])
    #expect(named.map(\.options.voice) == [nil, nil, nil, nil, "joe", "kokoro", nil, nil])
    #expect(named.map(Self.locale) == ["en-US", "de-DE", nil, "en-US", nil, "ja-JP", "ja-JP", "en_AU"])
    // A pack that has the name of one of OpenAI's voices takes precedence.
    let nova = try Self.order(#""voice":"nova""#, voices: NamedVoices(packs: ["nova": "en-US"]))
    #expect(nova.options.pack == "nova")
  }

  @Test("the field 'locale' takes precedence over the locale of the API key and the locale of the voice")
  func locale() throws {
    #expect(Self.locale(try Self.order(#""locale":"fr-FR""#)) == "fr-FR")
    #expect(Self.locale(try Self.order(#""locale":"en-GB","voice":"en-us""#)) == "en-GB")
    #expect(Self.locale(try Self.order(#""locale":"de-DE","voice":"alloy""#)) == "de-DE")
    #expect(Self.locale(try Self.order(#""locale":"de-AT","voice":"de-DE""#)) == "de-AT")
    let voices = NamedVoices(packs: ["anna": "de-DE"], servers: try Self.servers([("joe", ["en-US"])]))
    #expect(Self.locale(try Self.order(#""locale":"en-GB","voice":"anna""#, voices: voices)) == "en-GB")
    #expect(Self.locale(try Self.order(#""locale":"en-GB","voice":"joe""#, voices: voices)) == "en-GB")
  }

  @Test("a request without a locale has the locale of its API key, or else the locale of the service")
  func usualLocale() throws {
    #expect(try Self.order("\"voice\":null").options.defaultLocale == "en-US")
    #expect(try Self.order("\"voice\":null", key: .init()).options.defaultLocale == "de-DE")
    #expect(try Self.order("\"speed\":1", key: .init(pack: "ada")).options.preferredPack == "ada")
  }

  @Test("the field 'voice' may be an object with an id, as OpenAI's API has it for custom voices")
  func object() throws {
    #expect(try Self.order(#""voice":{"id":"en-gb-x-rp"}"#).options.voice == "en-gb-x-rp")
  }

  @Test("a text of 2,000 characters is accepted, a longer one is too long to speak, and 4,097 characters are invalid")
  func length() throws {
    func input(_ count: Int) -> String { #""input":"\#(String(repeating: "あ", count: count))""# }
    #expect(try Self.request(input(2_000)).input.count == 2_000)
    for count in [2_001, 4_096] {
      let error = try #require(throws: AnnouncerError.self) { try Self.request(input(count)) }
      #expect(error.code == .tooLong && error.subject == "input")
    }
    #expect(throws: Problem.self) { try Self.request(input(4_097)) }
  }

  @Test(
    "a wrong field of a speech request is refused, and the error begins with the field's name",
    arguments: [
      (#""voice":"alloy""#, "input", "field_missing"), (#""input":null"#, "input", "field_invalid"),
      (#""input":7"#, "input", "field_invalid"), (#""input":["a"]"#, "input", "field_invalid"),
      (#""input":"a","model":7"#, "model", "field_invalid"), (#""input":"a","voice":7"#, "voice", "field_invalid"),
      (#""input":"a","voice":"""#, "voice", "field_invalid"), (#""input":"a","voice":{}"#, "voice", "field_missing"),
      (#""input":"a","voice":{"id":null}"#, "voice", "field_invalid"),
      (#""input":"a","voice":{"name":"x"}"#, "voice", "field_unknown"),
      (#""input":"a","voice":"\#(String(repeating: "v", count: 65))""#, "voice", "field_invalid"),
      (#""input":"a","response_format":"aac""#, "response_format", "field_invalid"),
      (#""input":"a","response_format":"opus""#, "response_format", "field_invalid"),
      (#""input":"a","response_format":"MP3""#, "response_format", "field_invalid"),
      (#""input":"a","response_format":1"#, "response_format", "field_invalid"),
      (#""input":"a","speed":0.24"#, "speed", "field_invalid"), (#""input":"a","speed":0"#, "speed", "field_invalid"),
      (#""input":"a","speed":-1"#, "speed", "field_invalid"), (#""input":"a","speed":4.01"#, "speed", "field_invalid"),
      (#""input":"a","speed":4.0000000000000000000000000001"#, "speed", "field_invalid"),
      (#""input":"a","speed":1e400"#, "speed", "field_invalid"),
      (#""input":"a","speed":1e-400"#, "speed", "field_invalid"),
      (#""input":"a","speed":"1.5""#, "speed", "field_invalid"),
      (#""input":"a","speed":true"#, "speed", "field_invalid"),
      (#""input":"a","instructions":7"#, "instructions", "field_invalid"),
      (#""input":"a","stream_format":"sse""#, "stream_format", "field_invalid"),
      (#""input":"a","locale":7"#, "locale", "field_invalid"),
      (#""input":"a","locale":"\#(String(repeating: "l", count: 65))""#, "locale", "field_invalid"),
      (#""input":"a","inptu":"b""#, "inptu", "field_unknown"), (#""input":"a","seed":1"#, "seed", "field_unknown"),
    ])
  func wrong(fields: String, key: String, code: String) throws {
    let problem = try #require(throws: Problem.self) { try Self.request(fields) }
    #expect(problem.code == code && problem.detail.hasPrefix(key), "\(problem)")
  }

  @Test("the error for a misspelt field names the field that was probably meant")
  func misspelt() throws {
    let problem = try #require(throws: Problem.self) { try Self.request(#""input":"a","respnse_format":"wav""#) }
    #expect(problem.detail == "respnse_format: is not a key of this call; did you mean response_format?")
  }

  @Test("a speech request whose text has no word is refused", arguments: ["", " ", "\\n\\t"])
  func blank(text: String) throws {
    let error = try #require(throws: AnnouncementError.self) { try Self.request(#""input":"\#(text)""#) }
    #expect(error.code == .nothingToSay && error.subject == "input")
  }

  @Test(
    "a body that is not exactly one valid JSON object is refused", arguments: ["", "{", "[]", "7", #"{"input":"a",}"#])
  func malformed(body: String) {
    #expect(throws: (any Error).self) { try SpeechRequest(Data(body.utf8)) }
  }

  @Test("an unknown voice is refused, and the error says where to find the voices")
  func unknownVoice() throws {
    for voice in ["nobody", "tts-1", "xx-YY", "Ada Lovelace"] {
      let problem = try #require(throws: Problem.self) { try Self.order(#""voice":"\#(voice)""#) }
      #expect(problem.code == "field_invalid")
      #expect(
        problem.detail
          == "voice: is not known here; give a voice of GET /v1/voices, a pack of GET /v1/packs, a locale such as en-US, "
          + "or 'alloy' for the usual voice.")
    }
  }

  @Test("a voice in another locale than the request's is refused, and so is a speed for a pack or a speech server")
  func conflicts() throws {
    let voices = NamedVoices(packs: ["ada": "en-US"], servers: try Self.servers([("joe", ["en-US"])]))
    for fields in [
      #""voice":"ja-JP","locale":"en-US""#, #""voice":"ada","speed":1.5"#, #""voice":"joe","speed":0.75"#,
    ] {
      let problem = try #require(throws: Problem.self) { try Self.order(fields, voices: voices) }
      #expect(problem.code == "fields_conflict", "\(fields)")
    }
    #expect(try Self.order(#""voice":"joe","speed":1.0"#, voices: voices).options.rate == nil)
  }

  @Test("a locale without a phrase book is refused")
  func unknownLocale() throws {
    let error = try #require(throws: AnnouncementError.self) { try Self.order(#""locale":"tlh""#) }
    #expect(error.code == .localeUnknown)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import SpeechServers
import VoicePacks
import Yams

/// An entry of the setting `speech_servers`.
struct SpeechServerSetting: Sendable, Hashable {
  /// The keys of an entry in the settings file.
  enum Key: String, CaseIterable {
    case id, wyoming, openai, voice, model, locales, amounts, names, ca
    case timeout = "timeout_ms"
    case speed = "speed_percent"
    case atOnce = "at_once"
    case keyFile = "key_file"
    case pcmRate = "pcm_rate"
  }

  /// The server, without the files of its key and its certificates.
  private(set) var server: SpeechServer
  /// The path of the file with the key; nil if the server needs none.
  private(set) var keyFile: String?
  /// The path of the certificates that are trusted instead of the system's.
  private(set) var certificates: String?

  /// The fault of an entry, without a full stop.
  struct Fault: Error { var rule: String }

  /// Reads an entry of the settings file.
  ///
  /// - Throws: ``Fault``.
  init(_ node: Node) throws(Fault) {
    guard let mapping = node.mapping else {
      throw Fault(rule: "give a list of entries with id, wyoming or openai, voice and locales")
    }
    var texts: [Key: String] = [:]
    var locales: [String] = []
    for (name, value) in mapping {
      guard let key = name.string.flatMap(Key.init(rawValue:)) else {
        let known = Key.allCases.map(\.rawValue).joined(separator: ", ")
        throw Fault(rule: "\(name.string ?? "a key") is not a key of an entry; use \(known)")
      }
      if key == .locales, let list = value.sequence {
        locales = list.compactMap(\.string)
        guard locales.count == list.count else { throw Fault(rule: "locales: give BCP 47 tags, such as [en-US]") }
        continue
      }
      guard let text = value.string, value.null == nil, !text.isEmpty else {
        throw Fault(rule: "\(key.rawValue): give exactly one value")
      }
      texts[key] = text
    }
    if let locale = texts[.locales] { locales.append(locale) }
    guard let id = texts[.id], PackManifest.isID(id) else {
      throw Fault(rule: "id: give a name of 1 to 64 of A-Z, a-z, 0-9, -, _ and ., such as joe")
    }
    guard let voice = texts[.voice] else { throw Fault(rule: "voice is missing; give the name of one of its voices") }
    guard !locales.isEmpty else { throw Fault(rule: "locales is missing; give what the voice speaks, such as [en-US]") }
    server = SpeechServer(id: id, address: try Self.address(texts), voice: voice, locales: locales)
    if let names = try Self.flag(.names, texts) { server.hearsNames = names }
    server.saysAmounts = try Self.flag(.amounts, texts)
    if let timeout = try Self.number(.timeout, texts, 100...60_000, "ms") {
      server.limits = SpeechServerLimits(whole: .milliseconds(timeout))
    }
    server.mostAtOnce = try Self.number(.atOnce, texts, 1...64, "utterances") ?? server.mostAtOnce
    (keyFile, certificates) = (texts[.keyFile], texts[.ca])
    try readOpenAI(texts)
  }

  private static func address(_ texts: [Key: String]) throws(Fault) -> SpeechServerAddress {
    do throws(SpeechServerError) {
      switch (texts[.wyoming], texts[.openai]) {
      case (let text?, nil): return try SpeechServerAddress(wyoming: text)
      case (nil, let text?): return try SpeechServerAddress(openAI: text)
      default: break
      }
    } catch {
      throw Fault(rule: error.remedy)
    }
    throw Fault(rule: "give either wyoming, such as tcp://127.0.0.1:10200, or openai, such as http://127.0.0.1:8880/v1")
  }

  /// Reads the keys that only OpenAI's protocol has.
  private mutating func readOpenAI(_ texts: [Key: String]) throws(Fault) {
    if texts[.openai] == nil {
      for key in [Key.model, .speed, .keyFile, .pcmRate, .ca] where texts[key] != nil {
        throw Fault(rule: "\(key.rawValue) can only be used with openai; leave it out")
      }
    }
    server.model = texts[.model] ?? server.model
    server.speedPercent = try Self.number(.speed, texts, 25...400, "percent") ?? server.speedPercent
    if let rate = try Self.number(.pcmRate, texts, server.limits.sampleRates, "Hz") {
      server.soundForm = .pcm(sampleRate: rate)
    }
  }

  private static func flag(_ key: Key, _ texts: [Key: String]) throws(Fault) -> Bool? {
    switch texts[key] {
    case nil: nil
    case "true": true
    case "false": false
    default: throw Fault(rule: "\(key.rawValue): give true or false")
    }
  }

  private static func number(
    _ key: Key, _ texts: [Key: String], _ range: ClosedRange<Int>, _ unit: String
  ) throws(Fault) -> Int? {
    guard let text = texts[key] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw Fault(rule: "\(key.rawValue): give \(range.lowerBound) to \(range.upperBound) \(unit)")
    }
    return number
  }

  /// The entry in one line, for `--print-config`. It contains no key.
  var line: String { "\(server.id)=\(server.address.text)" }
}

extension SpeechServerVoices {
  /// Prepares the servers of the setting `speech_servers`. No request is sent to them.
  ///
  /// - Parameters:
  ///   - folder: The folder of the settings file, to which paths may be relative.
  ///   - verdicts: The file with the verdicts of `crier voices test`.
  /// - Throws: `SpeechServerError` for a key or certificates that cannot be used.
  init(_ entries: [SpeechServerSetting], folder: URL, verdicts: URL) throws(SpeechServerError) {
    var voices: [SpeechServerVoice] = []
    for entry in entries {
      var server = entry.server
      server.keyFile = entry.keyFile.map { URL(filePath: $0, relativeTo: folder).absoluteURL }
      server.trustRoots = entry.certificates.map { URL(filePath: $0, relativeTo: folder).absoluteURL }
      voices.append(try SpeechServerVoice(server))
    }
    self.init(voices, verdicts: SpeechServerVerdicts(file: verdicts))
  }

  /// Prepares the servers of the home folder's settings, for a command that runs beside the service.
  ///
  /// - Throws: `ServiceConfiguration.Fault` for settings that cannot be used; `SpeechServerError`.
  init(of home: CrierHome) throws {
    let file = SettingsFile(url: home.configuration, isRequired: false)
    try file.checkNames()
    try self.init(
      file.speechServers(), folder: home.configuration.deletingLastPathComponent(), verdicts: home.speechServerVerdicts)
  }
}

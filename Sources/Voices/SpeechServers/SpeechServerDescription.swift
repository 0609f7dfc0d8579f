// SPDX-License-Identifier: Apache-2.0

/// The description that a speech server gives of itself.
///
/// The texts come from the server. They are cut to 200 characters, and contain no control characters.
public struct SpeechServerDescription: Sendable, Hashable {
  /// A program behind a Wyoming server.
  public struct Program: Sendable, Hashable, Decodable {
    public var name: String
    /// The version of the program; nil if the server does not state one.
    public var version: String?
    public var voices: [Voice]

    private enum Key: String, CodingKey { case name, version, voices }

    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: Key.self)
      name = SpeechServerDescription.shown(try values.decode(String.self, forKey: .name))
      version = (try? values.decodeIfPresent(String.self, forKey: .version)).flatMap { $0 }
        .map(SpeechServerDescription.shown)
      voices = (try? values.decodeIfPresent([Voice].self, forKey: .voices)) ?? []
    }
  }

  public struct Voice: Sendable, Hashable, Decodable {
    public var name: String
    /// The languages as the server writes them, such as `en_US`.
    public var languages: [String]
    public var version: String?

    private enum Key: String, CodingKey { case name, languages, version }

    public init(from decoder: any Decoder) throws {
      let values = try decoder.container(keyedBy: Key.self)
      name = SpeechServerDescription.shown(try values.decode(String.self, forKey: .name))
      languages = ((try? values.decodeIfPresent([String].self, forKey: .languages)) ?? [])
        .map(SpeechServerDescription.shown)
      version = (try? values.decodeIfPresent(String.self, forKey: .version)).flatMap { $0 }
        .map(SpeechServerDescription.shown)
    }
  }

  /// The programs of a Wyoming server; empty for the OpenAI protocol.
  public var programs: [Program] = []

  /// The models that a server of the OpenAI protocol lists; empty for Wyoming.
  public var models: [String] = []

  /// Returns the program that has a voice; nil if none lists it.
  public func program(with voice: String) -> Program? {
    programs.first { $0.voices.contains { $0.name == voice } }
  }

  /// Returns a line that identifies the voice of a server: the program with its version, and the voice with its
  /// version. Versions that the server does not state are left out. A server of OpenAI's protocol states no versions,
  /// so its line contains the model and the voice from the settings, and the speed and the sample rate if the settings
  /// have them. Two descriptions with the same line count as the same voice.
  public func identity(of server: SpeechServer) -> String {
    guard let program = program(with: server.voice) ?? programs.first else {
      let speed = server.speedPercent == 100 ? nil : "speed \(server.speedPercent) %"
      let rate: String? = if case .pcm(let rate) = server.soundForm { "pcm at \(rate) Hz" } else { nil }
      return ([Self.shown(server.model), Self.shown(server.voice)] + [speed, rate].compactMap(\.self))
        .joined(separator: ", ")
    }
    let version = program.voices.first { $0.name == server.voice }?.version
    let name = [program.name, program.version].compactMap(\.self).joined(separator: " ")
    return "\(name), \([Self.shown(server.voice), version].compactMap(\.self).joined(separator: " "))"
  }

  static func shown(_ text: String) -> String {
    String(
      String.UnicodeScalarView(text.unicodeScalars.prefix(200).filter { $0.properties.generalCategory != .control }))
  }
}

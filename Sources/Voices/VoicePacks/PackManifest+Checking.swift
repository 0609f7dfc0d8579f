// SPDX-License-Identifier: Apache-2.0

extension PackManifest {
  /// The largest size of `manifest.json` in bytes.
  public static let maximumBytes = 4 << 20

  /// The largest number of clips. Each clip is mapped separately, and a process can have only a limited number of
  /// mappings (65,530 on Linux).
  public static let maximumClips = 10_000

  /// Returns whether a text is a valid pack id: 1 to 64 ASCII letters, digits, `-`, `_` and `.`, not beginning with
  /// `.`.
  public static func isID(_ text: String) -> Bool { isPlainName(text, limit: 64) }

  /// Returns whether a text is a valid file name for a clip: 1 to 128 of the characters that an id may have. Such a
  /// name cannot lead out of the pack's folder.
  public static func isFileName(_ text: String) -> Bool { isPlainName(text, limit: 128) }

  private static func isPlainName(_ text: String, limit: Int) -> Bool {
    (1...limit).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: ".")
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }

  /// What is wrong with the manifest, as a message for people; `nil` when it is consistent. The check does not read the
  /// clips' files. The digest is checked by `PackIntegrity`.
  ///
  /// The sample rate must be 8,000 to 48,000 Hz. Every clip must have a text. Tokens and phrases must name clips that
  /// `clips` contains. A phrase must have two or more tokens and must be unique.
  public var fault: String? {
    if format != Self.currentFormat { return "format is \(format) instead of \(Self.currentFormat)" }
    if !Self.isID(id) { return "id \(VoicePackError.shown(id)) must be 1 to 64 of A-Z, a-z, 0-9, “-”, “_” and “.”" }
    if !Self.isPlainName(locale, limit: 64) { return "locale \(VoicePackError.shown(locale)) is not a BCP 47 tag" }
    if !(8000...48_000).contains(sampleRate) { return "sample_rate \(sampleRate) is not between 8000 and 48000 Hz" }
    if clips.count > Self.maximumClips { return "there are \(clips.count) clips, but at most \(Self.maximumClips) fit" }
    for (file, clip) in clips.sorted(by: { $0.key < $1.key }) {
      if !Self.isFileName(file) {
        return "the clip \(VoicePackError.shown(file)) is not a plain ASCII file name; it must not name a folder"
      }
      if clip.text.allSatisfy(\.isWhitespace) { return "the clip \(file) has no text" }
    }
    for (token, alternates) in tokens.sorted(by: { $0.key < $1.key }) {
      if token.isEmpty { return "a token has no name" }
      if let fault = fault(in: alternates, of: "the token \(VoicePackError.shown(token))") { return fault }
    }
    var known: Set<[String]> = []
    for phrase in phrases {
      let subject = "the phrase \(VoicePackError.shown(phrase.tokens.joined(separator: " ")))"
      if phrase.tokens.count < 2 { return "\(subject) has fewer than two tokens" }
      if phrase.tokens.contains("") { return "\(subject) has a token without a name" }
      if !known.insert(phrase.tokens).inserted { return "\(subject) occurs twice" }
      if let fault = fault(in: phrase.clips, of: subject) { return fault }
    }
    return nil
  }

  private func fault(in alternates: Alternates, of subject: String) -> String? {
    [alternates.plain, alternates.rising, alternates.final].compactMap(\.self).first { clips[$0] == nil }.map {
      "\(subject) uses the clip \(VoicePackError.shown($0)), which is not in clips"
    }
  }
}

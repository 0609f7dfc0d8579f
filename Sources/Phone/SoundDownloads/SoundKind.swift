// SPDX-License-Identifier: Apache-2.0

/// The format of a sound file, found in its first bytes.
enum SoundKind: String, Sendable, CaseIterable {
  case wav
  case aiff
  case caf

  /// Recognizes a format by the first bytes of a file; nil for other formats.
  init?(_ bytes: [UInt8]) {
    func has(_ text: String, at offset: Int) -> Bool { bytes.dropFirst(offset).starts(with: text.utf8) }
    if has("RIFF", at: 0), has("WAVE", at: 8) {
      self = .wav
    } else if has("FORM", at: 0), has("AIFF", at: 8) || has("AIFC", at: 8) {
      self = .aiff
    } else if has("caff", at: 0) {
      self = .caf
    } else {
      return nil
    }
  }

  /// Whether a file name has the extension of this format.
  func isExtension(of name: String) -> Bool { name.hasSuffix(".\(rawValue)") }

  /// Returns whether an answer with this content type can be a sound. Many servers give sounds the type
  /// `application/octet-stream`, or no type.
  static func isPossible(contentType: String?) -> Bool {
    guard let contentType else { return true }
    let type = contentType.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased()
    let parts = type.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return true }
    switch parts[0] {
    case "audio", "binary": return true
    case "application":
      let others = ["json", "xml", "html", "javascript", "pdf"]
      return !others.contains { parts[1] == $0 || parts[1].hasSuffix("+\($0)") } && parts[1] != "xhtml+xml"
    default: return false
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A command line of a speech program, such as `flite -voice slt -t {text} -o {output}`.
///
/// No shell runs the command. The words are divided as a shell divides them: at white space, with single quotes, double
/// quotes and backslashes. Variables, wildcards and pipes have no meaning. A placeholder may be a whole word or a part
/// of one. A text that replaces a placeholder is never divided.
public struct SpeechCommand: Sendable, Hashable {
  /// A part of the command that is replaced for each row.
  public enum Placeholder: String, Sendable, Hashable, CaseIterable {
    /// The words to say.
    case text = "{text}"
    /// The path of a file that contains the words to say, in UTF-8.
    case textFile = "{text_file}"
    /// The path of the sound file that the program must write.
    case output = "{output}"
  }

  /// The words of the command, with their placeholders.
  public let words: [String]

  /// Parses a command line.
  ///
  /// - Throws: `PackMakingError` with the code `commandInvalid`.
  public init(_ text: String) throws(PackMakingError) {
    words = try Self.split(text)
    guard let program = words.first, !program.isEmpty else {
      throw Self.invalid("is empty", "give a program with its arguments")
    }
    guard contains(.output) else {
      throw Self.invalid("has no {output}", "put {output} where the program takes the name of the file that it writes")
    }
    guard contains(.text) || contains(.textFile) else {
      throw Self.invalid(
        "has no {text}",
        "put {text} where the program takes the words, or {text_file} where it takes the name of a file with the words")
    }
    let known = Placeholder.allCases.map(\.rawValue)
    for word in words {
      guard
        let unknown = word.matches(of: /\{[a-z_]+\}/).map({ String($0.output) }).first(where: { !known.contains($0) })
      else { continue }
      throw Self.invalid("has the unknown placeholder \(unknown)", "use \(known.joined(separator: ", "))")
    }
  }

  /// Returns whether the command uses a placeholder.
  func contains(_ placeholder: Placeholder) -> Bool { words.contains { $0.contains(placeholder.rawValue) } }

  /// The program's name and its arguments without placeholders, as the name of the speaker: `flite -voice slt`.
  public var speaker: String {
    var kept: [String] = [(words[0] as NSString).lastPathComponent]
    for word in words.dropFirst() {
      if Placeholder.allCases.contains(where: { word.contains($0.rawValue) }) {
        // An option directly before a placeholder belongs to it.
        if kept.count > 1, kept[kept.count - 1].hasPrefix("-") { kept.removeLast() }
      } else {
        kept.append(word)
      }
    }
    return kept.joined(separator: " ")
  }

  /// Returns the program and its arguments for one row.
  func arguments(text: String, textFile: String, output: String) -> [String] {
    words.map { word in
      // The word is divided at its placeholders first, so that a text with braces is not replaced again.
      var rest = word[...]
      var result = ""
      while let (range, placeholder) = Self.firstPlaceholder(in: rest) {
        result += rest[..<range.lowerBound]
        switch placeholder {
        case .text: result += text
        case .textFile: result += textFile
        case .output: result += output
        }
        rest = rest[range.upperBound...]
      }
      return result + rest
    }
  }

  private static func firstPlaceholder(in text: Substring) -> (Range<Substring.Index>, Placeholder)? {
    Placeholder.allCases.compactMap { placeholder in text.range(of: placeholder.rawValue).map { ($0, placeholder) } }
      .min { $0.0.lowerBound < $1.0.lowerBound }
  }

  /// Divides a command line into words by the quoting rules of POSIX shells (XCU 2.2).
  private static func split(_ text: String) throws(PackMakingError) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var isEscaped = false
    for character in text {
      if isEscaped {
        // Between double quotes, a backslash escapes only some characters.
        if quote == "\"", !"\"\\$`".contains(character) { word = (word ?? "") + "\\" }
        word = (word ?? "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
        word = word ?? ""
      } else if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if character.isWhitespace {
        if let done = word { words.append(done) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    guard quote == nil, !isEscaped else {
      throw invalid("has a quote that is not closed", "close it, or put a backslash before it")
    }
    return words + [word].compactMap(\.self)
  }

  private static func invalid(_ problem: String, _ remedy: String) -> PackMakingError {
    PackMakingError(.commandInvalid, "with", problem, remedy: remedy)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Announcements
import ArgumentParser

/// A word of the command line that is not the name of a subcommand or of an option.
///
/// ArgumentParser reports an unknown option only after it has checked the values of all other options, so the user
/// would read about a consequence of the misspelling. Words are therefore checked before they are parsed.
struct UnknownWord: Equatable {
  /// The word as typed, without the value after an equals sign.
  var word: String
  /// The names of the command and its subcommands before the word, such as `crier keys`.
  var path: [String]
  /// The names that the word could have been.
  var choices: [String]

  /// The name that was probably meant.
  var meant: String? { SimilarNames.name(like: word, among: choices) }

  /// The message, in the form of ArgumentParser's own messages.
  var message: String {
    let command = path.joined(separator: " ")
    let isOption = word.hasPrefix("-")
    var lines = ["Error: Unknown \(isOption ? "option" : "subcommand") '\(Terminal.printable(word))'."]
    if let meant {
      lines[0] += " Did you mean '\(meant)'?"
    } else if !isOption {
      lines[0] += " Choose one of \(choices.joined(separator: ", "))."
    }
    lines.append("  See '\(command) --help' for more information.")
    return lines.joined(separator: "\n")
  }
}

extension ParsableCommand {
  /// The name by which a user runs the command.
  static var typedName: String { configuration.commandName ?? "\(Self.self)".lowercased() }
}

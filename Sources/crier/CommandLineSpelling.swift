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

  /// Finds the first unknown word of a command line.
  ///
  /// - Parameters:
  ///   - words: The words after the command's name.
  ///   - command: The command.
  /// - Returns: Nil if the parser can read every word, or if a positional argument cannot be told from a name.
  static func first(in words: [String], of command: any ParsableCommand.Type) -> UnknownWord? {
    var command = command
    var path = [command.typedName]
    var isHelp = false
    var options = Options(of: command)
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" { return nil }
      if word.hasPrefix("--") {
        let name = String(word.prefix { $0 != "=" })
        guard let takesValue = options.takesValue[name] else {
          return UnknownWord(word: name, path: path, choices: options.takesValue.keys.sorted())
        }
        if takesValue, name == word { rest = rest.dropFirst() }
      } else if !word.hasPrefix("-"), !command.configuration.subcommands.isEmpty {
        if word == "help", !isHelp {
          isHelp = true
          continue
        }
        let choices = command.configuration.subcommands
        guard let next = choices.first(where: { $0.typedName == word }) else {
          return UnknownWord(word: word, path: path, choices: choices.map { $0.typedName })
        }
        command = next
        path.append(word)
        options = Options(of: command)
      }
    }
    return nil
  }

  /// The message in the form of ArgumentParser's own.
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

  /// The options of a command, as its help lists them.
  private struct Options {
    /// Whether each option is followed by a value.
    private(set) var takesValue = ["--help": false, "--help-hidden": false, "--version": false]

    init(of command: any ParsableCommand.Type) {
      // A default subcommand takes options without being named.
      for type in [command, command.configuration.defaultSubcommand].compactMap(\.self) {
        let help = command.helpMessage(for: type, includeHidden: true, columns: 1_000)
        for line in help.split(separator: "\n") {
          guard let option = line.prefixMatch(of: /\s+(?:-\w, )?(--[a-z-]+)( <)?/) else { continue }
          takesValue[String(option.1)] = option.2 != nil
        }
      }
      takesValue["--generate-completion-script"] = true
      takesValue["--experimental-dump-help"] = false
    }
  }
}

extension ParsableCommand {
  /// The name by which a user runs the command.
  fileprivate static var typedName: String { configuration.commandName ?? "\(Self.self)".lowercased() }
}

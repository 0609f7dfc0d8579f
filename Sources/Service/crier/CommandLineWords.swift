// SPDX-License-Identifier: Apache-2.0

import ArgumentParser

/// The words of a command line, each with its role for the parser.
struct CommandLineWords {
  private enum Part { case subcommand, option, value, argument, separator }

  private var words: [(word: String, part: Part)] = []

  /// The first unknown word. The words after it are not read. Nil if the parser can read every word, or if a positional
  /// argument cannot be distinguished from a name.
  private(set) var unknown: UnknownWord?

  /// - Parameters:
  ///   - words: The words after the command's name.
  ///   - command: The command.
  init(_ words: [String], of command: any ParsableCommand.Type) {
    var command = command
    var path = [command.typedName]
    var isHelp = false
    var takesValue = Self.options(of: command)
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        self.words += [(word, .separator)] + rest.map { ($0, .argument) }
        return
      }
      if word.hasPrefix("--") {
        let name = String(word.prefix { $0 != "=" })
        guard let hasValue = takesValue[name] else {
          unknown = UnknownWord(word: name, path: path, choices: takesValue.keys.sorted())
          return
        }
        self.words.append((word, .option))
        if hasValue, name == word, let value = rest.popFirst() { self.words.append((value, .value)) }
      } else if word.hasPrefix("-"), word != "-" && !Self.isNegative(word) || !command.configuration.subcommands.isEmpty
      {
        self.words.append((word, .option))
      } else if command.configuration.subcommands.isEmpty {
        self.words.append((word, .argument))
      } else if word == "help", !isHelp {
        isHelp = true
        self.words.append((word, .subcommand))
      } else {
        let choices = command.configuration.subcommands
        guard let next = choices.first(where: { $0.typedName == word }) else {
          unknown = UnknownWord(word: word, path: path, choices: choices.map { $0.typedName })
          return
        }
        command = next
        path.append(word)
        takesValue = Self.options(of: command)
        self.words.append((word, .subcommand))
      }
    }
  }

  /// The words in another order, in which the parser takes a word such as `-5` for a value or an argument, and not for
  /// an unknown option. The command itself then reports what is wrong with the word. Nil if there is no such word.
  var readable: [String]? {
    guard words.contains(where: { $0.part != .option && Self.isNegative($0.word) }) else { return nil }
    var readable: [String] = []
    var arguments: [String] = []
    for (word, part) in words {
      switch part {
      case .value where Self.isNegative(word): readable[readable.count - 1] += "=" + word
      case .subcommand, .option, .value: readable.append(word)
      case .argument: arguments.append(word)
      case .separator: break
      }
    }
    return arguments.isEmpty ? readable : readable + ["--"] + arguments
  }

  /// Whether a word begins like a negative number. No option begins like that.
  private static func isNegative(_ word: String) -> Bool { word.prefixMatch(of: /-\.?[0-9]/) != nil }

  /// Returns the options of a command, as its help lists them, and whether each is followed by a value.
  private static func options(of command: any ParsableCommand.Type) -> [String: Bool] {
    var takesValue = ["--help": false, "--help-hidden": false, "--version": false]
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
    return takesValue
  }
}

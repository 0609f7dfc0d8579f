// SPDX-License-Identifier: Apache-2.0

import WeeklyTimes

/// Looks up each setting of the service in its sources, and records where it was found.
struct SettingsReader {
  /// The name of a source, such as `flag`, its values as text, and the lines of its settings if it is a file.
  typealias Source = (name: String, values: [Name: String], lines: [Name: Int])

  typealias Name = ServiceConfiguration.Name
  typealias Setting = ServiceConfiguration.Setting
  typealias Fault = ServiceConfiguration.Fault

  let sources: [Source]
  var settings: [Setting] = []

  /// Reads a setting whose value is one text.
  ///
  /// - Parameters:
  ///   - fallback: the text of the default.
  ///   - rule: the remedy if the text is not valid.
  ///   - isLiteral: whether the value is a number or a truth value, which is written as it was given.
  ///   - parse: returns the value of a text; nil if the text is not valid.
  /// - Throws: `ServiceConfiguration.Fault` with the rule.
  mutating func value<Value>(
    _ name: Name, _ fallback: String, _ rule: String, isLiteral: Bool = false, parse: (String) -> Value?
  ) throws -> Value {
    let found = find(name) ?? Found(text: fallback)
    guard let value = parse(found.text) else {
      throw Fault(setting: name.rawValue, source: found.place, rule: rule)
    }
    append(name, isLiteral ? found.text : Self.quoted(found.text), found)
    return value
  }

  /// Reads a text that is not empty.
  mutating func text(_ name: Name, _ fallback: String, _ rule: String) throws -> String {
    try value(name, fallback, rule) { $0.isEmpty ? nil : $0 }
  }

  /// Reads a list whose entries are separated by commas or spaces.
  mutating func names<Entry>(
    _ name: Name, _ fallback: String, _ rule: String, parse: (String) -> Entry?
  ) throws -> [Entry] {
    try value(name, fallback, rule) { text in
      let names = text.split { $0 == "," || $0 == " " }
      let entries = names.compactMap { parse(String($0)) }
      return entries.count == names.count ? entries : nil
    }
  }

  /// Reads a text that must name one of the cases of a type.
  mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: Name, _ fallback: Choice
  ) throws -> Choice {
    try value(
      name, fallback.rawValue, "give one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))"
    ) { Choice(rawValue: $0) }
  }

  /// Reads a text that its type refuses with reasons of its own. Without the setting, the text is empty.
  ///
  /// - Parameters:
  ///   - shown: Returns the text as it may be printed.
  ///   - parse: Returns the value of a text, or throws what is wrong and what to do next, without a full stop.
  /// - Throws: `ServiceConfiguration.Fault` with the reason.
  mutating func checked<Value, Reason: Error>(
    _ name: Name, shown: (String) -> String = { $0 }, parse: (String) throws(Reason) -> Value
  ) throws -> Value {
    let found = find(name) ?? Found(text: "")
    do throws(Reason) {
      let value = try parse(found.text)
      append(name, Self.quoted(shown(found.text)), found)
      return value
    } catch {
      throw Fault(setting: name.rawValue, source: found.place, rule: "\(error)")
    }
  }

  /// Reads times of the week. No text means no times.
  mutating func times<Value>(_ name: Name, _ parse: (String) throws(WeeklyTimesError) -> Value) throws -> Value {
    try checked(name, parse: parse)
  }

  mutating func flag(_ name: Name, _ fallback: Bool) throws -> Bool {
    try value(name, "\(fallback)", "give true or false", isLiteral: true) { Bool($0) }
  }

  mutating func number(_ name: Name, _ fallback: Int, _ range: ClosedRange<Int>) throws -> Int {
    try value(
      name, "\(fallback)", "give a whole number from \(range.lowerBound) to \(range.upperBound)", isLiteral: true
    ) { Int($0).flatMap { range.contains($0) ? $0 : nil } }
  }

  mutating func decimal(_ name: Name, _ fallback: Double, _ range: ClosedRange<Double>) throws -> Double {
    try value(
      name, "\(fallback)", "give a number from \(range.lowerBound) to \(range.upperBound)", isLiteral: true
    ) { Double($0).flatMap { range.contains($0) ? $0 : nil } }
  }

  /// A value as text, and where it comes from.
  private struct Found {
    var text: String
    var source = "default"
    /// The line of the setting in its file.
    var line: Int?
    var place: String { source + (line.map { ", line \($0)" } ?? "") }
  }

  private mutating func append(_ name: Name, _ value: String, _ found: Found) {
    settings.append(Setting(name: name, value: value, source: found.source, place: found.place))
  }

  private func find(_ name: Name) -> Found? {
    for (source, values, lines) in sources {
      if let text = values[name] { return Found(text: text, source: source, line: lines[name]) }
    }
    return nil
  }

  /// Quotes a value. A word that YAML would read as something other than text is quoted too.
  private static func quoted(_ value: String) -> String {
    let isWord = ["null", "true", "false", "yes", "no", "on", "off"].contains(value.lowercased())
    let isPlain =
      !value.isEmpty && !isWord
      && value.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_./".contains($0)) }
    return isPlain ? value : "'" + value.replacing("'", with: "''") + "'"
  }
}

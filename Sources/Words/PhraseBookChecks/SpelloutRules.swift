// SPDX-License-Identifier: Apache-2.0

/// The rules for cardinal numbers of CLDR, in the notation of a phrase book.
public struct SpelloutRules: Sendable, Hashable {
  private struct RuleSet: Sendable, Hashable {
    var name: String
    /// The rules of the set, such as `100: <<­hundra[­>>];`.
    var rules: [String]
  }

  /// The set that writes numbers alone comes first.
  private let sets: [RuleSet]
  /// The set that writes numbers before a unit.
  private let counted: String?

  /// Reads a file of CLDR's `common/rbnf`. Its form is regular, so no XML reader is needed: there is one element on
  /// each line.
  ///
  /// - Returns: Nil if the file has no rules for cardinal numbers.
  public init?(cldr xml: String) {
    var sets: [RuleSet] = []
    var open: RuleSet?
    for line in xml.split(whereSeparator: \.isNewline) {
      if let set = line.firstMatch(of: #/<ruleset type="([^"]+)"/#) {
        open = RuleSet(name: String(set.1).replacing("spellout-", with: ""), rules: [])
      } else if line.contains("</ruleset>") {
        if let open { sets.append(open) }
        open = nil
      } else if let rule = line.firstMatch(of: #/<rbnfrule value="([0-9]+)"(?: radix="([0-9]+)")?>(.*)<\/rbnfrule>/#) {
        let text = Self.text(String(rule.3))
        // CLDR writes the largest numbers in digits. No amount is so large.
        guard !text.contains("=#"), !text.contains("=0"), rule.1.count <= 13 else { continue }
        let radix = rule.2.map { "/\($0)" } ?? ""
        open?.rules.append("\(rule.1)\(radix): \(text)")
      }
    }
    let used = sets.filter { set in
      (set.name.hasPrefix("numbering") || set.name.hasPrefix("cardinal")) && !set.name.contains("year")
    }
    guard let first = used.firstIndex(where: { $0.name == "numbering" }) ?? used.indices.first else { return nil }
    counted = used.first { $0.name.hasPrefix("cardinal") && !$0.rules.isEmpty }?.name
    // A set may use other sets, which also have names.
    let others = sets.filter { set in
      !used.contains(set) && used.contains { $0.rules.contains { $0.contains("%\(set.name)") } }
    }
    self.sets = [used[first]] + used.enumerated().filter { $0.offset != first }.map(\.element) + others
  }

  private static func text(_ rule: String) -> String {
    rule.replacing("←", with: "<").replacing("→", with: ">").replacing("&amp;", with: "&").replacing("&lt;", with: "<")
      .replacing("&gt;", with: ">").replacing("spellout-", with: "").replacing("%%", with: "%")
      .replacing("\"", with: "\\\"")
  }

  /// The value of a book's key `numbers`.
  var json: String {
    var lines: [String] = []
    for set in sets {
      var line = "%\(set.name):"
      for rule in set.rules {
        if line.count + rule.count > 100 {
          lines.append(line)
          line = rule
        } else {
          line += " " + rule
        }
      }
      lines.append(line)
    }
    let rules = lines.map { "      \"\($0)\"" }.joined(separator: ",\n")
    let counted = counted.map { ",\n    \"counted\": \"%\($0)\"" } ?? ""
    return "{\n    \"source\": \"CLDR\",\n    \"rules\": [\n\(rules)\n    ]\(counted)\n  }"
  }

  /// Reads the plural rules of a language from CLDR's `supplemental/plurals.xml`: each category but `other`, for whole
  /// numbers.
  ///
  /// - Returns: Nil if the file has no rules for the language.
  public static func plurals(of language: String, cldr xml: String) -> [String: String]? {
    var isOfLanguage = false
    var plurals: [String: String]?
    for line in xml.split(whereSeparator: \.isNewline) {
      if let head = line.firstMatch(of: #/<pluralRules locales="([^"]+)">/#) {
        isOfLanguage = head.1.split(separator: " ").contains { $0 == language }
        if isOfLanguage { plurals = [:] }
      } else if isOfLanguage, let rule = line.firstMatch(of: #/<pluralRule count="([a-z]+)">([^@]*)@/#) {
        let text = rule.2.split(separator: " ").joined(separator: " ")
        if rule.1 != "other", !text.isEmpty { plurals?[String(rule.1)] = text }
      }
    }
    return plurals
  }
}

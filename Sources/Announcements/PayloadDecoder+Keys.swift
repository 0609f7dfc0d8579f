// SPDX-License-Identifier: Apache-2.0

extension PayloadDecoder {
  /// What is made of keys that nobody reads, and that are near none that somebody does.
  public enum UnknownKeys: Sendable, Hashable {
    /// The report names them.
    case warn
    /// They are an error.
    case refuse
  }

  /// Where a payload stands: this decides what may stand beside it.
  struct Surroundings {
    /// The keys beside the payload.
    var options: [String] = []
    /// Whether a text may take the payload's place.
    var allowsText = false
  }

  /// Looks at all keys of a payload, before anything of it is read.
  ///
  /// - Returns: for each key that nobody reads a sentence for the report, in alphabetical order, at most
  ///   ``PayloadKeys/mostNamed`` and one more for the rest.
  /// - Throws: `.fieldUnknown` for a key that is near a known one or that tells in other systems what became of the money,
  ///   and where unknown keys are refused; `.fieldsConflict` for a second source of the amount. A payload that was accepted
  ///   already is only looked through.
  static func unknownKeys(
    of top: PayloadFields, in surroundings: Surroundings, _ treatment: UnknownKeys
  ) throws(AnnouncementError) -> [String] {
    var names: [String] = []
    var count = 0
    for level in try levels(of: top, in: surroundings) {
      if !top.wasAccepted { try check(level) }
      count += level.unknown.count
      names += level.unknown.prefix(PayloadKeys.mostNamed - names.count).map { level.name($0) }
    }
    if treatment == .refuse, !top.wasAccepted, let first = names.first {
      throw AnnouncementError(
        .fieldUnknown, first, count == 1 ? "is not a key" : "is not a key, nor are \(count - 1) more",
        remedy: "leave out what is not a key of a payload, or do not ask for strict handling")
    }
    return warnings(naming: names, of: count)
  }

  private static func check(_ level: Level) throws(AnnouncementError) {
    let isKindTold = level.fields.value("kind") != nil
    let near = PayloadKeys.Known(level.unknown.isEmpty ? [] : level.near)
    for key in level.unknown {
      guard let folded = PayloadKeys.Folded(key) else { continue }
      if let meant = near.near(folded) {
        throw AnnouncementError(.fieldUnknown, level.name(key), "is not a key", remedy: "did you mean \(meant)?")
      }
      guard level.tellsKind, !isKindTold, let value = level.fields.value(key),
        PayloadKeys.contradictsReceipt(folded, value)
      else { continue }
      throw AnnouncementError(
        .fieldUnknown, level.name(key), "is not a key, and may tell that no money came",
        remedy: "say what happened with kind: \(Payment.Kind.allCases.map(\.rawValue).joined(separator: ", "))")
    }
  }

  /// What a report says of columns that are not used.
  ///
  /// - Parameter columns: as the list spells them.
  public static func warnings(ofColumns columns: [String]) -> [String] {
    warnings(naming: columns.prefix(PayloadKeys.mostNamed).map(PayloadKeys.printable), of: columns.count)
  }

  private static func warnings(naming names: [String], of count: Int) -> [String] {
    names.map { "\($0): unknown key, ignored" }
      + (count > names.count ? ["\(count - names.count) more unknown keys, ignored"] : [])
  }

  /// A key or a column as a report or an error names it: at most 40 characters, and no sign that a terminal or a log
  /// obeys.
  public static func printable(_ key: String) -> String { PayloadKeys.printable(key) }

  /// The column that was meant, most likely, by one of another name.
  public static func column(near name: String) -> String? {
    PayloadKeys.Folded(name).flatMap(knownColumns.near)
  }

  private static let knownColumns = PayloadKeys.Known(rowKeys)

  /// Columns that are read where a list has no `kind`: in other systems they tell what became of the money.
  public static var synonymsOfKind: Set<String> { PayloadKeys.synonymsOfKind }

  /// One object of a payload, and how its keys are judged.
  private struct Level {
    var fields: PayloadFields
    /// Keys that are none, in alphabetical order.
    var unknown: [String]
    /// The keys that a misspelt one may mean.
    var near: [String]
    /// Whether its keys tell what became of the money.
    var tellsKind: Bool

    init(_ fields: PayloadFields, known: [String], near: [String], tellsKind: Bool) {
      self.fields = fields
      let known = Set(known + [PayloadDecoder.defaultsKey])
      unknown = fields.values.compactMap { key, value in
        if case .null = value { return nil }
        return known.contains(key) ? nil : key
      }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      self.near = near
      self.tellsKind = tellsKind
    }

    /// A key's path, for people.
    func name(_ key: String) -> String { fields.name(PayloadKeys.printable(key)) }
  }

  private static func levels(
    of top: PayloadFields, in surroundings: Surroundings
  ) throws(AnnouncementError) -> [Level] {
    let shapes = ["payment", "aps"] + (surroundings.allowsText ? ["text"] : [])
    // What stands beside `aps` is the app's own; only a misspelt payment is asked about.
    let isFromApp = top.value("aps") != nil
    if let payment = top.value("payment") {
      guard case .object(let values) = payment else { return [] }
      if !top.wasAccepted { try refuse(PayloadKeys.decisive, beside: "payment", top) }
      let outer = shapes + surroundings.options
      return [
        Level(
          top, known: outer, near: isFromApp ? ["payment"] : outer + PayloadKeys.decisive, tellsKind: !isFromApp),
        Level(
          top.fields("payment", values), known: PayloadKeys.payment, near: PayloadKeys.payment, tellsKind: true),
      ]
    }
    if isFromApp {
      if !top.wasAccepted { try refuse(["amount", "minor"], beside: "aps", top) }
      return [Level(top, known: shapes + ["id"] + surroundings.options, near: ["payment"], tellsKind: false)]
    }
    // A text beside an amount is told to be a conflict, where both are read.
    if surroundings.allowsText, top.value("text") != nil, top.value("amount") == nil, top.value("minor") == nil {
      let known = shapes + ["id", "locale"] + surroundings.options
      return [Level(top, known: known, near: known, tellsKind: false)]
    }
    let known = PayloadKeys.payment + shapes + surroundings.options
    return [Level(top, known: known, near: known, tellsKind: true)]
  }

  private static func refuse(
    _ keys: [String], beside source: String, _ top: PayloadFields
  ) throws(AnnouncementError) {
    guard let key = keys.first(where: { top.value($0) != nil }) else { return }
    throw AnnouncementError(
      .fieldsConflict, "\(source) and \(key)", "are both given",
      remedy: source == "payment"
        ? "say what was paid inside payment, and nowhere else"
        : "put the payment under the key payment, or leave \(key) out")
  }
}

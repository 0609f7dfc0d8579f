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
  /// - Throws: `.fieldUnknown` for a key that is near a known one, that tells in other systems what became of the money or
  ///   that is not plain ASCII, and where unknown keys are refused; `.fieldsConflict` for a second source of the amount. A
  ///   payload that was accepted already is only looked through.
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
    let near = PayloadKeys.Known(level.unknown.isEmpty ? [] : level.near)
    for key in level.unknown {
      let folded = PayloadKeys.Folded(key)
      if let meant = near.near(folded), meant != key {
        throw AnnouncementError(.fieldUnknown, level.name(key), "is not a key", remedy: "did you mean \(meant)?")
      }
      if level.mustTellReceipt, let value = level.fields.value(key), PayloadKeys.contradictsReceipt(folded, value) {
        throw AnnouncementError(
          .fieldUnknown, level.name(key), "is not a key, and may tell that no money came",
          remedy: "say what happened with kind: \(Payment.Kind.allCases.map(\.rawValue).joined(separator: ", "))")
      }
      guard level.isFromApp || PayloadKeys.isPlain(key) else {
        throw AnnouncementError(
          .fieldUnknown, level.name(key), "is not a key, and holds a sign that is not plain ASCII",
          remedy: plainRemedy)
      }
    }
  }

  /// What to do about a key or a column that may look like one that it is not.
  private static let plainRemedy = "write it with letters from a to z, digits and underscores, or leave it out"

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

  /// Looks at the name of a column that is none of ``rowKeys``.
  ///
  /// - Throws: `.fieldUnknown` when it is near one of them, or not plain ASCII.
  public static func checkColumn(_ name: String) throws(AnnouncementError) {
    if let meant = knownColumns.near(PayloadKeys.Folded(name)) {
      throw AnnouncementError(.fieldUnknown, printable(name), "is not a column", remedy: "did you mean \(meant)?")
    }
    guard PayloadKeys.isPlain(name) else {
      throw AnnouncementError(
        .fieldUnknown, printable(name), "is not a column, and holds a sign that is not plain ASCII",
        remedy: plainRemedy)
    }
  }

  private static let knownColumns = PayloadKeys.Known(rowKeys)

  /// The key by which ``row(cells:)`` takes the cells of a column that is none of ``rowKeys``, and that is read where a
  /// list has no `kind`: in other systems it tells what became of the money. Columns that mean the same have one key.
  public static func keyOfState(column name: String) -> String? { PayloadKeys.state(PayloadKeys.Folded(name))?.name }

  /// One object of a payload, and how its keys are judged.
  private struct Level {
    var fields: PayloadFields
    /// Keys that are none, in alphabetical order.
    var unknown: [String]
    /// The keys that a misspelt one may mean.
    var near: [String]
    /// Whether a key that tells what became of the money must say that it came.
    var mustTellReceipt: Bool
    /// Whether keys that nobody reads are the app's own.
    var isFromApp: Bool

    init(
      _ fields: PayloadFields, known: [String], near: [String], mustTellReceipt: Bool, isFromApp: Bool = false
    ) {
      self.fields = fields
      let known = Set(known + [PayloadDecoder.defaultsKey])
      unknown = fields.values.compactMap { key, value in
        if case .null = value { return nil }
        return known.contains(key) ? nil : key
      }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      self.near = near
      self.mustTellReceipt = mustTellReceipt
      self.isFromApp = isFromApp
    }

    /// A key's path, for people.
    func name(_ key: String) -> String { fields.name(PayloadKeys.printable(key)) }
  }

  private static func levels(
    of top: PayloadFields, in surroundings: Surroundings
  ) throws(AnnouncementError) -> [Level] {
    let shapes = ["payment", "aps"] + (surroundings.allowsText ? ["text"] : [])
    let isBesideAPNs = top.value("aps") != nil
    if let payment = top.value("payment") {
      guard case .object(let values) = payment else { return [] }
      if !top.wasAccepted { try refuse(PayloadKeys.decisive, beside: "payment", top) }
      let outer = shapes + surroundings.options
      let inner = top.fields("payment", values)
      // Beside `aps` an app has keys of its own, of which none may tell another kind than the payment does.
      let near = isBesideAPNs ? ["payment", "kind"] : outer + PayloadKeys.decisive
      let isKindUntold = inner.value("kind") == nil
      return [
        Level(top, known: outer, near: near, mustTellReceipt: isKindUntold),
        Level(inner, known: PayloadKeys.payment, near: PayloadKeys.payment, mustTellReceipt: isKindUntold),
      ]
    }
    // What stands beside `aps` alone is the app's own; only a misspelt payment is asked about.
    if isBesideAPNs {
      if !top.wasAccepted { try refuse(["amount", "minor"], beside: "aps", top) }
      let known = shapes + ["id"] + surroundings.options
      return [Level(top, known: known, near: ["payment"], mustTellReceipt: false, isFromApp: true)]
    }
    // A text beside a key of a payment is told to be a conflict, where both are read.
    if surroundings.allowsText, top.value("text") != nil,
      PayloadKeys.neverBesideText.allSatisfy({ top.value($0) == nil })
    {
      let known = shapes + ["id", "locale"] + surroundings.options
      return [Level(top, known: known, near: known + PayloadKeys.decisive, mustTellReceipt: false)]
    }
    let known = PayloadKeys.payment + shapes + surroundings.options
    return [Level(top, known: known, near: known, mustTellReceipt: top.value("kind") == nil)]
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

// SPDX-License-Identifier: Apache-2.0

extension PayloadDecoder {
  /// How to treat unknown keys that are not similar to a known key.
  public enum UnknownKeys: Sendable, Hashable {
    /// The report lists the unknown keys.
    case warn
    /// The first unknown key is an error.
    case refuse
  }

  /// The context in which a payload is read. It determines the keys that may stand next to the payload.
  struct Surroundings {
    /// The option keys that may stand next to the payload.
    var options: [String] = []
    /// Whether a text may stand in place of a payload.
    var allowsText = false
  }

  /// Checks all keys of a payload before any value is read.
  ///
  /// - Returns: sentences for the report about the unknown keys, in alphabetical order. At most
  ///   ``PayloadKeys/mostNamed`` keys have a sentence each, and one more sentence counts the remaining keys.
  /// - Throws: `.fieldUnknown` for a key that is similar to a known key, that other systems use to report the state of
  ///   a payment, or that contains characters other than plain ASCII. If unknown keys are refused, it is also thrown
  ///   for any other unknown key. `.fieldsConflict` for a second source of the amount. `.fieldInvalid` for an integer
  ///   `amount` in an object of a payment gateway. A payload that was accepted earlier causes no errors.
  static func unknownKeys(
    of top: PayloadFields, in surroundings: Surroundings, _ treatment: UnknownKeys
  ) throws(AnnouncementError) -> [String] {
    var unknown: [Unknown] = []
    var count = 0
    let levels = try levels(of: top, in: surroundings)
    if !top.wasAccepted { try refuseAmountOfGateway(levels) }
    for level in levels {
      if !top.wasAccepted { try check(level) }
      count += level.unknown.count
      unknown += level.unknown.prefix(PayloadKeys.mostNamed - unknown.count).map {
        Unknown(name: level.name($0), isMisplaced: level.outerOptions.contains($0))
      }
    }
    if treatment == .refuse, !top.wasAccepted, let first = unknown.first {
      throw AnnouncementError(
        .fieldUnknown, first.name, count == 1 ? "is not a key" : "is one of \(count) unknown keys",
        remedy: first.isMisplaced ? misplacedRemedy : "remove unknown keys, or do not ask for strict handling")
    }
    return warnings(about: unknown, of: count)
  }

  /// An unknown key, for the report.
  private struct Unknown {
    var name: String
    /// Whether the key is an option of the request that stands inside `payment`, where it has no effect.
    var isMisplaced = false
  }

  /// The remedy for an option of the request that stands inside `payment`.
  private static let misplacedRemedy = "put this option beside payment, at the top level of the request"

  private static func check(_ level: Level) throws(AnnouncementError) {
    let near = PayloadKeys.Known(level.unknown.isEmpty ? [] : level.near)
    for (index, key) in level.unknown.enumerated() {
      do throws(AnnouncementError) {
        try check(key, level, near)
      } catch {
        var faults = PayloadFaults(error)
        for other in level.unknown.dropFirst(index + 1).prefix(AnnouncementError.mostOthers) {
          faults.read { () throws(AnnouncementError) in try check(other, level, near) }
        }
        throw faults.error
      }
    }
  }

  private static func check(_ key: String, _ level: Level, _ near: PayloadKeys.Known) throws(AnnouncementError) {
    let folded = PayloadKeys.Folded(key)
    if let meant = near.near(folded), meant != key {
      throw AnnouncementError(.fieldUnknown, level.name(key), "is not a key", remedy: "did you mean \(meant)?")
    }
    if level.mustMeanReceipt, let value = level.fields.value(key), PayloadKeys.contradictsReceipt(folded, value) {
      throw AnnouncementError(
        .fieldUnknown, level.name(key), "is not a known key, and may say that no money was received",
        remedy: "set kind to one of \(Payment.Kind.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    guard level.isFromApp || PayloadKeys.isPlain(key) else {
      throw AnnouncementError(
        .fieldUnknown, level.name(key), "is not a key, and contains a character that is not plain ASCII",
        remedy: plainRemedy)
    }
  }

  /// Refuses an integer `amount` if the payment, or the object around it, has the marks of a payment gateway's own
  /// object. A gateway means minor units, and the amount heard would be a hundred times the amount paid.
  private static func refuseAmountOfGateway(_ levels: [Level]) throws(AnnouncementError) {
    guard let payment = levels.last?.fields, case .number(let digits)? = payment.value("amount"),
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) })
    else { return }
    for level in levels {
      guard let mark = PayloadKeys.mark(ofGateway: level.fields, among: level.unknown) else { continue }
      throw AnnouncementError(
        .fieldInvalid, payment.name("amount"),
        "is a whole number beside \(level.name(mark)), so it seems to be in minor units, as payment gateways send it",
        remedy: "send this number as minor, or give amount as text such as \"12.50\"")
    }
  }

  /// The remedy for a key or a column with characters that may look like others.
  private static let plainRemedy = "use only the letters a to z, digits and underscores, or leave it out"

  /// Returns the report's sentences about unused columns.
  ///
  /// - Parameter columns: the names of the columns, spelled as in the list.
  public static func warnings(ofColumns columns: [String]) -> [String] {
    let named = columns.prefix(PayloadKeys.mostNamed).map { Unknown(name: PayloadKeys.printable($0)) }
    return warnings(about: named, of: columns.count)
  }

  private static func warnings(about unknown: [Unknown], of count: Int) -> [String] {
    unknown.map { "\($0.name): unknown key, ignored" + ($0.isMisplaced ? "; \(misplacedRemedy)" : "") }
      + (count > unknown.count ? ["\(count - unknown.count) more unknown keys, ignored"] : [])
  }

  /// Returns the name of a key or a column in a form for reports and errors. It has at most 40 characters, and none
  /// that a terminal or a log file would interpret.
  public static func printable(_ key: String) -> String { PayloadKeys.printable(key) }

  /// Checks the name of a column that is not among ``rowKeys``.
  ///
  /// - Throws: `.fieldUnknown` when the name is similar to one of ``rowKeys``, or is not plain ASCII.
  public static func checkColumn(_ name: String) throws(AnnouncementError) {
    try checkSpelling(ofColumn: name)
    guard PayloadKeys.isPlain(name) else {
      throw AnnouncementError(
        .fieldUnknown, printable(name), "is not a column, and contains a character that is not plain ASCII",
        remedy: plainRemedy)
    }
  }

  /// Checks the spelling of the name of a column that is not among ``rowKeys``.
  ///
  /// - Throws: `.fieldUnknown` when the name is similar to one of ``rowKeys``.
  public static func checkSpelling(ofColumn name: String) throws(AnnouncementError) {
    guard let meant = knownColumns.near(PayloadKeys.Folded(name)) else { return }
    throw AnnouncementError(.fieldUnknown, printable(name), "is not a column", remedy: "did you mean \(meant)?")
  }

  private static let knownColumns = PayloadKeys.Known(rowKeys)

  /// Returns the key under which to store the cells of a column, if other systems use that column to report the state
  /// of a payment, or else `nil`. If a list has no `kind`, ``row(cells:)`` reads this key instead. Columns with the
  /// same meaning have the same key.
  public static func keyOfState(column name: String) -> String? { PayloadKeys.state(PayloadKeys.Folded(name))?.name }

  /// One object of a payload, and the rules for its keys.
  private struct Level {
    var fields: PayloadFields
    /// The unknown keys, in alphabetical order.
    var unknown: [String]
    /// The known keys that a misspelt key may mean.
    var near: [String]
    /// Whether a key that reports the state of the payment must mean that money was received.
    var mustMeanReceipt: Bool
    /// Whether unknown keys belong to the app, as all unknown keys next to `aps` do.
    var isFromApp: Bool
    /// The option keys that may stand in the outer object, and have no effect in this object.
    var outerOptions: [String]

    init(
      _ fields: PayloadFields, known: [String], near: [String], mustMeanReceipt: Bool, isFromApp: Bool = false,
      outerOptions: [String] = []
    ) {
      self.fields = fields
      let known = Set(known)
      unknown = fields.values.compactMap { key, value in
        if case .null = value { return nil }
        return known.contains(key) ? nil : key
      }.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      self.near = near
      self.mustMeanReceipt = mustMeanReceipt
      self.isFromApp = isFromApp
      self.outerOptions = outerOptions
    }

    /// Returns a key's path for reports and errors.
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
      // An app may have its own keys next to `aps`, but none of them may contradict the payment's kind.
      let near = isBesideAPNs ? ["payment", "kind"] : outer + PayloadKeys.decisive
      let isKindMissing = inner.value("kind") == nil
      return [
        Level(top, known: outer, near: near, mustMeanReceipt: isKindMissing),
        Level(
          inner, known: PayloadKeys.payment, near: PayloadKeys.payment, mustMeanReceipt: isKindMissing,
          outerOptions: surroundings.options),
      ]
    }
    // All keys next to `aps` belong to the app. Only a misspelt `payment` is an error.
    if isBesideAPNs {
      if !top.wasAccepted { try refuse(["amount", "minor"], beside: "aps", top) }
      let known = shapes + ["id"] + (surroundings.allowsText ? ["locale"] : []) + surroundings.options
      return [Level(top, known: known, near: ["payment"], mustMeanReceipt: false, isFromApp: true)]
    }
    // If a text and a payment's key are both present, the error to report is the conflict between them.
    if surroundings.allowsText, top.value("text") != nil,
      PayloadKeys.neverBesideText.allSatisfy({ top.value($0) == nil })
    {
      let known = shapes + ["id", "locale"] + surroundings.options
      return [Level(top, known: known, near: known + PayloadKeys.decisive, mustMeanReceipt: false)]
    }
    let known = PayloadKeys.payment + shapes + surroundings.options
    return [Level(top, known: known, near: known, mustMeanReceipt: top.value("kind") == nil)]
  }

  private static func refuse(
    _ keys: [String], beside source: String, _ top: PayloadFields
  ) throws(AnnouncementError) {
    guard let key = keys.first(where: { top.value($0) != nil }) else { return }
    throw AnnouncementError(
      .fieldsConflict, "\(source) and \(key)", "are both given",
      remedy: source == "payment"
        ? "give the amount only inside payment"
        : "put the payment under the key payment, or remove \(key)")
  }
}

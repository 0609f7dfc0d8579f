// SPDX-License-Identifier: Apache-2.0

/// A text made fit for a terminal, with the columns it takes there.
///
/// Nothing in it moves the cursor, sets a colour or turns the direction of what follows: white space becomes a space,
/// and each control and bidirectional character becomes U+FFFD. Invisible hints for breaking lines are left out.
public struct TerminalText: Sendable, Hashable {
  /// What is never split: a character as a reader sees it.
  struct Cluster: Sendable, Hashable {
    var text: String
    var width: Int
  }

  private(set) var clusters: [Cluster]

  /// In columns.
  public private(set) var width: Int

  public var string: String { clusters.map(\.text).joined() }

  public init(_ text: String) {
    var scalars = String.UnicodeScalarView()
    var previous: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      // A line break of two characters is one piece of white space.
      if !(scalar == "\n" && previous == "\r"), let shown = Self.shown(scalar) { scalars.append(shown) }
      previous = scalar
    }
    self.init(clusters: String(scalars).map(Self.cluster))
  }

  private init(clusters: [Cluster]) {
    self.clusters = clusters
    self.width = clusters.reduce(0) { $0 + $1.width }
  }

  /// As much of it as fits into so many columns, with `…` at its end when that is not all of it; empty when not even
  /// that fits.
  public func cut(to columns: Int) -> TerminalText {
    guard width > columns else { return self }
    guard columns > 0 else { return TerminalText(clusters: []) }
    var taken = 0
    let kept = clusters.prefix { cluster in
      taken += cluster.width
      return taken < columns
    }
    return TerminalText(clusters: kept + [Cluster(text: "…", width: 1)])
  }

  /// More scalars than this in one cluster are no writing: emoji have up to a dozen, and the stream-safe format of
  /// UAX #15 lets 30 marks follow a letter.
  private static let longestCluster = 32

  private static let replacement = Cluster(text: "\u{FFFD}", width: 1)

  /// What is printed for a scalar; nil for one that has no sign and no use on one line.
  private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    switch scalar {
    case "\t", "\n", "\u{B}", "\u{C}", "\r", "\u{85}", "\u{2028}", "\u{2029}":
      return " "
    case "\u{AD}", "\u{200B}", "\u{2060}", "\u{FEFF}":
      // Soft hyphen, zero-width space, word joiner, byte order mark.
      return nil
    case "\u{200C}", "\u{200D}", "\u{E0020}"..."\u{E007F}":
      // They shape Indic letters and emoji.
      return scalar
    default:
      switch scalar.properties.generalCategory {
      case .control, .format, .privateUse, .unassigned:
        return "\u{FFFD}"
      default:
        return scalar
      }
    }
  }

  private static func cluster(_ character: Character) -> Cluster {
    let scalars = character.unicodeScalars
    // One that starts with a mark would sit on whatever is printed before it.
    guard let first = scalars.first, scalars.count <= longestCluster, !first.isJoining else { return replacement }
    return Cluster(text: String(character), width: TerminalWidth.of(character))
  }
}

extension Unicode.Scalar {
  /// Whether it is drawn on the one before it.
  fileprivate var isJoining: Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark, .format: true
    default: TerminalWidth.of(self) == 0
    }
  }
}

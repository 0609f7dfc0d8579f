// SPDX-License-Identifier: Apache-2.0

/// A text that is safe for a terminal, and its width in columns.
///
/// The text cannot move the cursor, set a colour or change the direction of later text. White space becomes a space,
/// and each control or bidirectional character becomes U+FFFD. Invisible hints for line breaks are removed.
public struct TerminalText: Sendable, Hashable {
  /// A character as a reader sees it (a grapheme cluster). It is never divided.
  struct Cluster: Sendable, Hashable {
    var text: String
    var width: Int
  }

  private(set) var clusters: [Cluster]

  /// The width in columns.
  public private(set) var width: Int

  public var string: String { clusters.map(\.text).joined() }

  public init(_ text: String) {
    var scalars = String.UnicodeScalarView()
    var previous: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      // A line break of two characters becomes one space.
      if !(scalar == "\n" && previous == "\r"), let shown = Self.shown(scalar) { scalars.append(shown) }
      previous = scalar
    }
    self.init(clusters: String(scalars).map(Self.cluster))
  }

  private init(clusters: [Cluster]) {
    self.clusters = clusters
    self.width = clusters.reduce(0) { $0 + $1.width }
  }

  /// Returns as much of the text as fits into a number of columns. If the text was cut, it ends with `…`. The result is
  /// empty if not even `…` fits.
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

  /// The largest number of scalars in a cluster. Emoji have up to a dozen scalars, and the stream-safe format of UAX
  /// #15 permits 30 marks after a letter. Real writing needs no more.
  private static let longestCluster = 32

  private static let replacement = Cluster(text: "\u{FFFD}", width: 1)

  /// Returns the scalar to print; `nil` for a scalar that is invisible and has no effect on one line.
  private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar? {
    switch scalar {
    case "\t", "\n", "\u{B}", "\u{C}", "\r", "\u{85}", "\u{2028}", "\u{2029}":
      return " "
    case "\u{AD}", "\u{200B}", "\u{2060}", "\u{FEFF}":
      // These are the soft hyphen, the zero-width space, the word joiner and the byte order mark.
      return nil
    case "\u{200C}", "\u{200D}", "\u{E0020}"..."\u{E007F}":
      // These joiners shape Indic letters and emoji.
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
    // A cluster that starts with a combining mark would combine with the character that was printed before it.
    guard let first = scalars.first, scalars.count <= longestCluster, !first.isJoining else { return replacement }
    return Cluster(text: String(character), width: TerminalWidth.of(character))
  }
}

extension Unicode.Scalar {
  /// Whether the scalar is drawn on top of the previous scalar.
  fileprivate var isJoining: Bool {
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark, .format: true
    default: TerminalWidth.of(self) == 0
    }
  }
}

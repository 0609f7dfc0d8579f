// SPDX-License-Identifier: Apache-2.0

extension LedgerError {
  /// A change of one of the ledger's three files while the ledger was open.
  public struct FileChange: Sendable, Hashable, CustomStringConvertible {
    public enum Part: String, Sendable, Hashable, CaseIterable {
      case file
      /// The write-ahead log, `-wal`.
      case log
      /// The index of the log, `-shm`.
      case index
    }

    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// Nothing has the file's name any more.
      case removed
      /// Another file has the name.
      case replaced
      /// The file is shorter than what was stored in it.
      case cut
      /// Another program wrote into the file.
      case overwritten
    }

    public let part: Part
    public let kind: Kind

    package init(_ part: Part, _ kind: Kind) { (self.part, self.kind) = (part, kind) }

    public var description: String {
      let subject =
        switch part {
        case .file: "the file"
        case .log: "its log (-wal)"
        case .index: "the index of its log (-shm)"
        }
      let verb =
        switch kind {
        case .removed: "removed or renamed"
        case .replaced: "replaced by another file"
        case .cut: "cut"
        case .overwritten: "overwritten"
        }
      return "\(subject) was \(verb) while the ledger was open"
    }
  }
}

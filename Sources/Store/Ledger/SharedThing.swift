// SPDX-License-Identifier: Apache-2.0

extension Ledger {
  /// Something of a node that must be the same on all nodes of a ledger, such as the lexicon.
  ///
  /// A node of another version may know other things. Two nodes are compared by the things that both of them have.
  public struct SharedThing: RawRepresentable, Sendable, Hashable, Comparable {
    /// The name: 1 to 64 lower-case letters, digits, underscores and colons.
    public let rawValue: String

    /// - Returns: nil if a name does not have the form of ``rawValue``.
    public init?(rawValue: String) {
      let isName = rawValue.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
          UInt8(ascii: ":"):
          true
        default: false
        }
      }
      guard isName, (1...64).contains(rawValue.utf8.count) else { return nil }
      self.rawValue = rawValue
    }

    private init(known name: String) { rawValue = name }

    /// The secret that signs URLs. It also is the key of all fingerprints, so two nodes with different secrets have no
    /// equal fingerprint.
    public static let signingSecret = SharedThing(known: "signing_secret")
    /// The apps of the setting `apns`, with their keys.
    public static let pushKeys = SharedThing(known: "push_keys")
    /// `providers.yaml` and the mapping files that it names.
    public static let providers = SharedThing(known: "providers")
    public static let lexicon = SharedThing(known: "lexicon")
    /// The voice packs of the home folder, and which pack speaks which language.
    public static let packs = SharedThing(known: "packs")
    /// The tones of all app groups.
    public static let tones = SharedThing(known: "tones")
    /// The chimes of the settings. Only a node with an output has them.
    public static let chimes = SharedThing(known: "chimes")
    /// The setting `speech_servers`, with the keys and the verdicts on the voices.
    public static let speechServers = SharedThing(known: "speech_servers")
    /// The phrase books, readers, mapping files and tones that come with the program.
    public static let programFiles = SharedThing(known: "program_files")
    /// The voice packs that come with the program.
    public static let installedPacks = SharedThing(known: "installed_packs")
    /// The speech engine with its data.
    public static let engine = SharedThing(known: "engine")
    /// The version of the program. It is in the row of each node, and not among the fingerprints.
    public static let version = SharedThing(known: "version")

    /// Returns one of the settings of `crier.yaml`.
    ///
    /// - Parameter name: The name of the setting, in lower-case letters and underscores.
    public static func setting(_ name: String) -> SharedThing { SharedThing(known: "setting:\(name)") }

    /// Whether the thing comes with the program, so that an upgrade changes it.
    var belongsToProgram: Bool { [.programFiles, .installedPacks, .engine].contains(self) }

    public static func < (first: SharedThing, second: SharedThing) -> Bool { first.rawValue < second.rawValue }
  }
}

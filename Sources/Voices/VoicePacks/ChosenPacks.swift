// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The packs that the user chose, at most one for each locale.
///
/// The JSON has the form `{"packs": {"en-US": "my-shop"}}`.
public struct ChosenPacks: Sendable, Hashable {
  /// A choice for one locale.
  public struct Choice: Sendable, Hashable {
    /// The locale (BCP 47), spelled as in the file or the call that made the choice.
    public var locale: String
    /// The pack's id.
    public var id: String
  }

  /// The choices. The keys are the locales in lower case.
  private var choices: [String: Choice] = [:]

  /// Creates an empty list: no pack is chosen.
  public init() {}

  /// The choices, in the alphabetical order of their locales.
  public var all: [Choice] { choices.sorted { $0.key < $1.key }.map(\.value) }

  /// The id of the pack that is chosen for a locale (in any letter case); `nil` if none is chosen.
  public subscript(locale: String) -> String? {
    get { choices[locale.lowercased()]?.id }
    set { choices[locale.lowercased()] = newValue.map { Choice(locale: locale, id: $0) } }
  }

  private struct Stored: Codable {
    var packs: [String: String]
  }

  /// Parses the bytes of a file of choices. The bytes need not be valid.
  ///
  /// - Parameter name: the file's name, for the error.
  /// - Throws: `VoicePackError` with the code `choicesUnreadable`.
  public init(json: Data, name: String) throws(VoicePackError) {
    guard let stored = try? JSONDecoder().decode(Stored.self, from: json),
      stored.packs.values.allSatisfy(PackManifest.isID)
    else {
      throw VoicePackError(
        .choicesUnreadable, name, "is not a list of chosen voice packs",
        remedy: "remove the file, and choose the packs again with crier voices use")
    }
    for (locale, id) in stored.packs.sorted(by: { $0.key < $1.key }) { self[locale] = id }
  }

  /// Reads a file of choices. A missing file counts as empty.
  ///
  /// - Throws: `VoicePackError` with the code `choicesUnreadable`.
  public init(file: URL) throws(VoicePackError) {
    let bytes: Data
    do {
      bytes = try Data(contentsOf: file)
    } catch CocoaError.fileReadNoSuchFile, CocoaError.fileNoSuchFile {
      self.init()
      return
    } catch {
      throw VoicePackError(
        .choicesUnreadable, file.lastPathComponent, "cannot be read", remedy: "check the permissions of the file")
    }
    try self.init(json: bytes, name: file.lastPathComponent)
  }

  /// The JSON, with locales in alphabetical order.
  public var json: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .prettyPrinted]
      let packs = Dictionary(all.map { ($0.locale, $0.id) }) { first, _ in first }
      return try encoder.encode(Stored(packs: packs))
    }
  }
}

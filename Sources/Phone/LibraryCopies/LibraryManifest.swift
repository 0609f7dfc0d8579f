// SPDX-License-Identifier: Apache-2.0

import Foundation
public import DeviceClient

/// The list of what a phone has of the library, and the anchor of the last change: `Library/Crier/library.json` of the
/// group container.
public struct LibraryManifest: Sendable, Hashable {
  /// A clip in `Library/Sounds`.
  public struct Clip: Sendable, Hashable, Codable {
    public var file: LibraryChange.File
    /// A number that is higher for a newer clip.
    public var order: Int
  }

  /// The clips by their file names. Another program may have removed some of the files since they were listed.
  public var clips: [String: Clip] = [:]

  /// The voice packs by their ids, each with its manifest's digest and size.
  public var packs: [String: LibraryChange.File] = [:]

  /// The tones in `Library/Sounds` by their file names, except those that the app or its user put there.
  public var tones: [String: LibraryChange.File] = [:]

  /// The anchor up to which all changes are in place; nil if the whole library must be listed.
  public var anchor: String?

  /// The value of ``Clip/order`` for the next clip.
  var nextOrder: Int { (clips.values.map(\.order).max() ?? 0) + 1 }
}

extension LibraryManifest: Codable {
  /// Format 2 adds tones. Versions that wrote format 1 ignored tones. Therefore the anchor of a file in format 1 is not
  /// used, and the whole library is listed again.
  private static let currentFormat = 2

  private enum CodingKeys: String, CodingKey { case format, clips, packs, tones, anchor }

  struct UnknownFormat: Error {}

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let format = try container.decode(Int.self, forKey: .format)
    guard (1...Self.currentFormat).contains(format) else { throw UnknownFormat() }
    clips = try container.decode([String: Clip].self, forKey: .clips)
    packs = try container.decode([String: LibraryChange.File].self, forKey: .packs)
    guard format > 1 else { return }
    tones = try container.decode([String: LibraryChange.File].self, forKey: .tones)
    anchor = try container.decodeIfPresent(String.self, forKey: .anchor)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(Self.currentFormat, forKey: .format)
    try container.encode(clips, forKey: .clips)
    try container.encode(packs, forKey: .packs)
    try container.encode(tones, forKey: .tones)
    try container.encodeIfPresent(anchor, forKey: .anchor)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
public import SoundLibrary

/// The clips of a library, grouped by the engine that their records name.
public struct EngineClips: Sendable, Hashable {
  /// The names of the clips, in order. The key is the engine, such as `espeak-ng-1.51-0123456789abcdef`.
  public private(set) var names: [String: [String]] = [:]

  /// The names of files whose engine is unknown: damaged files, files of other programs, and clips from the time before
  /// records named an engine.
  public private(set) var unknown: [String] = []

  /// Reads every clip of a library. This takes as long as it takes to read all files.
  ///
  /// - Throws: `SoundLibraryError`.
  public init(in library: SoundLibrary) throws(SoundLibraryError) {
    for name in try library.names() {
      guard let bytes = try library.contents(of: name) else { continue }
      switch ClipRecord.speaker(of: bytes) {
      case .engine(let engine): names[engine, default: []].append(name)
      case .none: break
      case .unknown: unknown.append(name)
      }
    }
  }

  /// Returns the clips of one engine. The engine is given by its whole name, or only by the 16 digits at the end of the
  /// name, which are the digest of its data.
  public func names(of engine: String) -> [String] {
    names.filter { $0.key == engine || $0.key.hasSuffix("-\(engine)") }.flatMap(\.value).sorted()
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
public import SoundLibrary

/// The clips of a library, grouped by the engine in their records.
public struct EngineClips: Sendable, Hashable {
  /// The clip names of each engine, such as `espeak-ng-1.51-0123456789abcdef`, in order.
  public private(set) var names: [String: [String]] = [:]

  /// The files whose engine is unknown: damaged files, files of other programs, and clips from before records named an
  /// engine.
  public private(set) var unknown: [String] = []

  /// Reads every clip of a library. This takes as long as reading all files.
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

  /// Returns the clips of one engine, given its whole name or only the digest of its data, the 16 digits at its end.
  public func names(of engine: String) -> [String] {
    names.filter { $0.key == engine || $0.key.hasSuffix("-\(engine)") }.flatMap(\.value).sorted()
  }
}

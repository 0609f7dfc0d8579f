// SPDX-License-Identifier: Apache-2.0

import Foundation
public import SoundLibrary

/// The clips of a library by the engine that spoke in them, as their records say.
public struct EngineClips: Sendable, Hashable {
  /// The names of the clips of each engine, such as `espeak-ng-1.51-0123456789abcdef`, in order.
  public private(set) var names: [String: [String]] = [:]

  /// The files of which nobody can say what spoke in them: torn, of another program, or from before records named an
  /// engine.
  public private(set) var unknown: [String] = []

  /// Reads every clip of a library, which takes as long as reading the files does.
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

  /// The clips of one engine: by its whole name, or by the digest of its data alone, the 16 digits at its end.
  public func names(of engine: String) -> [String] {
    names.filter { $0.key == engine || $0.key.hasSuffix("-\(engine)") }.flatMap(\.value).sorted()
  }
}

// SPDX-License-Identifier: Apache-2.0

import Announcer
import ConcurrencySupport
import VoicePacks

/// Values that are computed from voice packs, once for each digest of a pack. Simultaneous callers share one
/// computation.
///
/// A pack has one value at most, so there are never more values than packs. A value is forgotten when the digest of its
/// pack changes, and when the pack is gone; see ``keep(_:)``.
final class PackValues<Value: Sendable>: Sendable {
  private struct Version: Hashable, Sendable {
    var id: String
    var digest: String
  }

  private struct State {
    var kept: [String: (digest: String, value: Value)] = [:]
    var computed = 0
  }

  private let state = Locked(State())
  private let flights = SingleFlight<Version, Value>()

  /// The number of values that are kept.
  var count: Int { state.withLock { $0.kept.count } }
  /// The number of computations so far.
  var computed: Int { state.withLock { $0.computed } }

  /// Returns the value of a pack, and computes it if it is not kept.
  ///
  /// - Parameter compute: Computes the value on a thread that may block. An error is not kept.
  func value(
    for manifest: PackManifest, _ compute: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    let version = Version(id: manifest.id, digest: manifest.digest)
    if let value = kept(version) { return value }
    return try await flights.value(for: version) { [self] in
      // Another computation may have ended since the caller looked.
      if let value = kept(version) { return value }
      let value = try compute()
      state.withLock { state in
        state.computed += 1
        state.kept[version.id] = (version.digest, value)
      }
      return value
    }.value
  }

  /// Forgets the values of packs that are gone or broken, or have another digest.
  func keep(_ packs: [PackState]) {
    let digests = Dictionary(packs.map { ($0.id, $0.digest) }) { first, _ in first }
    state.withLock { state in state.kept = state.kept.filter { digests[$0.key] == $0.value.digest } }
  }

  private func kept(_ version: Version) -> Value? {
    state.withLock { state in
      guard let known = state.kept[version.id], known.digest == version.digest else { return nil }
      return known.value
    }
  }
}

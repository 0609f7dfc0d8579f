// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import DeviceClient
import FileSystem
import Foundation
import HostAddresses
import SoundDownloads
import VoicePacks

/// A service with a library. It answers the calls of a device as the real one, and can be made to fail.
final class PlayedService: SoundFetching {
  struct Line: Sendable {
    var kind: String
    var name: String
    var change: String
    var sha256: String?
    var bytes: Int?
  }

  struct State: Sendable {
    /// All changes so far. The number of a change is its place, beginning with 1.
    var lines: [Line] = []
    var files: [String: [UInt8]] = [:]
    /// Anchors below this number have expired.
    var firstAnchor = 0
    var pageSize = 1_000
    /// The requests as `changes after=3` and `file 0123…`.
    var requests: [String] = []
    /// The number of the request that fails, counted from the last reset.
    var failing: Int?
    var count = 0
    /// The bytes that are sent instead of a file, by the digest of the file.
    var lies: [String: [UInt8]] = [:]
  }

  let state = Locked(State())

  /// Called during each call, with its number, before the answer.
  let whenCalled = Locked<(@Sendable (_ number: Int) async -> Void)?>(nil)

  /// The digests of all files that were requested.
  var fetched: [String] {
    state.withLock { $0.requests.compactMap { $0.hasPrefix("file ") ? String($0.dropFirst(5)) : nil } }
  }
  var requests: [String] { state.withLock { $0.requests } }

  /// Forgets the requests, and lets the one with a number fail.
  func reset(failing number: Int? = nil) {
    state.withLock { state in
      (state.requests, state.count, state.failing) = ([], 0, number)
    }
  }

  @discardableResult
  func add(_ bytes: [UInt8]) -> String {
    let digest = IncrementalSHA256.hexadecimalDigest(of: bytes)
    state.withLock { $0.files[digest] = bytes }
    return digest
  }

  /// Adds or changes a clip.
  @discardableResult
  func addClip(_ name: String, _ bytes: [UInt8]) -> String { addSound("clip", name, bytes) }

  /// Adds or changes a tone.
  @discardableResult
  func addTone(_ name: String, _ bytes: [UInt8]) -> String { addSound("tone", name, bytes) }

  private func addSound(_ kind: String, _ name: String, _ bytes: [UInt8]) -> String {
    let digest = add(bytes)
    append(Line(kind: kind, name: name, change: "added", sha256: digest, bytes: bytes.count))
    return digest
  }

  /// Adds or changes a pack with a clip for each text.
  func addPack(_ id: String, _ clips: [String: [UInt8]]) throws {
    var manifest = PackManifest(id: id, locale: "en-US", speaker: "Ada", licence: "CC0-1.0")
    for (name, bytes) in clips {
      manifest.clips[name] = PackManifest.Clip(text: "word", sha256: add(bytes))
    }
    try add(manifest)
  }

  func add(_ manifest: PackManifest) throws {
    let json = [UInt8](try manifest.json)
    append(Line(kind: "pack", name: manifest.id, change: "changed", sha256: add(json), bytes: json.count))
  }

  func remove(_ kind: String, _ name: String) { append(Line(kind: kind, name: name, change: "removed")) }

  func append(_ line: Line) { state.withLock { $0.lines.append(line) } }

  func fetch(_ request: SoundRequest) async throws -> SoundAnswer {
    let path = request.url.path(percentEncoded: false)
    let (number, isFailing) = state.withLock { state in
      if let digest = path.split(separator: "/").last, path.hasPrefix("/v1/library/files/") {
        state.requests.append("file \(digest)")
      } else {
        state.requests.append("changes \(request.url.query() ?? "")")
      }
      state.count += 1
      return (state.count, state.failing == state.count)
    }
    await whenCalled.withLock { $0 }?(number)
    if isFailing { throw SoundFetchError.connectionLost }
    return state.withLock { state in
      path.hasPrefix("/v1/library/files/") ? Self.file(state, path) : Self.changes(state, request.url)
    }
  }

  private static func file(_ state: State, _ path: String) -> SoundAnswer {
    let digest = String(path.split(separator: "/").last ?? "")
    guard let bytes = state.lies[digest] ?? state.files[digest] else { return answer(404, #"{"code":"not_found"}"#) }
    return answer(200, bytes)
  }

  private static func changes(_ state: State, _ url: URL) -> SoundAnswer {
    let items = URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems
    let after = items?.first { $0.name == "after" }?.value.flatMap { Int($0) }
    if let after, after < state.firstAnchor { return answer(410, #"{"code":"anchor_expired"}"#) }
    // Each name occurs with its latest change only, and a list from the beginning has no removed names.
    var latest: [String: Int] = [:]
    for (index, line) in state.lines.enumerated() { latest["\(line.kind) \(line.name)"] = index }
    let numbered = state.lines.enumerated().filter { index, line in
      index >= after ?? 0 && latest["\(line.kind) \(line.name)"] == index && (after != nil || line.change != "removed")
    }
    let page = numbered.prefix(state.pageSize)
    let isLast = page.count == numbered.count
    let lines = page.map { _, line in
      var fields = [#""kind":"\#(line.kind)","name":"\#(line.name)","change":"\#(line.change)""#]
      if let sha256 = line.sha256 { fields.append(#""sha256":"\#(sha256)","bytes":\#(line.bytes ?? 0)"#) }
      return "{\(fields.joined(separator: ","))}"
    }
    let place = isLast ? state.lines.count : (page.last?.offset ?? 0) + 1
    return answer(
      200, #"{"changes":[\#(lines.joined(separator: ","))],"\#(isLast ? "anchor" : "next")":"\#(place)"}"#)
  }

  private static func answer(_ status: Int, _ text: String) -> SoundAnswer { answer(status, Array(text.utf8)) }

  private static func answer(_ status: Int, _ bytes: [UInt8]) -> SoundAnswer {
    let (stream, continuation) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
    continuation.yield(bytes)
    continuation.finish()
    return SoundAnswer(status: status, fields: [:], body: stream)
  }
}

struct OneHost: HostResolving {
  func addresses(of host: String) async -> [IPAddress] { [IPAddress(bytes: [93, 184, 216, 34])] }
}

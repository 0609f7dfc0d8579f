// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// A run of random answers. It counts the client's requests and results and the peer's answers, and holds the random
/// numbers of the connections.
final class AnswerRun: Sendable {
  let name: String
  /// The folder for the bytes that the peer has sent on the open connections.
  let folder: URL
  private let count: Int
  private let seed: UInt64
  private let start = ContinuousClock.now

  private struct State {
    var begun = 0
    var answers = 0
    var results = 0
    var connections = 0
    var outcomes: [String: Int] = [:]
    var faults: [String] = []
  }

  private let state = Locked(State())

  /// - Parameters:
  ///   - name: The name of the client under test, such as `apns`.
  ///   - count: The number of answers that the peer gives.
  ///   - seed: The seed of the random numbers. It decides the bytes on each connection if the requests come in the same
  ///     order.
  init(name: String, count: Int, seed: UInt64) throws {
    (self.name, self.count, self.seed) = (name, count, seed)
    folder = URL(filePath: ".build/fuzz/found", directoryHint: .isDirectory)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  // MARK: The client

  /// Counts a request that the caller is about to send.
  ///
  /// - Returns: False if the peer has given all answers. No request is sent then.
  func begin() -> Bool {
    state.withLock { state in
      guard state.answers < count else { return false }
      state.begun += 1
      return true
    }
  }

  /// Counts a result of a request.
  ///
  /// - Parameter outcome: The kind of the result, in one word.
  func ended(_ outcome: String) {
    state.withLock { state in
      state.results += 1
      state.outcomes[outcome, default: 0] += 1
    }
  }

  /// Notes a rule that a result breaks.
  func fail(_ fault: String) { state.withLock { if $0.faults.count < 1_000 { $0.faults.append(fault) } } }

  // MARK: The peer

  /// Counts an answer that the peer sends.
  func answered() { state.withLock { $0.answers += 1 } }

  /// Begins a connection of the peer.
  func connect() -> AnswerConnection {
    let number = state.withLock { state in
      state.connections += 1
      return state.connections
    }
    return AnswerConnection(number, seed: seed, file: folder.appending(path: "\(name)-\(number)"))
  }

  // MARK: The result

  var results: Int { state.withLock { $0.results } }

  /// The rules that were broken, in words.
  var faults: [String] {
    state.withLock { state in
      guard state.begun != state.results else { return state.faults }
      return state.faults + ["\(state.begun) requests were sent, and there are \(state.results) results."]
    }
  }

  var progress: String {
    let state = state.withLock { $0 }
    let seconds = max(1, Int((ContinuousClock.now - start) / .seconds(1)))
    return "\(name): \(state.answers) of \(count) answers on \(state.connections) connections, "
      + "\(state.results) results, \(state.answers / seconds) answers a second"
  }

  var summary: String {
    let outcomes = state.withLock { $0.outcomes }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    return "\(progress); seed \(seed); \(outcomes.joined(separator: ", ")); faults: \(faults.count)"
  }
}

/// One connection of a peer: its random numbers, and the bytes that it has sent.
///
/// The bytes are kept in a file until the connection ends. They are still there if an answer ends the program. Only the
/// event loop of the connection uses this object.
final class AnswerConnection {
  var random: AnswerRandom
  private let url: URL
  private let file: FileHandle?

  fileprivate init(_ number: Int, seed: UInt64, file url: URL) {
    random = AnswerRandom(seed: seed &+ UInt64(number) &* 0x9E37_79B9_7F4A_7C15)
    self.url = url
    _ = FileManager.default.createFile(atPath: url.path(percentEncoded: false), contents: nil)
    file = try? FileHandle(forWritingTo: url)
  }

  /// Notes bytes that are about to be sent.
  func record(_ bytes: [UInt8]) { try? file?.write(contentsOf: Data(bytes)) }

  func end() {
    try? file?.close()
    try? FileManager.default.removeItem(at: url)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Sends requests with Crier's own clients to a peer that answers at random, over real sockets:
///
///     hostile-answers HALF COUNT [SEED]
///
/// The program ends with exit status 0 when the peer has given COUNT answers and each request has exactly one result.
/// If an answer ends the program, the bytes that the peer had sent on the connections that were open are in
/// `.build/fuzz/found/HALF-<connection>`.
@main
enum HostileAnswers {
  /// The clients with their peers. Each sends requests as long as ``AnswerRun/begin()`` allows.
  private static let halves: [String: @Sendable (AnswerRun) async throws -> Void] = [
    "apns": PushAnswers.run, "webhook": WebhookAnswers.run,
  ]

  /// The time in seconds without a result after which a run counts as hanging.
  private static let patience = 120
  /// The time in seconds between two lines of progress.
  private static let pace = 10

  static func main() async throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    guard (2...3).contains(arguments.count), let half = halves[arguments[0]],
      let count = Int(arguments[1]), count > 0, let seed = UInt64(arguments.count == 3 ? arguments[2] : "1")
    else {
      let names = halves.keys.sorted().joined(separator: "|")
      note("hostile-answers: give what answers, and how often, as in: hostile-answers \(names) 20000 [SEED]")
      exit(64)
    }
    let run = try AnswerRun(name: arguments[0], count: count, seed: seed)
    let watch = Task { try await Self.watch(run) }
    try await half(run)
    watch.cancel()
    print(run.summary)
    for fault in run.faults.prefix(20) { note(fault) }
    exit(run.faults.isEmpty ? 0 : 1)
  }

  private static func watch(_ run: AnswerRun) async throws {
    var (before, idle) = (-1, 0)
    while true {
      try await Task.sleep(for: .seconds(pace))
      let results = run.results
      idle = results == before ? idle + pace : 0
      before = results
      note(run.progress)
      if idle >= patience {
        note("No request has had a result for \(idle) s. The bytes of the open connections are in \(run.folder.path).")
        exit(1)
      }
    }
  }

  private static func note(_ line: String) { FileHandle.standardError.write(Data("\(line)\n".utf8)) }
}

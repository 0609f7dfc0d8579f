// SPDX-License-Identifier: Apache-2.0

import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("A player that is killed", .serialized)
struct PlayerKillChecks {
  private static let program = (Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))
    .deletingLastPathComponent().appending(path: "play-log")

  private struct Line: Decodable {
    var event: String
    var label: String?
    var outcome: String?
  }

  /// A shop's morning: 30 payments, played by a process that is killed repeatedly until it finishes.
  private struct Queue {
    let folder = FileManager.default.temporaryDirectory.appending(path: "kill-\(UUID().uuidString)")
    var log: URL { folder.appending(path: "played.log") }
    var ledger: URL { folder.appending(path: "ledger.sqlite") }
    let milliseconds: Int

    init(milliseconds: Int) throws {
      self.milliseconds = milliseconds
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// Starts the process.
    ///
    /// - Returns: the process identifier. (`Process` needs a run loop, which the threads of tests do not have.)
    private func run() throws -> pid_t {
      let words = [program.path, ledger.path, log.path, String(milliseconds)] + (1...30).map { "payment-\($0)" }
      let arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
      defer { for argument in arguments { free(argument) } }
      var number: pid_t = 0
      let fault = posix_spawn(&number, program.path, nil, nil, arguments, environ)
      guard fault == 0 else { throw Missing(what: "play-log (error number \(fault))") }
      return number
    }

    /// Returns the process's status as `waitpid` reports it: 0 for a program that finished.
    private func wait(for number: pid_t) -> Int32 {
      var status: Int32 = 0
      while waitpid(number, &status, 0) < 0, errno == EINTR {}
      return status
    }

    /// Runs the process, and kills it after this many microseconds.
    ///
    /// - Returns: false when the process finished earlier.
    func kill(after microseconds: UInt32) throws -> Bool {
      let number = try run()
      usleep(microseconds)
      _ = Foundation.kill(number, SIGKILL)
      guard wait(for: number) == SIGKILL else { return false }
      // The test adds a line of its own after the process's output.
      let handle = try FileHandle(forUpdating: log)
      try handle.seekToEnd()
      try handle.write(contentsOf: Data("{\"event\":\"kill\"}\n".utf8))
      try handle.close()
      return true
    }

    func runToEnd() throws { #expect(wait(for: try run()) == 0) }

    func lines() throws -> [Line] {
      try Data(contentsOf: log).split(separator: UInt8(ascii: "\n"))
        .map { try JSONDecoder().decode(Line.self, from: $0) }
    }
  }

  /// The combined evidence of all logs.
  private struct Findings {
    var kills = 0
    var interrupted = 0
    var heardAndAgain = 0
    /// How often an announcement was set aside.
    var aside = 0
  }

  private func check(_ lines: [Line], _ findings: inout Findings) {
    var played: [String] = []
    var open: String?
    var latest: String?
    // The announcements that a kill interrupted and that have not begun since, and whether they were sounding.
    var mayComeAgain: [String: Bool] = [:]
    // The announcements that were under way at two kills in a row. They are heard after the others.
    var aside: Set<String> = []
    for line in lines {
      switch (line.event, line.label) {
      case ("begin", let label?):
        #expect(open == nil, "an announcement began while another played")
        if played.contains(label) {
          let wasOpen = mayComeAgain[label]
          #expect(wasOpen != nil, "\(label) was played again, although nothing interrupted it")
          if wasOpen == true { findings.interrupted += 1 } else { findings.heardAndAgain += 1 }
        } else {
          played.append(label)
        }
        mayComeAgain[label] = nil
        (open, latest) = (label, label)
      case ("aside", let label?):
        aside.insert(label)
        findings.aside += 1
      case ("end", let label?):
        #expect(open == label && line.outcome == "heard")
        open = nil
      default:
        findings.kills += 1
        if let latest { mayComeAgain[latest] = open != nil }
        open = nil
      }
    }
    let all = (1...30).map(String.init)
    #expect(Set(played) == Set(all) && played.count == all.count, "each is played once")
    #expect(
      played.filter { !aside.contains($0) } == all.filter { !aside.contains($0) },
      "all are played in order, but for those that were under way at two kills in a row")
  }

  @Test(
    "after a player is killed 200 times, its log has each announcement once and in order, except interrupted ones",
    .timeLimit(.minutes(10)))
  func killed() throws {
    var random = SplitMix64(seed: 30)
    var findings = Findings()
    var rounds = 0
    let start = ContinuousClock.now
    while findings.kills < 200 {
      let queue = try Queue(milliseconds: [0, 5, 20][rounds % 3])
      defer { queue.remove() }
      _ = FileManager.default.createFile(atPath: queue.log.path, contents: nil)
      rounds += 1
      // The range is as long as the whole run may take, so that the moments are spread over it.
      for _ in 0..<8 {
        let longest = UInt32(60_000 + queue.milliseconds * 30_000 / 3)
        guard try queue.kill(after: UInt32.random(in: 0...longest, using: &random)) else { break }
      }
      try queue.runToEnd()
      check(try queue.lines(), &findings)
    }
    print(
      """
      kill: \(findings.kills) kills of \(rounds) queues in \(ContinuousClock.now - start): \(findings.interrupted) \
      interrupted a sound that was then played again, \(findings.heardAndAgain) fell between its end and the disk, \(findings.aside) times one was set aside
      """)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

/// The program `hostile-answers` sends requests with Crier's own clients to a peer that answers at random. `make fuzz`
/// runs it with a million answers, and `make check` with 20,000 for each client; `CRIER_ANSWERS` sets the number.
@Suite("Answers of other services")
struct HostileAnswerChecks {
  private static let program = Bundle.main.executableURL?.deletingLastPathComponent().appending(path: "hostile-answers")
  private static let count = ProcessInfo.processInfo.environment["CRIER_ANSWERS"] ?? "20000"

  @Test(
    "random answers of other services do not end a process, and each request has exactly one result",
    arguments: ["apns", "webhook"])
  func answers(_ half: String) throws {
    let (process, output) = (Process(), Pipe())
    process.executableURL = Self.program
    process.arguments = [half, Self.count]
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0, "\(text)")
    #expect(text.contains("faults: 0"), "\(text)")
    print(text)
  }
}

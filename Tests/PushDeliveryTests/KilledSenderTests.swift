// SPDX-License-Identifier: Apache-2.0

import PushTestSupport
import Testing

extension Networked {
  @Suite("A killed sender")
  struct KilledSenderTests {
    @Test(
      "if the sender is killed at random moments, every push ends, and a push that was sent twice has the same id",
      .timeLimit(.minutes(5)))
    func killed() async throws {
      let findings = try await KilledSenders(pushes: 1_000, kills: 5).run()
      #expect(findings.faults.isEmpty)
      #expect(findings.kills == 5)
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import SpeechServerTestSupport
import TestSupport
import Testing
import Waveforms

@testable import SpeechServers

extension Networked {
  /// None of these servers may end the process, keep a call beyond its limits, or use memory beyond them. The limits of
  /// time decide nothing here: each of these answers is refused as soon as it is seen.
  @Suite("Misbehaving speech servers", .timeLimit(.minutes(5)))
  struct MisbehavingServerTests {
    @Test(
      "each fault of a Wyoming server gives an error whose code names the fault", arguments: Misbehaviour.overWyoming)
    func wyoming(_ misbehaviour: Misbehaviour) async throws {
      let server = try await StandInSpeechServer { _ in misbehaviour.answer }
      try await refuses(misbehaviour, try Fixture.wyoming(server))
    }

    @Test(
      "each fault of an HTTP speech server gives an error whose code names the fault", arguments: Misbehaviour.overHTTP)
    func openAI(_ misbehaviour: Misbehaviour) async throws {
      let server = try await StandInSpeechServer { _ in misbehaviour.answer }
      try await refuses(misbehaviour, try Fixture.openAI(server))
    }

    private func refuses(_ misbehaviour: Misbehaviour, _ settings: SpeechServer) async throws {
      var settings = settings
      settings.limits.mostBytes = 2 << 20
      let client = try SpeechServerClient(settings)
      let words = try Fixture.words()
      do {
        _ = try await client.speak(words)
        Issue.record("The sound was accepted.")
      } catch {
        #expect(misbehaviour.codes.contains(error.code), "\(error)")
        #expect(error.server == settings.id && error.isOfServer)
        #expect(!error.description.contains("twelve"), "an error contains no word")
      }
    }

    @Test("a speech server that closed a connection too early is sent the next words, and speaks them")
    func goesOn() async throws {
      let bad = StandInAnswer([.close])
      let server = try await StandInSpeechServer { request in
        request.text.contains("one dollar") ? bad : Fixture.speak(request)
      }
      var settings = try Fixture.wyoming(server)
      settings.mostAtOnce = 1
      let client = try SpeechServerClient(settings)
      let (failing, spoken) = (try Fixture.words("1.00"), try Fixture.words("3.00"))
      for _ in 0..<5 {
        await expectSpeechServerError(.closedEarly) { try await client.speak(failing) }
        #expect(try await EncodedSpeech.text(in: client.speak(spoken).samples) == spoken.text)
      }
    }
  }
}

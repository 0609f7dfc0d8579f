// SPDX-License-Identifier: Apache-2.0

import SpeechEngine
import Testing

#if os(Linux)
  import Glibc

  @Suite("A signal from outside does not count as a failure of the text", .timeLimit(.minutes(2)))
  struct SpeakerSignalTests {
    /// The signals that end a service, a terminal session or a process group, and may reach all processes at once.
    private static let requestsToEnd = [SIGTERM, SIGINT, SIGHUP, SIGQUIT]

    /// Returns the voice processes of the running speakers and their children. Some may end while the list is created.
    private static func voiceProcesses(of engine: SpeechEngine) async -> [Int32] {
      let voices = await engine.speakerProcesses().flatMap { (try? SystemProcess.children(of: $0)) ?? [] }
      return voices + voices.flatMap { (try? SystemProcess.children(of: $0)) ?? [] }
    }

    @Test(
      "if voice processes and their children get a signal during a batch, no text is lost or corrupted",
      arguments: requestsToEnd + [SIGKILL, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM, SIGVTALRM])
    func batch(signal: Int32) async throws {
      let engine = BuiltSpeaker.engine(speakers: 2)
      let good = try await engine.speak(BuiltSpeaker.chinese)
      var reached = 0
      try await withThrowingTaskGroup(of: Speech.self) { group in
        for _ in 0..<80 { group.addTask { try await engine.speak(BuiltSpeaker.chinese) } }
        var spoken = 0
        for try await speech in group {
          #expect(speech == good)
          spoken += 1
          // A request is tried four times, so signals must be more than one utterance apart.
          guard spoken % 20 == 0 else { continue }
          for process in await Self.voiceProcesses(of: engine) where kill(process, signal) == 0 { reached += 1 }
        }
        #expect(spoken == 80)
      }
      #expect(reached > 0)
    }

    @Test("a request to terminate ends none of the speaker's processes", arguments: requestsToEnd)
    func requestToEnd(signal: Int32) async throws {
      let engine = BuiltSpeaker.engine(speakers: 1)
      let good = try await engine.speak(BuiltSpeaker.english)
      let speaker = try #require(await engine.speakerProcesses().first)
      let voices = try SystemProcess.children(of: speaker)
      #expect(voices.count == 1)
      for process in [speaker] + (await Self.voiceProcesses(of: engine)) { kill(process, signal) }
      for _ in 0..<3 { #expect(try await engine.speak(BuiltSpeaker.english) == good) }
      #expect(await engine.speakerProcesses() == [speaker])
      #expect(try SystemProcess.children(of: speaker) == voices)
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0

import Foundation
import SpeechEngine
import Testing
import TestSupport

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

@Suite("The pool of speakers")
struct SpeakerPoolTests {
  @Test("a speaker that was killed while idle is restarted, and the next request gets the same sound")
  func killedIdle() async throws {
    let engine = BuiltSpeaker.engine(speakers: 1)
    let good = try await engine.speak(BuiltSpeaker.english)
    for _ in 0..<5 {
      for process in await engine.speakerProcesses() { kill(process, SIGKILL) }
      #expect(try await engine.speak(BuiltSpeaker.english) == good)
    }
  }

  @Test("killing speakers during a batch neither loses nor corrupts a text")
  func killedBusy() async throws {
    let engine = BuiltSpeaker.engine(speakers: 2)
    let good = try await engine.speak(BuiltSpeaker.chinese)
    var processes = Set<Int32>()
    try await withThrowingTaskGroup(of: Speech.self) { group in
      for _ in 0..<200 { group.addTask { try await engine.speak(BuiltSpeaker.chinese) } }
      var spoken = 0
      for try await speech in group {
        #expect(speech == good)
        spoken += 1
        // A killed speaker's request is repeated once, so kills must be more than one utterance apart.
        if spoken % 40 == 0 {
          let alive = await engine.speakerProcesses()
          processes.formUnion(alive)
          if let victim = alive.randomElement() { kill(victim, SIGKILL) }
        }
      }
      #expect(spoken == 200)
    }
    #expect(processes.count > 2)
  }

  @Test("a speaker that hangs is stopped at the deadline, and its request is repeated")
  func stopped() async throws {
    let engine = BuiltSpeaker.engine(speakers: 1, deadlineMilliseconds: 200)
    let good = try await engine.speak(BuiltSpeaker.english)
    for process in await engine.speakerProcesses() { kill(process, SIGSTOP) }
    #expect(try await engine.speak(BuiltSpeaker.english) == good)
  }

  @Test("a request beyond the limit of the speakers' queue fails at once")
  func fullQueue() async throws {
    let engine = BuiltSpeaker.engine(speakers: 1, longestQueue: 4)
    let outcomes = await withTaskGroup(of: SpeechEngineError.Code?.self) { group in
      for _ in 0..<40 {
        group.addTask {
          do throws(SpeechEngineError) {
            _ = try await engine.speak(BuiltSpeaker.english)
            return nil
          } catch { return error.code }
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(outcomes.filter { $0 == .queueFull }.count >= 30)
    #expect(outcomes.allSatisfy { $0 == nil || $0 == .queueFull })
    #expect(outcomes.contains(nil))
  }

  @Test("a request that is cancelled while it waits for a speaker leaves its place to another request")
  func cancelledWaiter() async throws {
    let engine = BuiltSpeaker.engine(speakers: 1, longestQueue: 1, deadlineMilliseconds: 20_000)
    let long = Utterance(voice: "en-us+f2", rate: 160, text: String(repeating: "received twelve dollars, ", count: 60))
    let busy = Task { try await engine.speak(long) }
    try await eventually { await !engine.speakerProcesses().isEmpty }
    let waiter = Task { try await engine.speak(BuiltSpeaker.english) }
    waiter.cancel()
    await #expect(throws: SpeechEngineError.self) { try await waiter.value }
    #expect(try await engine.speak(BuiltSpeaker.english).isComplete)
    #expect(try await !busy.value.isComplete)
  }

  @Test("the error for a missing speaker program says what to install")
  func noProgram() async throws {
    let engine = SpeechEngine(.init(speaker: URL(filePath: "/nonexistent/speaker")))
    let error = await #expect(throws: SpeechEngineError.self) { try await engine.speak(BuiltSpeaker.english) }
    #expect(error?.code == .engineUnavailable)
    #expect(error?.remedy == "build or install it beside crier (make install)")
  }

  @Test(
    "if the speaker program is not a speaker, or exits at once, the engine is unavailable",
    arguments: ["/bin/true", "/bin/cat"])
  func wrongProgram(path: String) async throws {
    let engine = SpeechEngine(.init(speaker: URL(filePath: path), deadlineMilliseconds: 100))
    let error = await #expect(throws: SpeechEngineError.self) { try await engine.identity() }
    #expect(error?.code == .engineUnavailable)
  }

  @Test("the identity of the engine contains its version and the digest of its data")
  func identity() async throws {
    let identity = try await BuiltSpeaker.engine().identity()
    #expect(identity.version.hasPrefix("1."))
    #expect(identity.description.hasPrefix("espeak-ng-1."))
    #expect(try await BuiltSpeaker.engine().identity() == identity)
  }

  @Test("no speaker process remains after the engine is released")
  func end() async throws {
    var engine: SpeechEngine? = BuiltSpeaker.engine(speakers: 1)
    _ = try await engine?.speak(BuiltSpeaker.english)
    let processes = await engine?.speakerProcesses() ?? []
    #expect(processes.count == 1)
    engine = nil
    for process in processes { try await eventually { kill(process, 0) != 0 } }
  }
}

// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import SpeechServerTestSupport
import TestSupport
import Testing
import Waveforms

@testable import SpeechServers

extension Networked {
  @Suite("A speech server as a voice", .timeLimit(.minutes(5)))
  struct SpeechServerVoiceTests {
    @Test("a speech server that fails twice rests, and a successful trial after the rest makes it available again")
    func rests() async throws {
      let (works, now) = (Locked(false), Locked(Duration.zero))
      let server = try await StandInSpeechServer { request in
        works.withLock { $0 } ? Fixture.speak(request) : StandInAnswer([.close])
      }
      let voice = try SpeechServerVoice(Fixture.wyoming(server), now: { now.withLock { $0 } })
      let words = try Fixture.words()
      for _ in 0..<2 { await expectSpeechServerError(.closedEarly) { try await voice.speak(words) } }
      #expect(voice.status.state == .open && voice.status.failures == 2 && voice.status.reason == "closed_early")
      #expect(voice.status.rest == SpeechServerCircuit.firstRest && voice.status.failingFor == .zero)
      for _ in 0..<5 { await expectSpeechServerError(.resting) { try await voice.speak(words) } }
      #expect(server.connectionCount == 2, "a server that rests is not asked")

      now.withLock { $0 = .seconds(5) }
      works.withLock { $0 = true }
      #expect(voice.status.state == .halfOpen)
      #expect(try await EncodedSpeech.text(in: voice.speak(words).samples) == words.text)
      let status = voice.status
      #expect(status.state == .closed && status.failures == 0 && status.reason == nil && status.id == "joe")
    }

    @Test("after a rest, a speech server is asked for its description by one caller only")
    func trial() async throws {
      let (now, descriptions) = (Locked(Duration.zero), Locked(0))
      let server = try await StandInSpeechServer { request in
        guard request.asksForDescription else { return StandInAnswer([.close]) }
        let number = descriptions.withLock { count in
          count += 1
          return count
        }
        return number == 1 ? StandInAnswer([.stall]) : .description(voice: "joe")
      }
      let voice = try SpeechServerVoice(Fixture.wyoming(server), now: { now.withLock { $0 } })
      let words = try Fixture.words()
      for _ in 0..<2 { await expectSpeechServerError(.closedEarly) { try await voice.speak(words) } }
      now.withLock { $0 = SpeechServerCircuit.firstRest }
      let first = Task { try await voice.identity() }
      _ = try await server.received(3)
      for _ in 0..<3 { await expectSpeechServerError(.resting) { try await voice.identity() } }
      first.cancel()
      await expectSpeechServerError(.cancelled) { try await first.value }
      #expect(try await voice.identity().hasPrefix("stand-in 2, "))
    }

    @Test(
      "the identity of a voice of OpenAI's protocol has the voice's model and name, and the set speed and sound format")
    func identity() throws {
      var server = SpeechServer(
        id: "joe", address: try SpeechServerAddress(openAI: "http://127.0.0.1:1/v1"), voice: "nova", locales: ["en"])
      #expect(SpeechServerDescription().identity(of: server) == "tts-1, nova")
      (server.speedPercent, server.soundForm) = (150, .pcm(sampleRate: 24_000))
      #expect(SpeechServerDescription().identity(of: server) == "tts-1, nova, speed 150 %, pcm at 24000 Hz")
    }

    @Test("a sound that does not fit its words is refused with a reason, and counts as a failure of the server")
    func judged() async throws {
      let server = try await StandInSpeechServer { _ in .wyoming(EncodedSpeech.samples(for: "no")) }
      let voice = try SpeechServerVoice(Fixture.wyoming(server))
      let words = try Fixture.words("3497.05")
      do {
        _ = try await voice.speak(words)
        Issue.record("The sound was accepted.")
      } catch {
        #expect(error.refusal == .tooShort && error.reason == "sound_refused:too_short")
      }
      #expect(voice.status.failures == 1)
    }

    @Test("a cancelled call, and words that may not be sent, do not count as failures of the server")
    func neutral() async throws {
      let server = try await StandInSpeechServer { _ in StandInAnswer([.stall]) }
      var settings = try Fixture.wyoming(server)
      settings.hearsNames = false
      let voice = try SpeechServerVoice(settings)
      let (plain, named) = (try Fixture.words(), try Fixture.words(payer: "John Smith"))
      for round in 1...3 {
        let speaking = Task { try await voice.speak(plain) }
        _ = try await server.received(round)
        speaking.cancel()
        await expectSpeechServerError(.cancelled) { try await speaking.value }
        await expectSpeechServerError(.namesStay) { try await voice.speak(named) }
      }
      #expect(voice.status.failures == 0 && voice.status.state == .closed)
    }

    @Test("a requested speed is sent to a server of OpenAI's protocol, and is ignored for a Wyoming server")
    func speed() async throws {
      let server = try await StandInSpeechServer(answering: Fixture.speak)
      var settings = try Fixture.openAI(server)
      settings.speedPercent = 120
      let words = try Fixture.words()
      _ = try await SpeechServerVoice(settings).speak(words, speedPercent: 110)
      let body = String(decoding: try #require(server.requests.first).body, as: UTF8.self)
      #expect(body.contains(#""speed":1.32"#))
      #expect(try await SpeechServerVoice(Fixture.wyoming(server)).speak(words, speedPercent: 110).samples.count > 0)
    }

    @Test("each of many simultaneous payments is spoken in its own words or fails, whatever the server does in between")
    func manyPayments() async throws {
      let count = Locked(0)
      let server = try await StandInSpeechServer { request in
        let number = count.withLock { count in
          count += 1
          return count
        }
        guard number.isMultiple(of: 3) else { return Fixture.speak(request) }
        return request.firstLine.hasPrefix("{") ? Misbehaviour.overWyoming[number % 8].answer : StandInAnswer([.close])
      }
      for settings in [try Fixture.wyoming(server), try Fixture.openAI(server)] {
        let client = try SpeechServerClient(settings)
        var spoken = 0
        try await withThrowingTaskGroup(of: Bool.self) { group in
          for number in 1...24 {
            let words = try Fixture.words("\(number).05")
            group.addTask {
              do throws(SpeechServerError) {
                let sound = try await client.speak(words)
                #expect(EncodedSpeech.text(in: sound.samples) == words.text)
                return true
              } catch {
                #expect(error.isOfServer)
                return false
              }
            }
          }
          for try await wasSpoken in group where wasSpoken { spoken += 1 }
        }
        #expect(spoken == 16)
      }
    }
  }
}

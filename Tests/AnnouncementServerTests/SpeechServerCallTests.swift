// SPDX-License-Identifier: Apache-2.0

import Announcer
import Foundation
import SpeechServerTestSupport
import SpeechServers
import TestSupport
import Testing

@testable import AnnouncementServer

/// The service with a speech server. The sounds of the stand-in server encode the texts that it was asked for.
@Suite("A service with a speech server", .serialized, .timeLimit(.minutes(5)))
struct SpeechServerCallTests {
  private static func answer(_ request: StandInSpeechServer.Request) -> StandInAnswer {
    request.asksForDescription
      ? .description(voice: "voice") : .wyoming(EncodedSpeech.samples(for: request.text))
  }

  private func service(
    _ server: StandInSpeechServer, saysAmounts: Bool? = true, locales: [String] = ["en-US"]
  ) throws -> TestService {
    let port = try server.port.orThrow("a port")
    var settings = SpeechServer(
      id: "joe", address: try SpeechServerAddress(wyoming: "tcp://127.0.0.1:\(port)"), voice: "voice",
      locales: locales)
    settings.saysAmounts = saysAmounts
    settings.limits = SpeechServerLimits(whole: .seconds(120), firstSound: .seconds(110), connect: .seconds(60))
    let voices = SpeechServerVoices([try SpeechServerVoice(settings)], verdicts: nil)
    return try TestService { $0.speechServers = voices }
  }

  private func payment(_ id: String, _ options: String = "") -> String {
    #"{"id":"\#(id)","amount":"12.50","currency":"USD","locale":"en-US"\#(options)}"#
  }

  @Test("the answer names the server that spoke, and a repeated request gets the same clip")
  func speaks() async throws {
    let server = try await StandInSpeechServer(answering: Self.answer)
    let service = try service(server)
    let client = try await service.client()
    let answer = try await client.post(payment("a"))
    #expect(answer.status == 201)
    #expect(try answer.string("voice") == "joe" && answer.value("reproducible") as? Bool == false)
    #expect(try answer.object["fallback"] is NSNull)
    let again = try await client.post(payment("a"))
    #expect(try again.status == 200 && again.string("clip.name") == answer.string("clip.name"))
    // The second payment with the same words has the clip that is in memory.
    let other = try await client.post(payment("b"))
    #expect(try other.string("clip.name") == answer.string("clip.name") && other.value("cached") as? Bool == true)
    #expect(server.requests.count { !$0.asksForDescription } == 1)
  }

  @Test("a failing speech server degrades the service, and is shown in /readyz, in the metrics and in the shop's state")
  func failing() async throws {
    let server = try await StandInSpeechServer { _ in StandInAnswer([.close]) }
    let service = try service(server)
    let client = try await service.client()
    for id in ["a", "b"] {
      let answer = try await client.post(payment(id))
      #expect(try answer.status == 201 && answer.string("fallback") == "closed_early")
    }
    let ready = try await service.stranger.get("/readyz")
    #expect(try ready.status == 200 && ready.string("status") == "degraded")
    #expect(try ready.string("checks.speech_servers.code") == "speech_server_failing")
    #expect(try ready.string("checks.speech_servers.cause") == "closed_early")
    let metrics = MetricLines(try await service.stranger.get("/metrics").text)
    #expect(metrics.faults == [] && metrics.values[#"crier_speech_server_up{server="joe"}"#] == 0)
    #expect(metrics.values[#"crier_voice_fallbacks_total{reason="closed_early"}"#] == 2)
    let shop = try await client.get("/v1/shop")
    #expect(try shop.string("problems.0.code") == "speech_server_failing")
    #expect(try shop.string("problems.0.cause") == "closed_early")
  }

  @Test("/readyz has the state 'none' for speech servers if the service has no speech server")
  func none() async throws {
    let service = try TestService()
    #expect(try await service.stranger.get("/readyz").string("checks.speech_servers.state") == "none")
  }

  @Test("the list of voices has a speech server for each of its locales, with its state and its test result")
  func listed() async throws {
    let server = try await StandInSpeechServer(answering: Self.answer)
    let service = try service(server, saysAmounts: nil)
    let client = try await service.client()
    _ = try await client.post(payment("a"))
    let voices = try (try await client.get("/v1/voices").value("voices") as? [[String: Any]]).orThrow("voices")
    let own = try voices.first { $0["voice"] as? String == "joe" }.orThrow("joe")
    #expect(own["locale"] as? String == "en-US" && own["is_default"] as? Bool == false)
    let state = try (own["speech_server"] as? [String: Any]).orThrow("the server")
    #expect(state["state"] as? String == "closed" && state["amounts"] is NSNull && state["verdict"] is NSNull)
    #expect(state["identity"] as? String == "stand-in 2, voice 1.0")
    #expect(voices.filter { $0["voice"] as? String != "joe" }.allSatisfy { $0["speech_server"] is NSNull })
  }

  @Test("a speech server that speaks a language is listed for each locale of the language")
  func language() async throws {
    let service = try service(try await StandInSpeechServer(answering: Self.answer), locales: ["en"])
    let answer = try await service.client().get("/v1/voices")
    let voices = try (try answer.value("voices") as? [[String: Any]]).orThrow("voices")
    let locales = voices.filter { $0["voice"] as? String == "joe" }.compactMap { $0["locale"] as? String }
    #expect(locales.contains("en-US") && locales.allSatisfy { $0.hasPrefix("en-") })
  }

  @Test("a payment can name a speech server as its voice, and a rate with such a voice is refused")
  func named() async throws {
    let server = try await StandInSpeechServer(answering: Self.answer)
    let service = try service(server)
    let client = try await service.client()
    #expect(try await client.post(payment("a", #","voice":"joe""#)).string("voice") == "joe")
    let refused = try await client.post(payment("b", #","voice":"joe","rate":200"#))
    #expect(refused.status == 422 && refused.code == "option_invalid")
  }
}

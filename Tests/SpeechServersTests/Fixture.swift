// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import ConcurrencySupport
import Foundation
import SpeakingPlans
import SpeechServerTestSupport
import TestSupport
import Testing

@testable import SpeechServers

/// The suites with servers. They run one after the other, so that each gets enough processor.
@Suite(.serialized) enum Networked {}

/// Words of the checkout's phrase books, and servers that speak them.
enum Fixture {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private static let loadedBooks = Result { try PhraseBooks(directory: root.appending(path: "Templates")) }

  static func books() throws -> PhraseBooks { try loadedBooks.get() }

  static let readers = AmountReaders(directory: root.appending(path: "Readers"))

  static func payment(_ amount: String = "12.50", payer: String? = nil) throws -> Payment {
    let currency = try Currency.named("USD", field: "currency")
    var payment = Payment(id: "p1", amount: try Money(decimalText: amount, currency: currency))
    payment.payer = payer
    return payment
  }

  static func script(_ announcement: Announcement, locale: String = "en-US") throws -> Script {
    try books().writer(for: locale).script(for: announcement)
  }

  /// Returns the words of a payment.
  static func words(_ amount: String = "12.50", payer: String? = nil) throws -> ReadBackWords {
    let announcement = Announcement.payment(try payment(amount, payer: payer))
    let plan = SpeakingPlan(spoken: try script(announcement))
    return try words(of: plan, saying: announcement).orThrow("words")
  }

  static func words(
    of plan: SpeakingPlan, saying announcement: Announcement, locale: String = "en-US"
  ) throws -> ReadBackWords? {
    let parts = try ReadBackWords.of(plan, saying: announcement, in: locale, readers: readers)
    return try parts.first??.get()
  }

  /// Returns an answer whose sound encodes the text that was asked for.
  static func speak(_ request: StandInSpeechServer.Request) -> StandInAnswer {
    let samples = EncodedSpeech.samples(for: request.text)
    return request.firstLine.hasPrefix("{") ? .wyoming(samples) : .http(body: StandInAnswer.wav(samples))
  }

  static func wyoming(_ server: StandInSpeechServer) throws -> SpeechServer {
    let port = try server.port.orThrow("a port")
    return SpeechServer(
      id: "joe", address: try SpeechServerAddress(wyoming: "tcp://127.0.0.1:\(port)"), voice: "en_US-joe-medium",
      locales: ["en-US"]
    ).patient
  }

  static func openAI(_ server: StandInSpeechServer, scheme: String = "http") throws -> SpeechServer {
    let port = try server.port.orThrow("a port")
    let host = scheme == "https" ? "localhost" : "127.0.0.1"
    return SpeechServer(
      id: "kokoro", address: try SpeechServerAddress(openAI: "\(scheme)://\(host):\(port)/v1"), voice: "af_heart",
      locales: ["en-US"]
    ).patient
  }
}

extension SpeechServer {
  /// The server with limits that decide nothing, also on a busy machine.
  var patient: SpeechServer {
    var server = self
    server.limits = SpeechServerLimits(whole: .seconds(120), firstSound: .seconds(110), connect: .seconds(60))
    return server
  }
}

/// The alarms of a client. None rings by itself.
final class Alarms: Sendable {
  private let state = Locked((ringing: Set<Duration>(), cancelled: Set<Duration>()))

  func sleep(_ duration: Duration) async throws {
    while !state.withLock({ $0.ringing.contains(duration) }) {
      do {
        // The pause between two looks, as in `eventually`.
        try await Task.sleep(for: .milliseconds(1))
      } catch {
        state.withLock { _ = $0.cancelled.insert(duration) }
        throw error
      }
    }
  }

  /// Lets the alarm of a limit ring, now and later.
  func ring(_ duration: Duration) { state.withLock { _ = $0.ringing.insert(duration) } }

  /// Waits until the alarm of a limit was cancelled.
  func cancelled(_ duration: Duration) async throws {
    try await eventually("an alarm is cancelled") { state.withLock { $0.cancelled.contains(duration) } }
  }
}

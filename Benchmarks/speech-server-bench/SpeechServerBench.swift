// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import ArgumentParser
import Foundation
import Mastering
import SpeakingPlans
import SpeechServers
import VoicePackMaking
import VoicePacks
import Waveforms

/// Lets a real speech server speak payments in Crier's words. It prints the time for each payment, and the measurements
/// of the sounds.
@main
struct SpeechServerBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "speech-server-bench", abstract: "Lets a speech server speak payments, and measures it.")

  @Option(help: "A Wyoming server, as tcp://HOST:PORT or unix:///PATH.")
  var wyoming: String?

  @Option(help: "The base URL of a server of OpenAI's protocol, such as http://127.0.0.1:8880/v1.")
  var openai: String?

  @Option(help: "The file with the key of that server.")
  var keyFile: String?

  @Option(help: "The name of the server's voice.")
  var voice: String

  @Option(help: "The number of payments.")
  var count = 40

  @Option(help: "The locale of the words.")
  var locale = "en-US"

  @Option(help: "The longest time for a payment, in ms.")
  var timeoutMilliseconds = 30_000

  @Option(help: "The folder that holds Templates/ and Readers/.")
  var data = "."

  @Option(help: "Also count how many of this number of English amounts a recogniser understands.")
  var understood = 0

  @Option(help: "The folder of a voice pack whose joined amounts the recogniser hears too.")
  var pack: String?

  @Flag(help: "Print the text of each payment on its own line, and ask no server.")
  var texts = false

  func validate() throws {
    guard texts || (wyoming == nil) != (openai == nil) else {
      throw ValidationError("Give either --wyoming or --openai.")
    }
    guard count > 0 else { throw ValidationError("--count '\(count)' is too small: give 1 or more.") }
    guard timeoutMilliseconds > 0 else {
      throw ValidationError("--timeout-milliseconds '\(timeoutMilliseconds)' is too small: give 1 or more.")
    }
  }

  func run() async throws {
    let root = URL(filePath: data, directoryHint: .isDirectory)
    let books = try PhraseBooks(directory: root.appending(path: "Templates", directoryHint: .isDirectory))
    let readers = AmountReaders(directory: root.appending(path: "Readers", directoryHint: .isDirectory))
    if texts {
      for number in 1...count { print(try words(for: number, books, readers).text) }
      return
    }
    let address = try wyoming.map { try SpeechServerAddress(wyoming: $0) } ?? SpeechServerAddress(openAI: openai ?? "")
    var server = SpeechServer(id: "bench", address: address, voice: voice, locales: [locale])
    server.keyFile = keyFile.map { URL(filePath: $0) }
    server.limits = SpeechServerLimits(whole: .milliseconds(timeoutMilliseconds))
    let client = try SpeechServerClient(server)
    try await describe(client)
    // Many servers load their voice at the first words.
    _ = try await client.speak(try words(for: 1, books, readers))

    let plausibility = SoundPlausibility(pace: .of(locale))
    var times: [Double] = []
    var measured: [[Double]] = []
    var failures: [String: Int] = [:]
    for number in 1...count {
      let words = try words(for: number, books, readers)
      let start = ContinuousClock.now
      do {
        let sound = try await client.speak(words)
        times.append(start.duration(to: .now) / .milliseconds(1))
        let letters = SoundPlausibility.letters(in: words.text)
        guard let measures = SoundPlausibility.measures(of: sound) else {
          failures[SoundPlausibility.Refusal.silent.rawValue, default: 0] += 1
          continue
        }
        if let refusal = plausibility.refusal(of: measures, letters: letters) {
          failures[refusal.rawValue, default: 0] += 1
        }
        let pace = plausibility.pace
        let expected = pace.milliseconds + pace.millisecondsPerLetter * Double(letters)
        measured.append([
          Double(letters), Double(measures.spokenMilliseconds), Double(measures.spokenMilliseconds) / expected,
          Double(measures.longestSilenceMilliseconds), measures.loudnessLUFS, measures.clippedPermille,
          measures.levelSpread, Double(sound.durationMilliseconds),
        ])
      } catch {
        failures[error.reason, default: 0] += 1
      }
    }
    print("payments                  \(count), \(times.count) spoken")
    print("time for a payment, ms   ", Self.summary(times))
    let names = [
      "letters", "spoken, ms", "share of expected length", "longest silence, ms", "loudness, LUFS",
      "at full scale, permille", "spread of levels, dB", "whole sound, ms",
    ]
    for (index, name) in names.enumerated() {
      print(name.padding(toLength: 25, withPad: " ", startingAt: 0), Self.summary(measured.map { $0[index] }))
    }
    for (reason, count) in failures.sorted(by: { $0.key < $1.key }) { print("refused: \(reason) \(count)") }
    if understood > 0 { try await measureUnderstanding(client, books, readers) }
    if !failures.isEmpty { throw ExitCode(65) }
  }

  /// Measures how well a speech recogniser understands amounts: those that the server speaks, and those that are joined
  /// from a voice pack.
  private func measureUnderstanding(
    _ client: SpeechServerClient, _ books: PhraseBooks, _ readers: AmountReaders
  ) async throws {
    guard let recognizer = PocketSphinx() else {
      print("NOT MEASURED: how many amounts are understood. Install \(PocketSphinx.packages).")
      return
    }
    let measure = try UnderstandingMeasure(
      writer: try books.writer(for: locale), recognizer: recognizer, count: understood)
    var sounds: [Waveform] = []
    for payment in measure.payments {
      let script = try books.writer(for: locale).script(for: .payment(payment))
      let parts = try ReadBackWords.of(
        SpeakingPlan(spoken: script), saying: .payment(payment), in: script.locale, readers: readers)
      guard let words = try parts.first??.get() else { throw ValidationError("--locale '\(locale)' has no words.") }
      // The sound is mastered first, because people hear it as the pipeline masters it.
      sounds.append(try Mastering().master(try await client.speak(words)).waveform)
    }
    show(try measure.measure(sounds), "live")
    guard let pack else { return }
    show(
      try measure.measure(try VoicePack(directory: URL(filePath: pack, directoryHint: .isDirectory))), "from the pack")
  }

  private func show(_ understanding: Understanding, _ source: String) {
    print("understood, \(source)".padding(toLength: 25, withPad: " ", startingAt: 0), terminator: " ")
    print("\(understanding.understood) of \(understanding.amounts) amounts")
    for one in understanding.misunderstood { print("  \(one.amount): said “\(one.said)”, heard “\(one.heard)”") }
  }

  private func describe(_ client: SpeechServerClient) async throws(SpeechServerError) {
    do throws(SpeechServerError) {
      let description = try await client.describe()
      for program in description.programs {
        print("program                   \(program.name) \(program.version ?? ""), \(program.voices.count) voices")
      }
      if wyoming != nil, description.program(with: voice) == nil {
        print("The server does not list the voice \(voice).")
      }
    } catch  where error.code == .requestRefused {
      print("The server lists no models.")
    }
  }

  /// Returns the words of a payment. The same number always gives the same payment.
  private func words(for number: Int, _ books: PhraseBooks, _ readers: AmountReaders) throws -> ReadBackWords {
    let digits = [10, 100, 1_000, 10_000, 100_000, 1_000_000, 100_000_000][number % 7]
    let minor = Int64(number * 7_919_317 % digits + 1)
    var payment = Payment(
      id: "bench-\(number)",
      amount: try Money(minorUnits: minor, currency: try Currency.named("USD", field: "currency")))
    if number % 3 == 0 { payment.channel = "alipay" }
    if number % 4 == 0 { payment.payer = ["John Smith", "Maria Garcia", "Wei Zhang", "Li"][number / 4 % 4] }
    if number % 7 == 0 { payment.note = "two coffees and a croissant" }
    let script = try books.writer(for: locale).script(for: .payment(payment))
    // Every fifth payment has only its sum as words.
    let plan = SpeakingPlan(spoken: number % 5 == 0 ? script.amountAlone : script)
    let parts = try ReadBackWords.of(plan, saying: .payment(payment), in: script.locale, readers: readers)
    guard let words = try parts.first??.get() else { throw ValidationError("--locale '\(locale)' has no words.") }
    return words
  }

  /// Returns the smallest value, the median, the 99th percentile and the greatest value.
  private static func summary(_ values: [Double]) -> String {
    guard !values.isEmpty else { return "-" }
    let sorted = values.sorted()
    let shown = [0, sorted.count / 2, sorted.count * 99 / 100, sorted.count - 1].map { sorted[$0] }
    return zip(["least", "p50", "p99", "most"], shown).map { "\($0) \(String(format: "%.2f", $1))" }
      .joined(separator: "  ")
  }
}

// SPDX-License-Identifier: Apache-2.0

import AmountReadback
import Announcements
import Announcer
import ArgumentParser
import Foundation
import SoundLibrary
import SpeechEngine

/// The measurements of the speech engine and the whole pipeline. `scripts/bench` compares their figures with other
/// figures of the same run.
@main
struct CrierBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "crier-bench", abstract: "Measures Crier; run it through make bench.",
    subcommands: [
      Texts.self, Words.self, Throughput.self, Latency.self, Stitching.self, Worst.self, Backlog.self, Disk.self,
    ])
}

/// The announcements that are measured. All programs that are compared get the same announcements.
enum Workload {
  private static let payments = [
    ("zh-CN", "CNY", "alipay"), ("en-US", "USD", "card"), ("hi-IN", "INR", "upi"), ("ko-KR", "KRW", "kakaopay"),
    ("ja-JP", "JPY", "paypay"),
  ]

  /// Returns payments in the five locales in turn. All amounts differ, so that no clip has already been made.
  static func announcements(_ count: Int) throws -> [Announcement] {
    try (0..<count).map { index in
      let (locale, code, channel) = payments[index % payments.count]
      guard let currency = Currency(code: code) else { throw ValidationError("\(code) is not an ISO 4217 currency.") }
      // The step and the range have no common factor, so the amounts have different lengths and do not repeat.
      let minorUnits = Int64(1 + (index * 7_919) % 99_991)
      return .payment(
        Payment(amount: try Money(minorUnits: minorUnits, currency: currency), channel: channel, locale: locale))
    }
  }

  static let installation = Installation(
    data: nil, environment: ProcessInfo.processInfo.environment,
    executable: Bundle.main.executableURL ?? URL(filePath: CommandLine.arguments[0]))

  static func announcer(speakers: Int) throws -> Announcer {
    Memory.keepBuffers()
    return Announcer(
      phraseBooks: try PhraseBooks(directory: installation.templates),
      readers: AmountReaders(directory: installation.readers), engine: engine(speakers: speakers))
  }

  static func engine(speakers: Int) -> SpeechEngine {
    SpeechEngine(.init(speaker: installation.speaker, speakers: speakers))
  }
}

/// Prints the input of the speech engine, for the programs that are compared with it: voice, rate and text, separated
/// by tabs.
struct Texts: AsyncParsableCommand {
  @Option var count = 1_000

  func run() async throws {
    let announcer = try Workload.announcer(speakers: 1)
    for announcement in try Workload.announcements(count) {
      let script = try announcer.script(for: announcement)
      for run in script.runs { print("\(run.voice ?? "")\t\(script.rate)\t\(run.spelling)") }
    }
  }
}

/// Makes the words of a list on one core, respelled for the voices, and prints the announcements per second.
struct Words: AsyncParsableCommand {
  @Option var count = 100_000

  @Flag(help: "Write payments of each locale in turn, in its own currency, instead of the list.")
  var eachLocale = false

  func run() async throws {
    let books = try PhraseBooks(directory: Workload.installation.templates)
    guard eachLocale else {
      let (rate, letters) = try measure(try Workload.announcements(count), books)
      return print("words rate \(rate) bytes \(letters)")
    }
    for locale in books.locales {
      guard let currency = try books.writer(for: locale).ownCurrency else { continue }
      let payments = try (0..<count).map { index in
        let amount = try Money(minorUnits: Int64(1 + (index * 7_919) % 9_999_991), currency: currency)
        return Announcement.payment(Payment(amount: amount, channel: "card", locale: locale))
      }
      // The first payments load the phrase books.
      _ = try measure(Array(payments.prefix(100)), books)
      print("locale \(locale) rate \(try measure(payments, books).rate)")
    }
  }

  private func measure(_ announcements: [Announcement], _ books: PhraseBooks) throws -> (rate: Int, letters: Int) {
    var letters = 0
    let time = try ContinuousClock().measure {
      for announcement in announcements {
        let locale = announcement.locale ?? PhraseBooks.usualLocale
        let script = try books.writer(for: locale).script(for: announcement)
        letters += script.runs.reduce(0) { $0 + $1.spelling.utf8.count }
      }
    }
    return (Int(Double(announcements.count) / (time / .seconds(1))), letters)
  }
}

/// Speaks a list on all cores and discards the sound, then renders and publishes the list. Prints both rates in clips
/// per second.
struct Throughput: AsyncParsableCommand {
  @Option var count = 1_000
  @Argument var folder: String

  func run() async throws {
    let announcer = try Workload.announcer(speakers: Self.cores)
    let library = SoundLibrary(container: GroupContainer(directory: URL(filePath: folder, directoryHint: .isDirectory)))
    let announcements = try Workload.announcements(Self.warmUp + count)
    let engine = Workload.engine(speakers: Self.cores)
    let utterances = try announcements.map { announcement in
      let script = try announcer.script(for: announcement)
      return try script.runs.map { try Utterance($0, rate: script.rate) }
    }
    let spoken = try await rate(utterances) { for run in $0 { _ = try await engine.speak(run) } }
    let rendered = try await rate(announcements) { _ = try await announcer.render($0, into: library) }
    print("clips \(count) speaking \(spoken) rate \(rendered)")
  }

  private static let cores = ProcessInfo.processInfo.activeProcessorCount

  /// The number of items before the measurement. These items make all speakers start and use all voices, because the
  /// first use of a voice starts a process.
  private static let warmUp = 50 * cores

  /// Returns how many items per second are processed, without the first ``warmUp`` items.
  private func rate<Item: Sendable>(
    _ items: [Item], work: @escaping @Sendable (Item) async throws -> Void
  ) async throws -> Double {
    let limit = 3 * Self.cores
    try await concurrently(Array(items.prefix(Self.warmUp)), limit: limit, work: work, each: { _ in })
    let start = ContinuousClock.now
    try await concurrently(Array(items.dropFirst(Self.warmUp)), limit: limit, work: work, each: { _ in })
    return Double(count) / ((ContinuousClock.now - start) / .seconds(1))
  }
}

/// Measures single announcements with warm processes: first the engine alone, then the whole pipeline.
struct Latency: AsyncParsableCommand {
  @Option var count = 1_000
  @Argument var folder: String

  func run() async throws {
    let engine = Workload.engine(speakers: 1)
    let announcer = try Workload.announcer(speakers: 1)
    let library = SoundLibrary(container: GroupContainer(directory: URL(filePath: folder, directoryHint: .isDirectory)))
    let announcements = try Workload.announcements(count)
    var engineTimes: [Double] = []
    for announcement in announcements.prefix(5) + announcements {
      let script = try announcer.script(for: announcement)
      guard let run = script.runs.first else { continue }
      let utterance = try Utterance(run, rate: script.rate)
      engineTimes.append(try await milliseconds { _ = try await engine.speak(utterance) })
    }
    report("engine", engineTimes.dropFirst(5))
    for announcement in announcements.prefix(5) { _ = try await announcer.render(announcement, into: nil) }
    var wholeTimes: [Double] = []
    for announcement in announcements {
      wholeTimes.append(try await milliseconds { _ = try await announcer.render(announcement, into: library) })
    }
    report("render", wholeTimes[...])
  }

  private func milliseconds(_ work: () async throws -> Void) async rethrows -> Double {
    let start = ContinuousClock.now
    try await work()
    return (ContinuousClock.now - start) / .milliseconds(1)
  }

  private func report(_ name: String, _ times: ArraySlice<Double>) {
    let sorted = times.sorted()
    guard let last = sorted.last else { return }
    print("\(name) p50_ms \(sorted[sorted.count / 2]) p99_ms \(sorted[sorted.count * 99 / 100]) max_ms \(last)")
  }
}

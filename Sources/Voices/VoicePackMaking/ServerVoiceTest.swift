// SPDX-License-Identifier: Apache-2.0

public import AmountReadback
public import Announcements
private import ConcurrencySupport
import Mastering
public import SpeechEngine
public import SpeechServers
import SpeakingPlans
import Waveforms

/// Measures the voice of a speech server in one locale. ``ServerVoiceMeasures`` decides whether the voice passes.
///
/// All words are read back before the first of them is sent. The words are the same in each test:
///
/// - each number word of the locale by itself, or in the smallest number that contains the word;
/// - 100 or more amounts: random ones, and amounts that together contain every number word that the locale's currency
///   needs;
/// - if a recogniser exists, the 100 amounts of ``UnderstandingMeasure``.
public struct ServerVoiceTest: Sendable {
  /// A function that is called after each utterance, with the number of utterances so far and the total.
  public typealias Progress = @Sendable (_ done: Int, _ total: Int) -> Void

  struct Number: Sendable, Hashable {
    /// The words as the phrase book writes them.
    var text: String
    var tokens: [String]
    var words: ReadBackWords
  }

  /// The smallest number of amounts.
  static let fewestAmounts = 100
  /// The number of random amounts that come before the amounts with the remaining words.
  private static let firstAmounts = 60
  /// Random amounts are below a billion of the major unit. They have 1 to 9 digits, equally often.
  private static let mostDigits = 9
  /// The number of pairs that are said again, to find out whether their two numbers sound the same. These are the pairs
  /// of numbers that differ least.
  private static let checkedPairs = 12
  /// The total number of times that each number of such a pair is said.
  private static let sayings = 3

  let numbers: [Number]
  let amounts: [ReadBackWords]
  private let recognized: [ReadBackWords]
  private let understanding: UnderstandingMeasure?
  private let hasUninstalledRecognizer: Bool
  private let client: SpeechServerClient
  private let patientClient: SpeechServerClient
  private let engine: any Speaking
  private let writer: ScriptWriter
  private let now: @Sendable () -> Duration

  /// Writes the words and reads them back. No request is sent to the server.
  ///
  /// - Parameters:
  ///   - recognizer: a recogniser of English; nil if none is installed.
  ///   - now: Returns the time since a fixed moment, and never decreases. By default, this moment is the start of the
  ///     test.
  /// - Throws: `AnnouncementError`; `PackMakingError` with the code `rowUnread`; `SpeechServerError` for a key or
  ///   certificates that cannot be used.
  public init(
    _ server: SpeechServer, writer: ScriptWriter, readers: AmountReaders, engine: any Speaking,
    recognizer: (any SpeechRecognizing)?, now: (@Sendable () -> Duration)? = nil
  ) throws {
    guard let currency = writer.ownCurrency else {
      throw AnnouncementError(
        .currencyUnspeakable, "currency", "the phrase book has no currency", remedy: "add a currency under currencies")
    }
    (self.engine, self.writer) = (engine, writer)
    client = try SpeechServerClient(server)
    var patient = server
    patient.limits = patient.limits.lengthened(by: ServerVoice.patience)
    patientClient = try SpeechServerClient(patient)
    numbers = try Self.numbers(writer, readers, currency)
    amounts = try Self.amounts(writer, currency).map { try Self.words(of: $0, writer, readers) }
    let hasRecognizer = UnderstandingMeasure.serves(writer.book.locale)
    hasUninstalledRecognizer = hasRecognizer && recognizer == nil
    understanding = try recognizer.flatMap { recognizer in
      hasRecognizer ? try UnderstandingMeasure(writer: writer, recognizer: recognizer) : nil
    }
    recognized = try (understanding?.payments ?? []).map { try Self.words(of: $0, writer, readers) }
    let start = ContinuousClock.now
    self.now = now ?? { start.duration(to: .now) }
  }

  /// Lets the server speak, one utterance after the other, and measures the sounds.
  ///
  /// - Throws: `SpeechServerError` if the server cannot be reached; `PackMakingError` if the recogniser or a C library
  ///   fails; `AnnouncementError`; `CancellationError`.
  public func measures(progress: @escaping Progress = { _, _ in }) async throws -> ServerVoiceMeasures {
    var run = Run(
      ServerVoiceMeasures(locale: writer.book.locale), planned: numbers.count + amounts.count + recognized.count,
      progress)
    // Many servers load their voice only when they get the first words.
    if let first = amounts.first { try await warmUp(first) }
    var said: [(number: Int, sound: Waveform)] = []
    for (index, number) in numbers.enumerated() {
      if let sound = try await say(number.words, as: .number, &run) { said.append((index, sound)) }
    }
    for words in amounts { _ = try await say(words, as: .payment, &run) }
    var heard: [Waveform] = []
    for words in recognized {
      guard let sound = try await say(words, as: .payment, &run) else { continue }
      // The recogniser gets the mastered sound, because listeners hear the mastered sound too.
      heard.append((try? Mastering().master(sound).waveform) ?? sound)
    }
    try await tellApart(said, &run)
    if !run.measures.isHopeless { try await compare(said, &run.measures) }
    if let understanding, heard.count == recognized.count {
      let sounds = heard
      let result = try await onWaitingThread { () throws(any Error) in try understanding.measure(sounds) }
      run.measures.understanding = .measured(understood: result.understood, amounts: result.amounts)
    } else if understanding != nil {
      run.measures.understanding = .unspoken
    } else if hasUninstalledRecognizer {
      run.measures.understanding = .notInstalled(packages: PocketSphinx.packages)
    }
    return run.measures
  }

  // MARK: Speaking

  private enum Utterance { case number, payment }

  /// The measurements so far.
  private struct Run {
    var measures: ServerVoiceMeasures
    private var planned: Int
    private var done = 0
    private let progress: Progress

    init(_ measures: ServerVoiceMeasures, planned: Int, _ progress: @escaping Progress) {
      (self.measures, self.planned, self.progress) = (measures, planned, progress)
    }

    mutating func plan(_ more: Int) { planned += more }

    mutating func finish() {
      done += 1
      progress(done, planned)
    }
  }

  private func warmUp(_ words: ReadBackWords) async throws {
    do throws(SpeechServerError) {
      _ = try await patientClient.speak(words, speedPercent: client.server.speedPercent)
    } catch {
      // Any other failure occurs again in the measurement, which reports it.
      try Self.throwIfUnreachable(error)
    }
  }

  /// Lets the server speak, and records the measurements.
  ///
  /// - Returns: The sound; nil if the server failed, or if too many utterances have failed before.
  private func say(
    _ words: ReadBackWords, as utterance: Utterance, _ run: inout Run
  ) async throws -> Waveform? {
    try Task.checkCancellation()
    run.measures.asked += 1
    guard !run.measures.isHopeless else { return nil }
    defer { run.finish() }
    let start = now()
    do throws(SpeechServerError) {
      let sound = try await client.speak(words, speedPercent: client.server.speedPercent)
      let time = now() - start
      if let reason = note(sound, words, utterance, &run.measures) {
        run.measures.failures[reason, default: 0] += 1
        return nil
      }
      run.measures.milliseconds.append(Int(time / .milliseconds(1)))
      return sound
    } catch {
      try Self.throwIfUnreachable(error)
      run.measures.failures[error.reason, default: 0] += 1
      return nil
    }
  }

  /// Records the measurements of a sound.
  ///
  /// - Returns: The reason why the sound cannot be a reading of its words; nil if it can.
  private func note(
    _ sound: Waveform, _ words: ReadBackWords, _ utterance: Utterance, _ measures: inout ServerVoiceMeasures
  ) -> String? {
    let code = SpeechServerError.Code.soundRefused.rawValue
    guard let found = SoundPlausibility.measures(of: sound) else {
      return "\(code):\(SoundPlausibility.Refusal.silent.rawValue)"
    }
    let letters = SoundPlausibility.letters(in: words.text)
    let speed = client.appliesSpeed ? client.server.speedPercent : 100
    let pace = utterance == .number ? .excerpt : SoundPlausibility.Pace.of(writer.book.locale)
    let plausibility = SoundPlausibility(pace: pace)
    if let refusal = plausibility.refusal(of: found, letters: letters, speedPercent: speed) {
      return "\(code):\(refusal.rawValue)"
    }
    let expected = (pace.milliseconds + pace.millisecondsPerLetter * Double(letters)) * 100 / Double(max(1, speed))
    let length = Double(found.spokenMilliseconds) / expected
    measures.lengths.append(length)
    if utterance == .payment { measures.add(amountLength: length) }
    measures.loudness.append(found.loudnessLUFS)
    return nil
  }

  private static func throwIfUnreachable(_ error: SpeechServerError) throws {
    switch error.code {
    case .cannotConnect, .connectTimedOut, .certificateRefused, .keyUnusable, .addressInvalid: throw error
    case .cancelled: throw CancellationError()
    default: break
    }
  }

  // MARK: Comparing

  /// Finds numbers that sound the same. The server says the numbers of the most similar pairs again.
  private func tellApart(_ said: [(number: Int, sound: Waveform)], _ run: inout Run) async throws {
    guard said.count == numbers.count, said.count > 1 else { return }
    let sounds = said.map(\.sound)
    let pairs = try await onWaitingThread { () throws(PackMakingError) in
      NumberSounds.closestPairs(try NumberSounds.features(sounds), count: Self.checkedPairs)
    }
    let again = Set(pairs.flatMap { [$0.first, $0.second] }).sorted()
    run.plan(again.count * (Self.sayings - 1))
    var all = sounds
    var places = Dictionary(uniqueKeysWithValues: again.map { ($0, [$0]) })
    for number in again {
      for _ in 1..<Self.sayings {
        guard let sound = try await say(numbers[number].words, as: .number, &run) else { continue }
        places[number]?.append(all.count)
        all.append(sound)
      }
    }
    guard places.values.allSatisfy({ $0.count == Self.sayings }) else { return }
    let (allSounds, allPlaces) = (all, places)
    let alike = try await onWaitingThread { () throws(PackMakingError) in
      let features = try NumberSounds.features(allSounds)
      return pairs.filter { pair in
        let sayings = [pair.first, pair.second].map { (allPlaces[$0] ?? []).map { features[$0] } }
        return NumberSounds.ratio(sayings[0], sayings[1]) < NumberSounds.leastRatio
      }
    }
    run.measures.numbers = numbers.count
    run.measures.alike = alike.map { ServerVoiceMeasures.Pair(numbers[$0.first].text, numbers[$0.second].text) }
  }

  /// Compares the numbers with the same numbers spoken by the engine, as the import of recordings does.
  private func compare(
    _ said: [(number: Int, sound: Waveform)], _ measures: inout ServerVoiceMeasures
  ) async throws {
    var clips: [PackClip] = []
    for (index, sound) in said {
      // A sound that cannot be a clip is left out here. Its length and level were checked before.
      guard let clip = try? ClipPreparation().prepare(Recording(sound)) else { continue }
      clips.append(PackClip(tokens: numbers[index].tokens, text: numbers[index].text, waveform: clip.waveform))
    }
    guard clips.count >= RecordingComparison.fewestClips else {
      measures.comparisonProblem = "too few numbers were spoken"
      return
    }
    do {
      let suspicions = try await RecordingCheck(engine: engine, writer: writer).suspicions(in: clips)
      measures.nearerToOthers = suspicions.map {
        ServerVoiceMeasures.Pair(clips[$0.clip].text, clips[$0.soundsLike].text)
      }
    } catch let error as SpeechEngineError {
      measures.comparisonProblem = error.code.rawValue
    }
  }
}

// MARK: - The words

extension ServerVoiceTest {
  /// Returns the words of a whole payment.
  private static func words(
    of payment: Payment, _ writer: ScriptWriter, _ readers: AmountReaders
  ) throws -> ReadBackWords {
    try ReadBackWords.whole(try writer.written(.payment(payment)), readers: readers, writer)
  }

  /// Returns the numbers that are compared with each other. Each of them contains a word that no smaller number
  /// contains. A unit after a number is left out.
  private static func numbers(
    _ writer: ScriptWriter, _ readers: AmountReaders, _ currency: Currency
  ) throws -> [Number] {
    func written(_ major: Int64) throws(AnnouncementError) -> (source: WrittenAnnouncement, tokens: [String]) {
      let amount = try Money(minorUnits: major * currency.minorUnitsPerMajor, currency: currency)
      let source = try writer.written(.payment(Payment(amount: amount)), shortenings: [.amountOnly])
      return (source, source.script.tokens.filter { $0.role == .amount }.map(\.name))
    }
    let (two, three) = (try written(2).tokens, try written(3).tokens)
    let hasUnitBehind = two.count > 1 && two.last == three.last
    var numbers: [Number] = []
    var known: Set<String> = []
    for major in Array(1...Int64(100)) + [1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000] {
      let (source, all) = try written(major)
      let tokens = hasUnitBehind && all.count > 1 ? Array(all.dropLast()) : all
      guard !known.isSuperset(of: tokens) else { continue }
      known.formUnion(tokens)
      let words = try ReadBackRows.words(
        tokens, endsSentence: false, from: source, readers, "The number \(major)", writer)
      guard case .success(let words) = words else { throw ReadBackRows.unread("The number \(major)", writer) }
      numbers.append(Number(text: String(words.text.dropLast()), tokens: tokens, words: words))
    }
    return numbers
  }

  /// Returns payments whose amounts together contain every required number word, and payments with random amounts. The
  /// payments are the same in each test.
  static func amounts(_ writer: ScriptWriter, _ currency: Currency) throws(AnnouncementError) -> [Payment] {
    var random = FixedRandom(seed: 42)
    var payments: [Payment] = []
    var missing: [String: WrittenAnnouncement] = [:]
    for block in try writer.vocabulary(includesOtherCurrencies: false).blocks where block.isRequired {
      for word in block.words where word.role == .amount { missing[word.token] = word.source }
    }
    func add(_ payment: Payment) throws(AnnouncementError) {
      payments.append(payment)
      for token in try writer.script(for: .payment(payment)).tokens { missing[token.name] = nil }
    }
    func addRandom() throws(AnnouncementError) {
      var limit = currency.minorUnitsPerMajor
      for _ in 0..<Int.random(in: 1...mostDigits, using: &random) { limit *= 10 }
      let units = Int64.random(in: 1..<limit, using: &random)
      try add(Payment(amount: try Money(minorUnits: units, currency: currency), locale: writer.book.locale))
    }
    while payments.count < firstAmounts { try addRandom() }
    for token in missing.keys.sorted() {
      guard case .payment(let payment)? = missing[token]?.announcement else { continue }
      try add(payment)
    }
    while payments.count < fewestAmounts { try addRandom() }
    return payments
  }
}

extension ReadBackWords {
  /// Returns all words of a payment that a phrase book wrote.
  ///
  /// - Throws: `PackMakingError` with the code `rowUnread`.
  fileprivate static func whole(
    _ source: WrittenAnnouncement, readers: AmountReaders, _ writer: ScriptWriter
  ) throws(PackMakingError) -> ReadBackWords {
    let plan = SpeakingPlan(spoken: source.script)
    let parts = try? ReadBackWords.of(
      plan, saying: source.announcement, in: source.script.locale, readers: readers)
    guard let parts, parts.count == 1, case .success(let words)? = parts[0] else {
      throw ReadBackRows.unread("An announcement of the test", writer)
    }
    return words
  }
}

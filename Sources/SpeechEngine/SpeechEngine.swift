// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import Foundation

/// A pool of speaker programs that turns words into samples.
///
/// libespeak-ng is global state that is not thread-safe, is not reproducible in a long-lived process and ends on
/// hostile text; so it lives in programs of its own, one for each core, and each utterance in a child of theirs
/// (`docs/architecture.md`). A speaker that dies is started again, and the request it held is tried again.
public actor SpeechEngine {
  public struct Configuration: Sendable {
    /// The speaker program.
    public var speaker: URL
    /// How many run at once; one a core by default.
    public var speakers: Int
    /// How many requests may wait for a speaker; one more is refused at once.
    public var longestQueue: Int
    /// How long one utterance may take, in ms.
    public var deadlineMilliseconds: Int
    /// How long a speaker program may take to answer beyond an utterance's deadline, before it is taken for hanging and
    /// is ended.
    public var allowance: Duration

    public init(
      speaker: URL, speakers: Int = ProcessInfo.processInfo.activeProcessorCount, longestQueue: Int = 256,
      deadlineMilliseconds: Int = 2_000, allowance: Duration = .seconds(2)
    ) {
      self.speaker = speaker
      self.speakers = max(1, speakers)
      self.longestQueue = max(0, longestQueue)
      self.deadlineMilliseconds = max(1, deadlineMilliseconds)
      self.allowance = allowance
    }
  }

  /// No clip is longer, and trimming takes nothing that matters: what comes after this many samples is only counted.
  static let longestSamples = 31 * 22_050

  /// How often a request is tried whose speaker program dies. Whoever ends speakers may hit the one that was just
  /// started again; with two tries one batch in three met that, with a speaker killed every tenth clip.
  private static let attempts = 4

  private let configuration: Configuration
  private var idle: [Speaker] = []
  private var speakers: [Speaker] = []
  private var waiting: [(ticket: Int, continuation: CheckedContinuation<Speaker?, Never>)] = []
  private var nextTicket = 0
  private var knownIdentity: EngineIdentity?

  public init(_ configuration: Configuration) {
    self.configuration = configuration
  }

  /// Speaks an utterance.
  ///
  /// - Returns: the samples, at most 31 s of them; ``Speech/isComplete`` tells whether that is all.
  /// - Throws: `.textUnspeakable` when the engine failed at the text or took too long (the pool goes on),
  ///   `.voiceUnknown`, `.requestRefused`, `.queueFull`, `.engineUnavailable`, `.speakerDied`, `.cancelled`.
  public func speak(_ utterance: Utterance) async throws(SpeechEngineError) -> Speech {
    let reply = try await exchange(.speak, utterance)
    return Speech(
      samples: reply.samples, sampleRate: reply.header.sampleRate, totalSamples: reply.header.totalSamples,
      words: SpeakerMessages.words(reply.marks))
  }

  /// What the engine would say, in its own mnemonics, as `espeak-ng -q -x` prints it. A switch to another language
  /// stands in parentheses: `(en)`.
  ///
  /// - Throws: as ``speak(_:)``.
  public func phonemes(_ utterance: Utterance) async throws(SpeechEngineError) -> String {
    let reply = try await exchange(.phonemes, utterance)
    return String(decoding: reply.phonemes, as: UTF8.self)
  }

  /// Which engine speaks; starts a speaker if none has run yet.
  ///
  /// - Throws: `.engineUnavailable`, `.queueFull`, `.speakerDied`, `.cancelled`.
  public func identity() async throws(SpeechEngineError) -> EngineIdentity {
    if let knownIdentity { return knownIdentity }
    let speaker = try await acquire()
    var outcome: Result<EngineIdentity?, Speaker.Failure> = .failure(.died)
    for _ in 0..<Self.attempts {
      outcome = await speaker.perform { speaker throws(Speaker.Failure) in
        try speaker.start()
        return speaker.identity
      }
      guard case .failure(let failure) = outcome, failure.isWorthAnotherTry else { break }
    }
    release(speaker)
    let identity = try Self.unwrap(outcome)
    guard let identity else { throw Self.died }
    knownIdentity = identity
    return identity
  }

  /// The processes of the speakers that are running, busy or idle; for diagnosis, and for tests that end them.
  public func speakerProcesses() -> [Int32] { speakers.compactMap(\.processIdentifier) }

  private func exchange(
    _ kind: SpeakerMessages.Kind, _ utterance: Utterance
  ) async throws(SpeechEngineError) -> Speaker.Reply {
    let deadline = configuration.deadlineMilliseconds
    let speaker = try await acquire()
    defer { release(speaker) }
    guard !Task.isCancelled else { throw Self.cancelled }
    let known = knownIdentity
    var hangs = 0
    var outcome: Result<Speaker.Reply, Speaker.Failure> = .failure(.died)
    // Again only when the speaker itself died: a text that kills the engine kills a child, and does so each time.
    for _ in 0..<Self.attempts {
      outcome = await speaker.perform { speaker throws(Speaker.Failure) in
        try speaker.start()
        guard known == nil || speaker.identity == known else { throw .unavailable(Self.engineChanged) }
        return try speaker.exchange(
          kind, utterance, deadlineMilliseconds: deadline, maximumSamples: Self.longestSamples)
      }
      guard case .failure(let failure) = outcome, failure.isWorthAnotherTry else { break }
      if case .hung = failure { hangs += 1 }
      // One that hangs takes its whole time; two of these are enough.
      guard hangs < 2 else { break }
    }
    return try Self.checked(try Self.unwrap(outcome))
  }

  private static func unwrap<Value>(_ outcome: Result<Value, Speaker.Failure>) throws(SpeechEngineError) -> Value {
    switch outcome {
    case .success(let value): return value
    case .failure(.unavailable(let error)), .failure(.notReady(let error)): throw error
    case .failure(.died), .failure(.hung): throw died
    case .failure(.diedAtStart): throw diedAtStart
    }
  }

  /// Clips are named after the engine that speaks them: another one must not speak under that name.
  private static var engineChanged: SpeechEngineError {
    SpeechEngineError(
      .engineUnavailable, "speaking", "the engine was replaced while this process ran", remedy: "start it again")
  }

  /// The dynamic linker ends a program whose library is missing before its first line.
  private static var diedAtStart: SpeechEngineError {
    SpeechEngineError(
      .engineUnavailable, "starting the speech engine", "the speaker program ended before it was ready",
      remedy: "install the packages libespeak-ng1, espeak-ng-data and libseccomp2, or look for what ended it")
  }

  private static var died: SpeechEngineError {
    SpeechEngineError(
      .speakerDied, "speaking", "the speaker program kept ending, or hung, while it held the request",
      remedy: "try again; look for what ends the program (memory, a watchdog)")
  }

  private static func checked(_ reply: Speaker.Reply) throws(SpeechEngineError) -> Speaker.Reply {
    let (code, problem, remedy): (SpeechEngineError.Code, String, String)
    switch reply.header.outcome {
    case .done: return reply
    case .voiceUnknown:
      (code, problem, remedy) = (
        .voiceUnknown, "the engine has no such voice",
        "choose a language of `espeak-ng --voices` and a variant of `espeak-ng --voices=variant`, such as en-us+f2"
      )
    case .refused:
      (code, problem, remedy) = (
        .requestRefused, "the text, rate or voice is out of range",
        "give at most 64 KiB of text and 80 to 450 words a minute"
      )
    case .crashed:
      (code, problem, remedy) = (.textUnspeakable, "the engine crashed on the text", "write it another way")
    case .ended: throw died
    case .deadline, .limit:
      (code, problem, remedy) = (
        .textUnspeakable, "the engine met its limit of time or memory", "make the text shorter or plainer"
      )
    case .noProcess:
      (code, problem, remedy) = (
        .engineUnavailable, "no confined process could be made for the engine",
        "look for a limit on processes or memory, and try again"
      )
    }
    throw SpeechEngineError(code, code == .voiceUnknown ? "voice" : "speaking", problem, remedy: remedy)
  }

  // MARK: Whose turn it is

  private func acquire() async throws(SpeechEngineError) -> Speaker {
    if let speaker = idle.popLast() { return speaker }
    if speakers.count < configuration.speakers {
      let speaker = Speaker(
        program: configuration.speaker, number: speakers.count + 1, allowance: configuration.allowance)
      speakers.append(speaker)
      return speaker
    }
    guard waiting.count < configuration.longestQueue else {
      throw SpeechEngineError(
        .queueFull, "speaking", "\(waiting.count) requests wait already", remedy: "try again in a second")
    }
    nextTicket += 1
    let ticket = nextTicket
    let speaker: Speaker? = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Speaker?, Never>) in
        // Cancelled before it could wait: nobody would wake it for that.
        if Task.isCancelled { continuation.resume(returning: nil) } else { waiting.append((ticket, continuation)) }
      }
    } onCancel: {
      Task { await self.abandon(ticket) }
    }
    guard let speaker else { throw Self.cancelled }
    return speaker
  }

  /// Gives up a place in the queue.
  private func abandon(_ ticket: Int) {
    guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return }
    waiting.remove(at: index).continuation.resume(returning: nil)
  }

  private static var cancelled: SpeechEngineError {
    SpeechEngineError(.cancelled, "speaking", "the task was cancelled", remedy: "nothing is to be done")
  }

  private func release(_ speaker: Speaker) {
    if waiting.isEmpty {
      idle.append(speaker)
    } else {
      waiting.removeFirst().continuation.resume(returning: speaker)
    }
  }
}

extension Speaker {
  /// Runs blocking work on the speaker's queue, so that no thread of the concurrency pool waits for a program.
  fileprivate func perform<Value: Sendable>(
    _ work: @escaping @Sendable (Speaker) throws(Failure) -> Value
  ) async -> Result<Value, Failure> {
    await onWaitingThread {
      // Nobody else has the speaker, so that its queue is free and the work is done here.
      queue.sync {
        do throws(Failure) {
          return .success(try work(self))
        } catch {
          return .failure(error)
        }
      }
    }
  }
}

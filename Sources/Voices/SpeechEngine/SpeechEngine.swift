// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import Foundation

/// A pool of speaker programs that turn words into samples.
///
/// libespeak-ng has global state, is not thread-safe, is not reproducible in a long-lived process, and exits on hostile
/// text. It therefore runs in separate programs, one for each core, which handle each utterance in a child process of
/// their own (`docs/architecture.md`). If a speaker exits unexpectedly, it is restarted and its request is repeated.
public actor SpeechEngine {
  public struct Configuration: Sendable {
    /// The location of the speaker program.
    public var speaker: URL
    /// The number of speakers that run at the same time; by default one for each core.
    public var speakers: Int
    /// The number of requests that may wait for a speaker. Any further request is refused at once.
    public var longestQueue: Int
    /// The longest time in ms that one utterance may take.
    public var deadlineMilliseconds: Int
    /// How long after an utterance's deadline the speaker program may still answer. A speaker that takes longer is
    /// considered hung and is stopped.
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

  /// The maximum number of samples of an utterance that are kept. Further samples are only counted. No clip is this
  /// long, and trimming shortens an utterance only slightly.
  static let longestSamples = 31 * 22_050

  /// The number of attempts for a request if its speaker program exits. The cause may also end a newly started speaker.
  /// In a test that killed a speaker at every tenth clip, two attempts were too few for one batch in three.
  private static let attempts = 4

  private let configuration: Configuration
  private var idle: [Speaker] = []
  private var speakers: [Speaker] = []
  private var waiting: [(ticket: Int, answer: AwaitedAnswer<Speaker?>)] = []
  private var nextTicket = 0
  private var knownIdentity: EngineIdentity?

  public init(_ configuration: Configuration) {
    self.configuration = configuration
    // Each busy speaker blocks the thread that waits for it.
    WaitingThreads.shared.allow(blocking: configuration.speakers)
  }

  /// Speaks an utterance.
  ///
  /// - Returns: at most 31 s of samples. ``Speech/isComplete`` says whether these are all samples of the utterance.
  /// - Throws: `.textUnspeakable` when the engine failed on the text or took too long; the pool remains usable. Also
  ///   `.voiceUnknown`, `.requestRefused`, `.queueFull`, `.engineUnavailable`, `.speakerDied` and `.cancelled`.
  public func speak(_ utterance: Utterance) async throws(SpeechEngineError) -> Speech {
    let reply = try await exchange(.speak, utterance)
    return Speech(
      samples: reply.samples, sampleRate: reply.header.sampleRate, totalSamples: reply.header.totalSamples,
      words: SpeakerMessages.words(reply.marks))
  }

  /// Returns the phonemes of an utterance in the engine's mnemonics, as `espeak-ng -q -x` prints them. A change of
  /// language is marked in parentheses: `(en)`.
  ///
  /// - Throws: the errors of ``speak(_:)``.
  public func phonemes(_ utterance: Utterance) async throws(SpeechEngineError) -> String {
    let reply = try await exchange(.phonemes, utterance)
    return String(decoding: reply.phonemes, as: UTF8.self)
  }

  /// Returns the engine's identity. The call starts a speaker if none has run yet.
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

  /// Returns the process identifiers of the running speakers, busy or idle. They are for diagnosis, and for tests that
  /// kill speakers.
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
    // A repetition helps only if the speaker itself exited. A text that crashes the engine ends only a child process,
    // and would do so again in each attempt.
    for _ in 0..<Self.attempts {
      outcome = await speaker.perform { speaker throws(Speaker.Failure) in
        try speaker.start()
        guard known == nil || speaker.identity == known else { throw .unavailable(Self.engineChanged) }
        return try speaker.exchange(
          kind, utterance, deadlineMilliseconds: deadline, maximumSamples: Self.longestSamples)
      }
      guard case .failure(let failure) = outcome, failure.isWorthAnotherTry else { break }
      if case .hung = failure { hangs += 1 }
      // Each attempt with a hung speaker takes the full time limit, so the request is repeated only once.
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

  /// The error if the engine was replaced by a different one. A clip's name depends on the engine, so a different
  /// engine must not make clips with the same names.
  private static var engineChanged: SpeechEngineError {
    SpeechEngineError(
      .engineUnavailable, "speaking", "the engine was replaced while this process ran", remedy: "restart the process")
  }

  /// The error for a speaker that exited at its start. If a library is missing, the dynamic linker ends the program
  /// before its first line.
  private static var diedAtStart: SpeechEngineError {
    SpeechEngineError(
      .engineUnavailable, "starting the speech engine", "the speaker program ended before it was ready",
      remedy: "install the packages libespeak-ng1, espeak-ng-data and libseccomp2, or find out what ended it")
  }

  private static var died: SpeechEngineError {
    SpeechEngineError(
      .speakerDied, "speaking", "the speaker program kept ending, or hung, while it held the request",
      remedy: "try again; find out what ends the program (a memory limit, a watchdog)")
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
      (code, problem, remedy) = (.textUnspeakable, "the engine crashed on the text", "rephrase the text")
    case .ended: throw died
    case .deadline, .limit:
      (code, problem, remedy) = (
        .textUnspeakable, "the engine exceeded its time or memory limit", "make the text shorter or simpler"
      )
    case .noProcess:
      (code, problem, remedy) = (
        .engineUnavailable, "the engine's confined process could not be started",
        "check the limits on processes and memory, and try again"
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
        .queueFull, "speaking", "\(waiting.count) requests are already waiting", remedy: "try again in a second")
    }
    nextTicket += 1
    let ticket = nextTicket
    let speaker: Speaker? = await withTaskCancellationHandler {
      await waitForAnswer { answer in
        // The cancellation handler would never resume a task that was cancelled before it joined the queue.
        if Task.isCancelled { answer.give(nil) } else { waiting.append((ticket, answer)) }
      }
    } onCancel: {
      Task { await self.abandon(ticket) }
    }
    guard let speaker else { throw Self.cancelled }
    return speaker
  }

  /// Removes a request from the queue.
  private func abandon(_ ticket: Int) {
    guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return }
    waiting.remove(at: index).answer.give(nil)
  }

  private static var cancelled: SpeechEngineError {
    SpeechEngineError(.cancelled, "speaking", "the task was cancelled", remedy: "repeat it if it is still needed")
  }

  private func release(_ speaker: Speaker) {
    if waiting.isEmpty {
      idle.append(speaker)
    } else {
      waiting.removeFirst().answer.give(speaker)
    }
  }
}

extension Speaker {
  /// Runs blocking work on the speaker's queue, so that no thread of the concurrency pool waits for a program.
  fileprivate func perform<Value: Sendable>(
    _ work: @escaping @Sendable (Speaker) throws(Failure) -> Value
  ) async -> Result<Value, Failure> {
    await onWaitingThread {
      // No other code uses the speaker, so its queue is free and the work runs at once.
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

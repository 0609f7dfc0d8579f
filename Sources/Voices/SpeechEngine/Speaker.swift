// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// One speaker program, from its start to its end. Every call blocks and must run on the speaker's own queue.
///
/// `@unchecked Sendable`: the state is used only on `queue`, which every method checks. The exception is the process
/// identifier, which is atomic.
final class Speaker: @unchecked Sendable {
  /// A failure of the speaker itself, as opposed to a failure caused by one text.
  enum Failure: Error {
    /// The speaker did not start. A second attempt would not help.
    case unavailable(SpeechEngineError)
    /// The speaker had been ready and then exited or sent an invalid reply, or one of its child processes ended for a
    /// reason other than the text.
    case died
    /// The speaker did not answer in time and was stopped.
    case hung
    /// The speaker exited before it was ready: it was killed, or a library is missing.
    case diedAtStart
    /// The speaker reports that it cannot work, either permanently or because memory is short.
    case notReady(SpeechEngineError)

    var isWorthAnotherTry: Bool {
      switch self {
      case .died, .hung, .diedAtStart, .notReady: true
      case .unavailable: false
      }
    }
  }

  let queue: DispatchQueue
  private let program: URL
  private let allowance: Duration

  /// The maximum wait for the speaker's greeting, which usually arrives after 30 ms. A late speaker is usually waiting
  /// for a processor on a busy machine, and stopping the speaker would increase the load.
  private static let greetingPatience = Duration.seconds(10)

  private var connection: Descriptor?
  private var process: SpeakerProcess?
  private let runningProcess = Atomic<Int32>(0)
  private(set) var identity: EngineIdentity?

  /// Creates a speaker without starting its program.
  ///
  /// - Parameter allowance: how long after the request's own deadline a reply may still arrive.
  init(program: URL, number: Int, allowance: Duration) {
    self.program = program
    self.allowance = allowance
    queue = DispatchQueue(label: "crier.speaker.\(number)")
  }

  deinit {
    connection?.close()  // There are no more references to the speaker, so nothing runs on its queue.
  }

  /// Starts the program if it is not running, and reads its greeting.
  func start() throws(Failure) {
    dispatchPrecondition(condition: .onQueue(queue))
    guard connection == nil else { return }
    guard FileManager.default.isExecutableFile(atPath: program.path) else {
      throw .unavailable(
        Self.unavailable(
          "the speaker program is missing", remedy: "build or install it beside crier (make install)",
          obstacle: .programMissing))
    }
    guard let (ours, theirs) = Descriptor.pair() else {
      throw .unavailable(
        Self.unavailable("this process has no more file descriptors", remedy: "raise its limit (ulimit -n)"))
    }
    let process = SpeakerProcess(program: program.path(percentEncoded: false), socket: theirs)
    theirs.close()  // An open copy of the speaker's socket would hide that the speaker has ended.
    guard let process else {
      ours.close()
      throw .unavailable(
        Self.unavailable(
          "the speaker program could not be started",
          remedy: "check that it is executable, and check the process limit (ulimit -u)"))
    }
    do {
      identity = try greet(ours)
    } catch {
      ours.close()
      throw error
    }
    runningProcess.store(process.identifier, ordering: .relaxed)
    self.process = consume process
    connection = ours
  }

  /// Sends a request and waits for the whole reply. The method generates a request identifier, which ensures that the
  /// reply belongs to this request.
  func exchange(
    _ kind: SpeakerMessages.Kind, _ utterance: Utterance, deadlineMilliseconds: Int, maximumSamples: Int
  ) throws(Failure) -> Reply {
    dispatchPrecondition(condition: .onQueue(queue))
    let identifier = UInt64.random(in: .min ... .max)
    let request = SpeakerMessages.request(
      kind, utterance, identifier: identifier, deadlineMilliseconds: deadlineMilliseconds,
      maximumSamples: maximumSamples)
    // The speaker enforces the deadline itself. If it exceeds the deadline by the allowance, it counts as hung.
    let deadline = ContinuousClock.now + .milliseconds(deadlineMilliseconds) + allowance
    guard let connection else { throw .died }
    do {
      try connection.write(request, deadline: deadline)
      let bytes: [UInt8] = try connection.read(SpeakerMessages.replyHeaderBytes, deadline: deadline)
      guard let header = SpeakerMessages.ReplyHeader(bytes), header.identifier == identifier else { throw Failure.died }
      let marks: [UInt8] = try connection.read(header.markCount * SpeakerMessages.markBytes, deadline: deadline)
      let phonemes: [UInt8] = try connection.read(header.phonemeBytes, deadline: deadline)
      let samples: [Int16] = try connection.read(header.storedSamples, deadline: deadline)
      guard header.outcome != .ended else { throw Failure.died }
      return Reply(header: header, marks: marks, phonemes: phonemes, samples: samples)
    } catch {
      stop()
      if case Descriptor.Failure.deadline = error { throw .hung }
      throw .died
    }
  }

  struct Reply: Sendable {
    var header: SpeakerMessages.ReplyHeader
    var marks: [UInt8]
    var phonemes: [UInt8]
    var samples: [Int16]
  }

  /// Stops the program, even if it is busy. The next call of ``start()`` starts a new one.
  func stop() {
    dispatchPrecondition(condition: .onQueue(queue))
    connection?.close()
    connection = nil
    process = nil  // The deinitialiser stops the process.
    runningProcess.store(0, ordering: .relaxed)
  }

  /// The identifier of the running program's process; `nil` when none is running. It can be read on any thread.
  var processIdentifier: Int32? {
    let process = runningProcess.load(ordering: .relaxed)
    return process > 0 ? process : nil
  }

  private func greet(_ connection: Descriptor) throws(Failure) -> EngineIdentity {
    let deadline = ContinuousClock.now + Self.greetingPatience
    let hello: SpeakerMessages.Hello
    let version: [UInt8]
    do {
      guard let greeting = SpeakerMessages.Hello(try connection.read(SpeakerMessages.helloBytes, deadline: deadline))
      else {
        throw Failure.unavailable(
          Self.unavailable("the speaker program has a different version", remedy: "build crier and speaker together"))
      }
      hello = greeting
      version = try connection.read(hello.versionBytes, deadline: deadline)
    } catch let failure as Failure {
      throw failure
    } catch {
      throw .diedAtStart
    }
    guard hello.isReady else {
      throw .notReady(
        hello.isDataMissing
          ? Self.unavailable(
            "the engine's data is missing or cannot be read", remedy: "install the package espeak-ng-data",
            obstacle: .dataMissing)
          : Self.unavailable(
            "this kernel cannot confine the speaker", remedy: "run a Linux kernel with seccomp filters (3.17 or later)",
            obstacle: .sandboxUnavailable)
      )
    }
    return EngineIdentity(version: String(decoding: version, as: UTF8.self), dataFingerprint: hello.dataFingerprint)
  }

  private static func unavailable(
    _ problem: String, remedy: String, obstacle: SpeechEngineError.Obstacle? = nil
  ) -> SpeechEngineError {
    SpeechEngineError(
      .engineUnavailable, "starting the speech engine", problem, remedy: remedy, obstacle: obstacle)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Synchronization

/// One speaker program, from its start to its end. Every call blocks and belongs on the speaker's own queue.
///
/// `@unchecked Sendable`: its state is touched on `queue` alone, which every method checks, but for the process's
/// number, which is atomic.
final class Speaker: @unchecked Sendable {
  /// What went wrong with the speaker itself, as opposed to one text.
  enum Failure: Error {
    /// It did not start; never worth a second try.
    case unavailable(SpeechEngineError)
    /// It was ready once and is gone, or sends nonsense; or a process of its own was ended, and not by the text.
    case died
    /// It did not answer in time, and was ended.
    case hung
    /// It was gone before it was ready: killed, or missing a library.
    case diedAtStart
    /// It says itself that it cannot work: perhaps for good, perhaps for want of memory.
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

  /// How long it may take to greet, which it does after 30 ms: one that has not is most often waiting for a processor, on
  /// a machine that starts much else, and to end it would make that worse.
  private static let greetingPatience = Duration.seconds(10)

  private var connection: Descriptor?
  private var process: SpeakerProcess?
  private let runningProcess = Atomic<Int32>(0)
  private(set) var identity: EngineIdentity?

  /// - Parameter allowance: how long it may take to reply beyond a request's own deadline.
  init(program: URL, number: Int, allowance: Duration) {
    self.program = program
    self.allowance = allowance
    queue = DispatchQueue(label: "crier.speaker.\(number)")
  }

  deinit {
    connection?.close()  // nobody holds the speaker any more, so nothing runs on its queue
  }

  /// Starts the program if it does not run, and reads its greeting.
  func start() throws(Failure) {
    dispatchPrecondition(condition: .onQueue(queue))
    guard connection == nil else { return }
    guard FileManager.default.isExecutableFile(atPath: program.path) else {
      throw .unavailable(
        Self.unavailable("there is no speaker program", remedy: "build or install it beside crier (make install)"))
    }
    guard let (ours, theirs) = Descriptor.pair() else {
      throw .unavailable(
        Self.unavailable("this process has no more file descriptors", remedy: "raise its limit (ulimit -n)"))
    }
    let process = SpeakerProcess(program: program.path(percentEncoded: false), socket: theirs)
    theirs.close()  // ours alone would keep a speaker that ended from reading as ended
    guard let process else {
      ours.close()
      throw .unavailable(
        Self.unavailable(
          "no process can be made of the speaker program",
          remedy: "see that it may be executed, and for a limit (ulimit -u)"))
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

  /// Sends a request and waits for the whole reply, which is this request's by its identifier: a number that is drawn here.
  func exchange(
    _ kind: SpeakerMessages.Kind, _ utterance: Utterance, deadlineMilliseconds: Int, maximumSamples: Int
  ) throws(Failure) -> Reply {
    dispatchPrecondition(condition: .onQueue(queue))
    let identifier = UInt64.random(in: .min ... .max)
    let request = SpeakerMessages.request(
      kind, utterance, identifier: identifier, deadlineMilliseconds: deadlineMilliseconds,
      maximumSamples: maximumSamples)
    // The speaker keeps the deadline itself; past this it hangs.
    let deadline = ContinuousClock.now + .milliseconds(deadlineMilliseconds) + allowance
    guard let connection else { throw .died }
    do {
      try connection.write(request, deadline: deadline)
      let bytes = try connection.read(SpeakerMessages.replyHeaderBytes, deadline: deadline)
      guard let header = SpeakerMessages.ReplyHeader(bytes), header.identifier == identifier else { throw Failure.died }
      let marks = try connection.read(header.markCount * SpeakerMessages.markBytes, deadline: deadline)
      let phonemes = try connection.read(header.phonemeBytes, deadline: deadline)
      let samples = try connection.readSamples(header.storedSamples, deadline: deadline)
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

  /// Ends the program, whatever it is doing; the next ``start()`` makes a new one.
  func stop() {
    dispatchPrecondition(condition: .onQueue(queue))
    connection?.close()
    connection = nil
    process = nil  // which ends it
    runningProcess.store(0, ordering: .relaxed)
  }

  /// The running program's process, from any thread; `nil` when there is none.
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
          Self.unavailable("the speaker program is of another version", remedy: "build crier and speaker together"))
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
            "the engine's data is missing or cannot be read", remedy: "install the package espeak-ng-data")
          : Self.unavailable(
            "this kernel cannot confine the speaker", remedy: "run a Linux kernel with seccomp filters (3.17 or later)")
      )
    }
    return EngineIdentity(version: String(decoding: version, as: UTF8.self), dataFingerprint: hello.dataFingerprint)
  }

  private static func unavailable(_ problem: String, remedy: String) -> SpeechEngineError {
    SpeechEngineError(.engineUnavailable, "starting the speech engine", problem, remedy: remedy)
  }
}

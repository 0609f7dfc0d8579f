// SPDX-License-Identifier: Apache-2.0

private import ConcurrencySupport
private import Foundation
public import SoundOutputs
public import Waveforms

/// An output whose sounds end when the test says so.
public final class SimulatedOutput: SoundOutput {
  /// A sound that has begun.
  public struct Sound: Sendable, Equatable {
    /// The label of the sound's control. A player labels a sound with its announcement's number.
    public var label: String
    /// The volume in per cent.
    public var volume: Int
    public var samples: Int

    public init(label: String, volume: Int, samples: Int) {
      (self.label, self.volume, self.samples) = (label, volume, samples)
    }
  }

  private struct State {
    var begun: [Sound] = []
    var heard: [String] = []
    var isAutomatic = false
    var mayEnd = 0
    var faults: [OutputError.Code] = []
    var breaks: OutputError.Code?
    var isLost = false
    var position: Int?
    var openingFault: OutputError.Code?
    var openings = 0
    var areOpeningsHeld = false
    var releases = 0
    var isPlaying = false
    var overlaps = 0
    var waiters: [(isSo: @Sendable (State) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
  }

  public let name = "simulated"
  private let state = Locked(State())

  public init() {}

  // MARK: What the test sees

  /// The sounds that have begun, in order.
  public var sounds: [Sound] { state.withLock { $0.begun } }
  /// The numbers of the announcements that have begun, in order.
  public var begun: [Int64] { sounds.compactMap { Int64($0.label) } }
  /// The numbers of the announcements that were heard to their end, in order.
  public var heard: [Int64] { state.withLock { $0.heard }.compactMap { Int64($0) } }
  /// The number of times that the output was released.
  public var releases: Int { state.withLock { $0.releases } }
  /// The number of attempts to open the output.
  public var openings: Int { state.withLock { $0.openings } }
  /// The number of sounds that began while another one played.
  public var overlaps: Int { state.withLock { $0.overlaps } }

  /// Waits until a number of sounds have begun. Refused sounds do not count.
  public func begins(_ count: Int) async { await wait { $0.begun.count >= count } }
  /// Waits until no more than a number of refusals are left.
  public func refusals(left count: Int) async { await wait { $0.faults.count <= count } }
  /// Waits until the output was released a number of times.
  public func released(_ count: Int) async { await wait { $0.releases >= count } }

  // MARK: What the test controls

  /// From now on, every sound ends at once.
  public func hearAll() { change { $0.isAutomatic = true } }
  /// Lets the current or the next sound play to its end.
  public func hear() { change { $0.mayEnd += 1 } }
  /// Sets the position of the current sound in ms.
  public func setPosition(_ milliseconds: Int) { change { $0.position = milliseconds } }
  /// Makes the next sounds fail to begin.
  public func refuse(_ codes: OutputError.Code...) { change { $0.faults += codes } }
  /// Makes opening the output fail; nil lets it succeed again.
  public func refuseOpening(_ code: OutputError.Code?) { change { $0.openingFault = code } }
  /// Makes opening the output wait until ``releaseOpenings()``, like a device that does not answer.
  public func holdOpenings() { change { $0.areOpeningsHeld = true } }
  public func releaseOpenings() { change { $0.areOpeningsHeld = false } }
  /// Breaks off the current sound.
  public func breakOff(_ code: OutputError.Code) { change { $0.breaks = code } }
  /// Loses the device: the current sound breaks off, and no sound begins any more.
  public func lose() { change { $0.isLost = true } }

  // MARK: The output

  public func play(_ sound: Waveform, volume: Volume, control: PlayControl) throws(OutputError) -> PlayResult {
    let fault: OutputError.Code? = change { state in
      if state.isLost { return .deviceLost }
      if state.faults.isEmpty {
        if state.isPlaying { state.overlaps += 1 }
        state.isPlaying = true
        state.begun.append(Sound(label: control.label, volume: volume.percent, samples: sound.samples.count))
        return nil
      }
      return state.faults.removeFirst()
    }
    if let fault { throw OutputError(fault, name, "simulated", remedy: "wait") }
    defer { change { $0.isPlaying = false } }
    while true {
      let (isHeard, breaks, position): (Bool, OutputError.Code?, Int?) = state.withLock { state in
        if let code = state.isLost ? .deviceLost : state.breaks {
          state.breaks = nil
          return (false, code, nil)
        }
        guard !control.isPaused, !control.isStopped, state.isAutomatic || state.mayEnd > 0 else {
          return (false, nil, state.position)
        }
        if !state.isAutomatic { state.mayEnd -= 1 }
        state.position = nil
        return (true, nil, sound.durationMilliseconds)
      }
      if let position { control.setPosition(position) }
      if let breaks { throw OutputError(breaks, name, "simulated", remedy: "wait") }
      if isHeard {
        change { $0.heard.append(control.label) }
        return .heard
      }
      if control.isStopped { return .stopped(atMilliseconds: control.position) }
      control.wait(while: control.state, atMost: .milliseconds(1))
    }
  }

  public func open(rate: Int) throws(OutputError) {
    change { $0.openings += 1 }
    // The caller's thread is one that may block.
    while state.withLock({ $0.areOpeningsHeld }) { sched_yield() }
    let fault = state.withLock { $0.openingFault }
    if let code = fault {
      throw OutputError(code, name, "opening it", remedy: "try another")
    }
  }

  public func release() { change { $0.releases += 1 } }

  @discardableResult
  private func change<Value: Sendable>(_ body: @Sendable (inout State) -> sending Value) -> Value {
    let (value, woken): (Value, [CheckedContinuation<Void, Never>]) = state.withLock { state in
      let value = body(&state)
      let now = state
      let woken = state.waiters.filter { $0.isSo(now) }.map(\.continuation)
      state.waiters.removeAll { $0.isSo(now) }
      return (value, woken)
    }
    for waiter in woken { waiter.resume() }
    return value
  }

  private func wait(until isSo: @escaping @Sendable (State) -> Bool) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if isSo(state) { return true }
        state.waiters.append((isSo, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

/// The control of one sound. The caller creates it and passes it to `SoundOutput.play`. It can be used from any thread
/// before, during and after playing.
public final class PlayControl: @unchecked Sendable {  // Every variable is used only under `monitor`.
  /// The requested state.
  public enum State: Sendable, Hashable {
    case playing
    case paused
    /// The sound was stopped. This state is final.
    case stopped
  }

  /// The caller's name for this sound. A `FileOutput` records it; other outputs ignore it.
  public let label: String

  private let monitor = Monitor()
  private var request = State.playing
  private var heard: @Sendable () -> Int = { 0 }

  public init(label: String = "") {
    self.label = label
  }

  /// Stops the sound before its end. The request takes effect within 50 ms.
  public func stop() { ask { _ in .stopped } }

  /// Pauses the sound until ``resume()``. The request takes effect within 50 ms, and has no effect after ``stop()``.
  public func pause() { ask { $0 == .stopped ? .stopped : .paused } }

  /// Continues a paused sound. The request has no effect after ``stop()``.
  public func resume() { ask { $0 == .stopped ? .stopped : .playing } }

  public var state: State { monitor.withLock { request } }
  public var isStopped: Bool { state == .stopped }
  public var isPaused: Bool { state == .paused }

  /// The part of the sound that has been heard, in ms: 0 before it plays, and the last position after it has ended.
  public var position: Int { monitor.withLock { heard }() }

  /// Blocks the calling thread until the state differs from the given one, or until the limit is over (`nil`: no
  /// limit).
  ///
  /// Implementations of `OutputClock` use this method; a player does not need it.
  public func wait(while state: State, atMost limit: Duration?) {
    let end = limit.map { SuspendingClock.now + $0 }
    monitor.withLock {
      while request == state {
        let left = end.map { SuspendingClock.now.duration(to: $0) }
        if let left, left <= .zero { return }
        monitor.wait(timeout: left)
      }
    }
  }

  /// Sets the position, for outputs that measure it, and for the tests' outputs.
  package func setPosition(_ milliseconds: Int) { setPosition { milliseconds } }

  /// Sets a function that returns the position, for outputs whose position follows from the time.
  func setPosition(_ position: @escaping @Sendable () -> Int) { monitor.withLock { heard = position } }

  private func ask(_ change: (State) -> State) {
    monitor.withLock { request = change(request) }
    monitor.broadcast()
  }
}

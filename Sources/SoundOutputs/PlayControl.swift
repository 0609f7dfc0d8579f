// SPDX-License-Identifier: Apache-2.0

/// The handle on one playing: made by who wants a sound heard, given to `SoundOutput.play`, and used from any thread
/// before, while and after it plays.
public final class PlayControl: @unchecked Sendable {  // every variable is read and written under `monitor`
  /// What has been asked for.
  public enum State: Sendable, Hashable {
    case playing
    case paused
    /// For good.
    case stopped
  }

  /// The caller's name for this playing; a `FileOutput` writes it down. No output makes anything else of it.
  public let label: String

  private let monitor = Monitor()
  private var request = State.playing
  private var heard: @Sendable () -> Int = { 0 }

  public init(label: String = "") {
    self.label = label
  }

  /// Asks for the sound to end now; what is left of it is not heard. Takes effect within 50 ms.
  public func stop() { ask { _ in .stopped } }

  /// Asks for silence until ``resume()``; takes effect within 50 ms. Does nothing after ``stop()``.
  public func pause() { ask { $0 == .stopped ? .stopped : .paused } }

  /// Asks for the sound to go on where it was paused. Does nothing after ``stop()``.
  public func resume() { ask { $0 == .stopped ? .stopped : .playing } }

  public var state: State { monitor.withLock { request } }
  public var isStopped: Bool { state == .stopped }
  public var isPaused: Bool { state == .paused }

  /// How much of the sound has been heard, in ms; 0 before it plays, and its place in the sound after it ended.
  public var position: Int { monitor.withLock { heard }() }

  /// Blocks the calling thread while the state is this one, or until the time is over (nil: without end).
  ///
  /// For an `OutputClock` of one's own; a player has no use for it.
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

  /// For outputs: where the sound is.
  func setPosition(_ milliseconds: Int) { setPosition { milliseconds } }

  /// For outputs whose place follows from the time.
  func setPosition(_ position: @escaping @Sendable () -> Int) { monitor.withLock { heard = position } }

  private func ask(_ change: (State) -> State) {
    monitor.withLock { request = change(request) }
    monitor.broadcast()
  }
}

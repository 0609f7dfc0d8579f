// SPDX-License-Identifier: Apache-2.0

/// Plays one sound on a device.
///
/// The buffer is kept full with the sound and, after its end, with silence, until the device reports that the last
/// frame was heard. The buffer therefore cannot become empty just before the end. Playing also needs no draining call,
/// which in libasound blocks or cannot be stopped. Stopping and pausing drop the buffer's contents.
///
/// Waiting uses the clock and not the device's poll, so that requests to stop and pause take effect at once.
struct DevicePlaying {
  /// The longest time without a played frame. After this time, the device is abandoned.
  static let patience = Duration.seconds(2)

  /// The longest time that a suspended device may take to wake.
  static let wakingPatience = Duration.seconds(5)

  let device: any PlaybackDevice

  /// The samples at the device's rate.
  let samples: [Int16]
  let control: PlayControl
  let clock: any OutputClock

  /// A function that is called with true when frames have been heard, and with false when none are expected for a
  /// while.
  let watch: (Bool) -> Void

  /// Returns whether the caller has given the sound up, because the device hung. It may be playing the sound on another
  /// device by now, so nothing more of it must be heard here.
  let isAbandoned: () -> Bool

  /// The index of the sound's first frame that was written since the device was prepared.
  private var base = 0

  /// The number of frames written since the device was prepared, including the silence after the sound.
  private var written = 0
  private(set) var heard = 0
  private var isStarted = false
  private var lastProgress: Duration

  init(
    device: any PlaybackDevice, samples: [Int16], control: PlayControl, clock: any OutputClock,
    watch: @escaping (Bool) -> Void, isAbandoned: @escaping () -> Bool = { false }
  ) {
    self.device = device
    self.samples = samples
    self.control = control
    self.clock = clock
    self.watch = watch
    self.isAbandoned = isAbandoned
    lastProgress = clock.now()
  }

  /// Plays until the last frame has been heard. The device then plays silence until ``settle()``.
  mutating func run() throws(DeviceFault) -> PlayResult {
    noteProgress()
    try begin(at: 0)
    while true {
      switch control.state {
      case .stopped:
        try? measure()
        device.drop()
        return .stopped(atMilliseconds: heard * 1000 / device.format.rate)
      case .paused:
        try recovering { playing throws(DeviceFault) in try playing.pause() }
      case .playing:
        try recovering { playing throws(DeviceFault) in
          try playing.fill()
          try playing.endIfAbandoned()
          try playing.measure()
        }
        try endIfAbandoned()
        if heard >= samples.count { return .heard }
        if clock.now() - lastProgress >= Self.patience {
          throw DeviceFault(
            kind: .lost, action: "playing",
            message: "no frame was played for \(Self.patience.wholeMilliseconds) ms")
        }
        clock.wait(until: clock.now() + untilNextLook, while: .playing, of: control)
      }
    }
  }

  /// - Throws: A fault if the caller has given the sound up. What the device still holds is dropped.
  private func endIfAbandoned() throws(DeviceFault) {
    guard isAbandoned() else { return }
    device.drop()
    throw DeviceFault(kind: .failed, action: "playing", message: "the sound was given up while the device hung")
  }

  /// Ends the silence after a sound and prepares the device for the next sound. The silence ends one period late, so
  /// that a device that counts a few ms too fast still plays the end of the sound. A sound server needs 15 ms to
  /// prepare (measured with PulseAudio 16). This time passes during the pause between two sounds instead of making the
  /// pause longer.
  mutating func settle() {
    let end = clock.now() + period
    let silent = PlayControl()
    clock.wait(until: end, while: .playing, of: silent)
    device.drop()
    try? device.prepare()  // A failure here recurs for the next sound and is reported then.
  }

  private var period: Duration { duration(frames: device.format.periodFrames) }

  /// The time until the next check: half a period, or less near the end of the sound, so that the end is noticed when
  /// it comes.
  private var untilNextLook: Duration {
    max(.milliseconds(1), min(period / 2, duration(frames: samples.count - heard)))
  }

  private func duration(frames: Int) -> Duration {
    .nanoseconds(Int64(frames) * 1_000_000_000 / Int64(device.format.rate))
  }

  private mutating func begin(at frame: Int) throws(DeviceFault) {
    (base, written, isStarted) = (frame, 0, false)
    try device.prepare()
  }

  /// Fills the buffer at most once per call, because a device that accepts sound without limit would leave no time for
  /// other checks.
  private mutating func fill() throws(DeviceFault) {
    var room = device.format.bufferFrames
    while room > 0 {
      let next = base + written
      let count = min(room, device.format.periodFrames)
      let end = min(samples.count, next + count)
      let frames =
        next < end ? samples[next..<end] : ArraySlice(repeatElement(0, count: count))
      let taken = try device.write(device.format.encode(frames))
      written += taken
      room -= taken
      if taken < frames.count { break }
    }
    if !isStarted {
      try device.start()
      isStarted = true
    }
  }

  /// Updates the position from the device.
  private mutating func measure() throws(DeviceFault) {
    guard isStarted else { return }
    let now = min(samples.count, base + max(0, written - (try device.unheardFrames())))
    if now > heard {
      heard = now
      noteProgress()
      control.setPosition(heard * 1000 / device.format.rate)
    }
  }

  private mutating func noteProgress() {
    lastProgress = clock.now()
    watch(true)
  }

  /// Holds the sound at its position until it is resumed or stopped.
  private mutating func pause() throws(DeviceFault) {
    try measure()
    watch(false)
    defer { noteProgress() }
    if isStarted, device.canPause, (try? device.pause(true)) != nil {
      clock.wait(until: nil, while: .paused, of: control)
      if control.state == .playing { try device.pause(false) }
    } else {
      device.drop()
      isStarted = false  // An empty buffer does not mean that everything was heard.
      clock.wait(until: nil, while: .paused, of: control)
      if control.state == .playing { try begin(at: heard) }
    }
  }

  private mutating func recovering(
    _ body: (inout DevicePlaying) throws(DeviceFault) -> Void
  ) throws(DeviceFault) {
    do {
      try body(&self)
    } catch {
      switch error.kind {
      case .underrun:
        // All written frames have been heard, so playing continues after them.
        let end = min(samples.count, base + written)
        try begin(at: end)
        if end > heard {
          heard = end
          noteProgress()
          control.setPosition(heard * 1000 / device.format.rate)
        }
      case .suspended:
        try wake()
      default:
        throw error
      }
    }
  }

  private mutating func wake() throws(DeviceFault) {
    let end = clock.now() + Self.wakingPatience
    watch(false)
    defer { noteProgress() }
    while clock.now() < end, control.state != .stopped {
      do {
        if try device.resume() { return }
      } catch {
        break  // The device cannot resume, but it may start again.
      }
      clock.wait(until: clock.now() + .milliseconds(50), while: control.state, of: control)
    }
    try begin(at: heard)
  }
}

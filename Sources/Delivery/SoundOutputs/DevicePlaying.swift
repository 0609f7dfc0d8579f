// SPDX-License-Identifier: Apache-2.0

/// Plays one sound on a device.
///
/// Playing keeps the buffer full with the sound and, after its end, with silence, until the device reports that the
/// last frame was heard. The buffer therefore cannot become empty just before the end. Playing also needs no draining
/// call, which in libasound blocks or cannot be stopped. Stopping and pausing drop the buffer's contents.
///
/// A lead-in for a sink that sleeps is not part of the sound: during the lead-in, the position in the sound does not
/// change.
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

  /// A function that is called with true when frames have been heard, and with false when no frames will be heard for
  /// some time, for example during a pause.
  let watch: (Bool) -> Void

  /// Returns whether the caller has given up on this device, because the device hung. The caller may be playing the
  /// sound on another device by now, so no more of it must be heard on this one.
  let isAbandoned: () -> Bool

  /// The sound for waking the sink, which is written before and after the sound itself.
  let waking: Waking

  /// The frame of the sound at which playing began when the device was last woken up. Frames before it are the lead-in.
  private var start = 0

  /// The index of the first frame that was written since the device was prepared.
  private var base = 0

  /// The number of frames written since the device was prepared, including the frames after the sound.
  private var written = 0

  /// The frame up to which the device has played.
  private var reached = 0
  private(set) var heard = 0
  private var isStarted = false
  private var lastProgress: Duration

  init(
    device: any PlaybackDevice, samples: [Int16], control: PlayControl, clock: any OutputClock,
    waking: Waking = Waking(), watch: @escaping (Bool) -> Void, isAbandoned: @escaping () -> Bool = { false }
  ) {
    self.device = device
    self.samples = samples
    self.control = control
    self.clock = clock
    self.waking = waking
    self.watch = watch
    self.isAbandoned = isAbandoned
    lastProgress = clock.now()
  }

  /// Plays until the last frame has been heard. The device then plays silence until ``settle()``, or stays awake with
  /// ``keepAwake(while:)``.
  mutating func run() throws(DeviceFault) -> PlayResult {
    noteProgress()
    try wakeUp(at: 0)
    while true {
      switch control.state {
      case .stopped:
        try? measure()
        drop()
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

  /// - Throws: A fault if the caller has given up on the device. The samples that the device still holds are dropped.
  private func endIfAbandoned() throws(DeviceFault) {
    guard isAbandoned() else { return }
    device.drop()
    throw DeviceFault(kind: .failed, action: "playing", message: "the sound was given up while the device hung")
  }

  /// Ends the silence after a sound and prepares the device for the next sound.
  mutating func settle() {
    waitForEnd()
    makeReady()
  }

  /// Keeps the sink awake after a sound, and prepares the device for the next sound.
  ///
  /// - Parameter rest: A function that waits for a time. It returns false as soon as the device is needed.
  /// - Throws: A fault, after which the sink may sleep.
  mutating func keepAwake(while rest: (Duration) -> Bool) throws(DeviceFault) {
    do throws(DeviceFault) {
      // If the sound was stopped, the device is not running and must be started again.
      if isStarted { waitForEnd() } else { try begin(at: samples.count) }
      repeat {
        do throws(DeviceFault) {
          try fill()
        } catch {
          guard error.kind == .underrun else { throw error }
          device.isAwake = false  // Nothing was written for a while, so the sink may have fallen asleep.
          try begin(at: samples.count)
        }
      } while rest(duration(frames: device.format.bufferFrames) / 2)
    } catch {
      device.isAwake = false
      throw error
    }
    makeReady()
  }

  /// Waits for a period, so that a device that counts a few ms too fast still plays the end of the sound.
  private func waitForEnd() {
    let end = clock.now() + period
    let silent = PlayControl()
    clock.wait(until: end, while: .playing, of: silent)
  }

  /// Ends the silence or tone after a sound. A sound server needs 15 ms to prepare (measured with PulseAudio 16). This
  /// time passes during the pause between two sounds instead of making the pause longer, unless the sink is kept awake.
  private func makeReady() {
    device.drop()
    try? device.prepare()  // A failure here recurs for the next sound and is reported then.
  }

  private var period: Duration { duration(frames: device.format.periodFrames) }

  /// The time until the next check: half a period, or less near the end of the sound, so that the end is noticed
  /// without delay.
  private var untilNextLook: Duration {
    max(.milliseconds(1), min(period / 2, duration(frames: samples.count - heard)))
  }

  private func duration(frames: Int) -> Duration {
    .nanoseconds(Int64(frames) * 1_000_000_000 / Int64(device.format.rate))
  }

  /// Starts playing at a frame of the sound. If the sink may sleep, the lead-in comes first.
  private mutating func wakeUp(at frame: Int) throws(DeviceFault) {
    start = frame
    try begin(at: device.isAwake ? frame : frame - waking.leadInMilliseconds * device.format.rate / 1000)
  }

  private mutating func begin(at frame: Int) throws(DeviceFault) {
    (base, written, reached, isStarted) = (frame, 0, frame, false)
    try device.prepare()
  }

  /// Silences the device. Until something is written again, its sink may fall asleep.
  private mutating func drop() {
    device.drop()
    isStarted = false  // An empty buffer does not mean that everything was heard.
  }

  /// Fills the buffer, but at most once per call, because with a device that accepts sound without limit, the loop
  /// would never reach its other checks.
  private mutating func fill() throws(DeviceFault) {
    var room = device.format.bufferFrames
    while room > 0 {
      let frames = frames(from: base + written, atMost: min(room, device.format.periodFrames))
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

  /// Returns the next frames: of the lead-in, of the sound, or of the silence or tone after it.
  private func frames(from next: Int, atMost count: Int) -> ArraySlice<Int16> {
    if next < start {
      return waking.samples(next - start..<min(0, next - start + count), rate: device.format.rate)
    }
    if next < samples.count { return samples[next..<min(samples.count, next + count)] }
    return waking.samples(next - samples.count..<next - samples.count + count, rate: device.format.rate)
  }

  /// Updates the position from the device.
  private mutating func measure() throws(DeviceFault) {
    guard isStarted else { return }
    reach(base + max(0, written - (try device.unheardFrames())))
  }

  /// Notes that the device has played up to a frame.
  private mutating func reach(_ frame: Int) {
    guard min(samples.count, frame) > reached else { return }
    reached = min(samples.count, frame)
    noteProgress()
    if reached >= start { device.isAwake = true }
    guard reached > max(start, heard) else { return }
    heard = reached
    control.setPosition(heard * 1000 / device.format.rate)
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
    // After the device's own pause, the sound continues without a lead-in. If the sink has fallen asleep meanwhile,
    // that part of the sound would be lost, so this pause is used only if no lead-in is set.
    if isStarted, device.canPause, waking.leadInMilliseconds == 0, (try? device.pause(true)) != nil {
      clock.wait(until: nil, while: .paused, of: control)
      if control.state == .playing { try device.pause(false) }
    } else {
      drop()
      device.isAwake = false
      clock.wait(until: nil, while: .paused, of: control)
      if control.state == .playing { try wakeUp(at: heard) }
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
        reach(base + written)
        try begin(at: min(samples.count, base + written))
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
        if try device.resume() {
          if waking.leadInMilliseconds == 0 { return }
          // The sink has slept too, so the sound in the buffer would be lost. It is dropped and played again.
          drop()
          break
        }
      } catch {
        break  // The device cannot resume, but it may start again.
      }
      clock.wait(until: clock.now() + .milliseconds(50), while: control.state, of: control)
    }
    device.isAwake = false
    try wakeUp(at: heard)
  }
}

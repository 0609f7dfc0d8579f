// SPDX-License-Identifier: Apache-2.0

@testable import SoundOutputs

/// A device with simulated time that records what it plays.
final class SimulatedDevice: PlaybackDevice {
  let format: DeviceFormat
  var canPause = false
  var isAwake = false

  /// The sound that was heard: the 16-bit samples of one channel, without the silence of an empty buffer.
  private(set) var heard: [Int16] = []
  private(set) var calls: [String] = []

  /// The faults for coming writes. Each is thrown when playing reaches its frame.
  var faults: [(atFrame: Int, kind: DeviceFault.Kind)] = []

  /// The number of calls for which `resume` says that the device is not awake; `nil` for a device that cannot resume.
  var wakingCalls: Int? = 0

  /// The number of frames that the device's sink swallows when it wakes up. It sleeps after 50 ms without frames.
  var swallows = 0
  private var swallowsNow = 0
  private var sinkSleepsAt: Duration?

  /// All that the device played, whether its sink swallowed it or not.
  private(set) var played: [Int16] = []

  /// The frame from which on the device accepts nothing more.
  var stallsAt = Int.max

  private let clock: any OutputClock
  private var buffer: [Int16] = []
  private var isRunning = false
  private var lastTime = Duration.zero

  /// Creates a device with one channel and 16 bits.
  init(clock: any OutputClock, rate: Int = 1000, buffer: Int = 200, period: Int = 25) {
    self.clock = clock
    format = DeviceFormat(encoding: .signed16, channels: 1, rate: rate, bufferFrames: buffer, periodFrames: period)
  }

  func prepare() throws(DeviceFault) {
    calls.append("prepare")
    (buffer, isRunning) = ([], false)
  }

  func start() throws(DeviceFault) {
    guard !isRunning else { return }
    (isRunning, lastTime) = (true, clock.now())
  }

  func write(_ bytes: [UInt8]) throws(DeviceFault) -> Int {
    passTime()
    if let fault = faults.first, played.count >= fault.atFrame {
      faults.removeFirst()
      if fault.kind == .underrun { play(buffer[...]) }
      (buffer, isRunning) = (fault.kind == .suspended ? buffer : [], false)
      throw DeviceFault(kind: fault.kind, action: "writing to it", message: "simulated")
    }
    let count = min(bytes.count / 2, format.bufferFrames - buffer.count)
    for frame in 0..<count {
      buffer.append(Int16(bitPattern: UInt16(bytes[frame * 2]) | UInt16(bytes[frame * 2 + 1]) << 8))
    }
    return count
  }

  func unheardFrames() throws(DeviceFault) -> Int {
    passTime()
    return buffer.count
  }

  func drop() {
    passTime()
    calls.append("drop")
    (buffer, isRunning) = ([], false)
  }

  func pause(_ pauses: Bool) throws(DeviceFault) {
    passTime()
    calls.append(pauses ? "pause" : "unpause")
    (isRunning, lastTime) = (!pauses, clock.now())
  }

  func resume() throws(DeviceFault) -> Bool {
    guard let left = wakingCalls else {
      throw DeviceFault(kind: .failed, action: "waking it", message: "simulated")
    }
    wakingCalls = left - 1
    if left == 0 { (isRunning, lastTime) = (true, clock.now()) }
    return left == 0
  }

  private func passTime() {
    let now = clock.now()
    guard isRunning else { return }
    let frames = Int((now - lastTime) / .seconds(1) * Double(format.rate))
    let count = min(frames, buffer.count, max(0, stallsAt - played.count))
    play(buffer.prefix(count))
    buffer.removeFirst(count)
    lastTime += .microseconds(Int64(frames) * 1_000_000 / Int64(format.rate))
  }

  /// Gives frames to the sink, from `lastTime` on.
  private func play(_ frames: ArraySlice<Int16>) {
    guard !frames.isEmpty else { return }
    if sinkSleepsAt.map({ $0 < lastTime }) ?? true { swallowsNow = swallows }
    played += frames
    heard += frames.dropFirst(swallowsNow)
    swallowsNow -= min(swallowsNow, frames.count)
    sinkSleepsAt = clock.now() + .milliseconds(50)
  }
}

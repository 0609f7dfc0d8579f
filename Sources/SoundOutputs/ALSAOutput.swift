// SPDX-License-Identifier: Apache-2.0

#if canImport(CALSA)
  private import Foundation
  private import Resampling
  public import Waveforms

  /// Plays to a PCM of ALSA, the way to sound cards, PulseAudio and PipeWire on Linux.
  ///
  /// The device is asked for the sound's own rate and one channel. What it takes instead is made here: another rate by
  /// libsoxr, the same samples in as many channels as there must be, 32-bit integers or floats for 16-bit samples.
  ///
  /// A device that hangs is left to itself after 2 s without a frame heard, and reported as lost: no call of this
  /// class takes longer than the sound, its pauses and 3 s.
  public final class ALSAOutput: SoundOutput, @unchecked Sendable {  // `open` is read and written under `lock`
    /// How long opening, and giving back, may take.
    private static let openingPatience = Duration.seconds(2.5)

    private struct OpenDevice {
      let thread: DeviceThread
      let format: DeviceFormat

      /// What was asked for, in Hz.
      let requestedRate: Int
    }

    public var name: String { device == "default" ? "default" : OutputName.alsa(device).description }

    /// The PCM's name in ALSA's configuration.
    public let device: String

    private let mayPause: Bool
    private let clock: any OutputClock = SystemClock()
    private let lock = NSLock()
    private var open: OpenDevice?

    /// - Parameter device: any name that ALSA knows, as `aplay -L` lists them. Nothing is opened yet.
    public convenience init(device: String = "default") {
      self.init(device: device, mayPause: true)
    }

    /// - Parameter mayPause: false to drop and play again where the device could pause by itself.
    init(device: String, mayPause: Bool) {
      self.device = device
      self.mayPause = mayPause
    }

    deinit { release() }

    public func play(_ sound: Waveform, volume: Volume, control: PlayControl) throws(OutputError) -> PlayResult {
      guard !control.isStopped else { return .stopped(atMilliseconds: 0) }
      guard !sound.samples.isEmpty else { return .heard }
      let (reused, isReused) = try openDevice(rate: sound.sampleRate)
      do {
        return try play(sound, volume, control, on: reused)
      } catch {
        // A device that lay open may have been lost, and be back, long before this sound.
        guard isReused, error.code == .deviceLost, control.position == 0, !control.isStopped else { throw error }
        return try play(sound, volume, control, on: openDevice(rate: sound.sampleRate).device)
      }
    }

    public func open(rate: Int) throws(OutputError) { _ = try openDevice(rate: rate) }

    public func release() {
      guard let device = lock.withLock({ take() }) else { return }
      // The answer comes when the device is closed, and is not waited for if it hangs.
      _ = device.thread.run(patience: .seconds(2)) { device, closed in
        device = nil
        closed.give(true)
      }
      device.thread.end()
    }

    private func take() -> OpenDevice? {
      defer { open = nil }
      return open
    }

    private func openDevice(rate: Int) throws(OutputError) -> (device: OpenDevice, isReused: Bool) {
      if let open = lock.withLock({ open }) {
        if open.requestedRate == rate { return (open, true) }
        release()
      }
      let thread = DeviceThread()
      let (name, mayPause) = (device, mayPause)
      let opening: Result<DeviceFormat, DeviceFault>? = thread.run(patience: Self.openingPatience) { device, answer in
        do throws(DeviceFault) {
          let opened = try ALSADevice(name: name, rate: rate, mayPause: mayPause)
          device = opened
          answer.give(.success(opened.format))
        } catch {
          answer.give(.failure(error))
        }
      }
      switch opening {
      case .success(let format):
        let opened = OpenDevice(thread: thread, format: format, requestedRate: rate)
        lock.withLock { open = opened }
        return (opened, false)
      case .failure(let fault):
        thread.end()
        throw report(fault)
      case nil:
        thread.end()
        throw report(DeviceFault(kind: .lost, action: "opening it", message: "it does not answer"))
      }
    }

    private func play(
      _ sound: Waveform, _ volume: Volume, _ control: PlayControl, on open: OpenDevice
    ) throws(OutputError) -> PlayResult {
      let samples: [Int16]
      do {
        samples = try Resampler.convert(
          volume.applied(to: sound.samples), from: sound.sampleRate, to: open.format.rate)
      } catch {
        throw OutputError(
          .formatUnsupported, name, "\(error.reason)", remedy: "give a sound of 8,000 to 192,000 Hz")
      }
      // The job finds out first, and then the device is closed; it is given up only if the job hangs.
      let patience = DevicePlaying.patience + .milliseconds(250)
      let clock = clock
      let result: Result<PlayResult, DeviceFault>? = open.thread.run(patience: patience) { device, answer in
        guard let opened = device else {
          answer.give(.failure(DeviceFault(kind: .lost, action: "playing", message: "it is closed")))
          return
        }
        do throws(DeviceFault) {
          var playing = DevicePlaying(
            device: opened, samples: samples, control: control, clock: clock, watch: answer.noteProgress)
          let result = try playing.run()
          answer.give(.success(result))
          if result == .heard { playing.settle() }
        } catch {
          answer.give(.failure(error))
        }
      }
      switch result {
      case .success(let result):
        if result == .heard { control.setPosition(sound.durationMilliseconds) }
        return result
      case .failure(let fault):
        abandon()
        throw report(fault)
      case nil:
        abandon()
        if control.isStopped { return .stopped(atMilliseconds: control.position) }
        throw report(DeviceFault(kind: .lost, action: "playing", message: "it does not answer"))
      }
    }

    /// Closes the device without waiting.
    private func abandon() {
      lock.withLock { take() }?.thread.end()
    }

    private func report(_ fault: DeviceFault) -> OutputError {
      let (code, remedy): (OutputError.Code, String) =
        switch fault.kind {
        case .lost, .suspended, .underrun:
          (.deviceLost, "connect the device or start its sound server, and play the sound again")
        case .busy: (.deviceBusy, "close the program that has it, or choose a PCM that mixes")
        case .missing: (.deviceMissing, "choose a PCM that “aplay -L” lists")
        case .formatUnsupported: (.formatUnsupported, "choose a PCM that converts, as “alsa:plughw:…”")
        case .failed: (.deviceFailed, "see whether “aplay” can use it and whether this user may")
        }
      return OutputError(code, name, "\(fault.action): \(fault.message)", remedy: remedy)
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0

#if canImport(CALSA)
  private import ConcurrencySupport
  private import Resampling
  public import Waveforms

  /// Plays to an ALSA PCM, which reaches sound cards, PulseAudio and PipeWire on Linux.
  ///
  /// The output requests the sound's own rate and one channel. If the device accepts only something else, the output
  /// converts the sound: to another rate with libsoxr, to several channels with the same samples, and from 16-bit
  /// samples to 32-bit integers or floats.
  ///
  /// If a device plays no frame for 2 s, the output abandons it and reports it as lost. No call of this class takes
  /// more than 3 s in addition to the sound and its pauses.
  public final class ALSAOutput: SoundOutput {
    /// The time limits for opening and for releasing the device.
    static let openingPatience = Duration.seconds(2.5)
    static let releasingPatience = Duration.seconds(2)
    /// The time limit for playing without progress. The job that plays has a shorter limit, so it usually detects a
    /// fault first and closes the device. The device is abandoned only if the job hangs.
    static let playingPatience = DevicePlaying.patience + .milliseconds(250)

    private struct OpenDevice {
      let thread: DeviceThread
      let format: DeviceFormat

      /// The requested rate in Hz.
      let requestedRate: Int

      /// Whether the device can be opened once more while it is open.
      let isShared: Bool
    }

    public var name: String { device == "default" ? "default" : OutputName.alsa(device).description }

    /// The PCM's name in ALSA's configuration.
    public let device: String

    private let waking: Waking
    private let mayPause: Bool
    private let clock: any OutputClock = SystemClock()
    private let opened = Locked<OpenDevice?>(nil)

    /// Creates an output without opening its device.
    ///
    /// - Parameters:
    ///   - device: any name that ALSA knows; `aplay -L` lists them.
    ///   - waking: the sound that keeps a sink awake.
    ///   - mayPause: false to pause by dropping the buffer and playing it again, even if the device could pause by
    ///     itself.
    package init(device: String, waking: Waking = Waking(), mayPause: Bool = true) {
      self.device = device
      self.waking = waking
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
        // A device that was open already may have been disconnected and reconnected long before this sound, so one
        // retry is justified.
        guard isReused, error.code == .deviceLost, control.position == 0, !control.isStopped else { throw error }
        return try play(sound, volume, control, on: openDevice(rate: sound.sampleRate).device)
      }
    }

    public func open(rate: Int) throws(OutputError) {
      // A device that is open for sounds of another rate works, and may be kept awake, so it stays open.
      if let open = opened.withLock({ $0 }), !open.thread.isBroken { return }
      _ = try openDevice(rate: rate)
    }

    public func release() {
      if let device = take() { close(device) }
    }

    /// Closes a device, and waits for it for at most ``releasingPatience``.
    private func close(_ device: OpenDevice) {
      // The job answers when the device is closed. If the device hangs, the call does not wait any longer.
      _ = device.thread.run(patience: Self.releasingPatience) { device, closed in
        device = nil
        closed.give(true)
      }
      device.thread.end()
    }

    private func take() -> OpenDevice? {
      opened.withLock { opened in
        defer { opened = nil }
        return opened
      }
    }

    private func openDevice(rate: Int) throws(OutputError) -> (device: OpenDevice, isReused: Bool) {
      if let open = opened.withLock({ $0 }), open.requestedRate == rate, !open.thread.isBroken { return (open, true) }
      let earlier = take()
      // If the sink of a sound server had no stream for a moment, it would render silence far ahead.
      let overlaps = earlier?.isShared == true
      if let earlier, !overlaps { close(earlier) }
      defer { if let earlier, overlaps { close(earlier) } }
      let thread = DeviceThread()
      let (name, mayPause) = (device, mayPause)
      let opening: Result<(DeviceFormat, isShared: Bool), DeviceFault>? = thread.run(patience: Self.openingPatience) {
        device, answer in
        do throws(DeviceFault) {
          let opened = try ALSADevice(name: name, rate: rate, mayPause: mayPause)
          device = opened
          answer.give(.success((opened.format, opened.isShared)))
        } catch {
          answer.give(.failure(error))
        }
      }
      switch opening {
      case .success((let format, let isShared)):
        let open = OpenDevice(thread: thread, format: format, requestedRate: rate, isShared: isShared)
        opened.withLock { $0 = open }
        return (open, false)
      case .failure(let fault):
        thread.end()
        throw report(fault)
      case nil:
        thread.end()
        throw report(DeviceFault(kind: .lost, action: "opening the device", message: "the device does not answer"))
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
      let (clock, thread) = (clock, open.thread)
      var waking = waking
      if volume == .silent { waking.sound = .silence }
      let result: Result<PlayResult, DeviceFault>? = thread.run(patience: Self.playingPatience) {
        [waking] device, answer in
        guard let opened = device else {
          answer.give(.failure(DeviceFault(kind: .lost, action: "playing", message: "the device is closed")))
          return
        }
        do throws(DeviceFault) {
          var playing = DevicePlaying(
            device: opened, samples: samples, control: control, clock: clock, waking: waking,
            watch: answer.noteProgress, isAbandoned: { answer.isAbandoned })
          let result = try playing.run()
          answer.give(.success(result))
          if waking.isUsed {
            do throws(DeviceFault) { try playing.keepAwake(while: thread.rest) } catch { thread.noteBroken() }
          } else if result == .heard {
            playing.settle()
          }
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
        throw report(DeviceFault(kind: .lost, action: "playing", message: "the device does not answer"))
      }
    }

    /// Closes the device without waiting.
    private func abandon() {
      take()?.thread.end()
    }

    private func report(_ fault: DeviceFault) -> OutputError {
      let (code, remedy): (OutputError.Code, String) =
        switch fault.kind {
        case .lost, .suspended, .underrun:
          (.deviceLost, "connect the device or start its sound server, and play the sound again")
        case .busy: (.deviceBusy, "close the program that uses it, or choose a PCM that mixes sounds")
        case .missing: (.deviceMissing, "choose one of the PCMs that “aplay -L” lists")
        case .formatUnsupported: (.formatUnsupported, "choose a PCM that converts, such as “alsa:plughw:…”")
        case .failed: (.deviceFailed, "check that “aplay” can use it and that this user has permission")
        }
      return OutputError(code, name, "\(fault.action): \(fault.message)", remedy: remedy)
    }
  }
#endif

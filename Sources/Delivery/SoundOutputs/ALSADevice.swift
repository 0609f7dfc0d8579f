// SPDX-License-Identifier: Apache-2.0

#if canImport(CALSA)
  private import CALSA
  private import Glibc

  /// An open ALSA PCM.
  ///
  /// The PCM is opened without blocking: if another program uses the device, an error is reported at once.
  @safe  // The handle is private, is used by the one thread that has this object, and is closed once.
  final class ALSADevice: PlaybackDevice {
    private static let bufferMicroseconds: UInt32 = 200_000
    private static let periodMicroseconds: UInt32 = 25_000

    private let handle: OpaquePointer
    let format: DeviceFormat
    let canPause: Bool
    var isAwake = false

    /// A second, silent stream of a PulseAudio server; `nil` for other devices.
    ///
    /// Preparing the device ends its stream and makes another one. A sink without a stream, such as a null sink whose
    /// listener requests no latency, renders up to 2 s of silence ahead, and the next sound would have to wait until
    /// that silence ends. The second stream exists as long as the device is open, and requests the same latency as the
    /// first one.
    private let silentStream: OpaquePointer?

    /// Whether the device belongs to a PulseAudio server, which has room for more than one stream.
    var isShared: Bool { unsafe silentStream != nil }

    /// Whether the device was prepared and has received no frames since.
    private var isFresh = false

    /// Opens a PCM.
    ///
    /// - Parameters:
    ///   - name: the PCM's name in ALSA's configuration.
    ///   - rate: the requested rate in Hz; `format` contains the actual rate.
    ///   - mayPause: whether the device's own pause is used if it has one.
    init(name: String, rate: Int, mayPause: Bool) throws(DeviceFault) {
      crier_alsa_silence()
      var opened: OpaquePointer?
      try Self.check(
        unsafe snd_pcm_open(&opened, name, SND_PCM_STREAM_PLAYBACK, SND_PCM_NONBLOCK), "opening the device",
        opening: true)
      guard let handle = unsafe opened else {
        throw DeviceFault(kind: .failed, action: "opening the device", message: "no handle was returned")
      }
      unsafe self.handle = unsafe handle
      do {
        let (format, canPause) = unsafe try Self.setHardware(handle, rate: rate)
        self.format = format
        self.canPause = canPause && mayPause
        try unsafe Self.setSoftware(handle, format)
        unsafe silentStream = unsafe Self.isPulseAudio(handle) ? Self.openSilentStream(name, rate: rate) : nil
      } catch {
        unsafe snd_pcm_close(handle)
        throw error
      }
    }

    deinit {
      unsafe snd_pcm_close(handle)
      if let stream = unsafe silentStream { unsafe snd_pcm_close(stream) }
    }

    func prepare() throws(DeviceFault) {
      let isReady = unsafe snd_pcm_state(handle) == SND_PCM_STATE_PREPARED
      guard !(isReady && isFresh) else { return }
      try Self.check(unsafe snd_pcm_prepare(handle), "preparing the device")
      isFresh = true
    }

    func start() throws(DeviceFault) {
      guard unsafe snd_pcm_state(handle) == SND_PCM_STATE_PREPARED else { return }
      try Self.check(unsafe snd_pcm_start(handle), "starting the device")
    }

    func write(_ bytes: [UInt8]) throws(DeviceFault) -> Int {
      isFresh = false
      // unsafe: libasound reads the given number of frames, and the array has that many.
      let taken = unsafe bytes.withUnsafeBytes {
        unsafe snd_pcm_writei(handle, $0.baseAddress, snd_pcm_uframes_t($0.count / format.bytesPerFrame))
      }
      if taken == -Int(EAGAIN) || taken == -Int(EINTR) { return 0 }
      try Self.check(Int32(clamping: taken), "writing to the device")
      return taken
    }

    func unheardFrames() throws(DeviceFault) -> Int {
      // This call lets plugins read their descriptors, and fails if the device is gone.
      let ready = unsafe snd_pcm_wait(handle, 0)
      if ready != -EAGAIN && ready != -EINTR { try Self.check(ready, "waiting for the device") }
      var delay = snd_pcm_sframes_t(0)
      try Self.check(unsafe snd_pcm_delay(handle, &delay), "reading the position")
      let free = unsafe snd_pcm_avail_update(handle)
      try Self.check(Int32(clamping: free), "reading the free space in the buffer")
      // A sound server computes its delay from the elapsed time, even if the server has stopped. Frames that are still
      // in the buffer have certainly not been heard.
      return max(delay, format.bufferFrames - free)
    }

    func drop() {
      unsafe snd_pcm_drop(handle)  // If this fails, the device is gone, and the next call reports it.
    }

    func pause(_ pauses: Bool) throws(DeviceFault) {
      try Self.check(unsafe snd_pcm_pause(handle, pauses ? 1 : 0), pauses ? "pausing it" : "resuming it")
    }

    func resume() throws(DeviceFault) -> Bool {
      let status = unsafe snd_pcm_resume(handle)
      if status == -EAGAIN { return false }
      try Self.check(status, "waking the device")
      return true
    }
  }

  extension ALSADevice {
    private static func setHardware(
      _ handle: OpaquePointer, rate: Int
    ) throws(DeviceFault) -> (DeviceFormat, canPause: Bool) {
      var allocated: OpaquePointer?
      try check(unsafe snd_pcm_hw_params_malloc(&allocated), "allocating its settings")
      let settings = unsafe allocated
      defer { unsafe snd_pcm_hw_params_free(settings) }
      try settle(unsafe snd_pcm_hw_params_any(handle, settings), "reading its capabilities")
      try settle(
        unsafe snd_pcm_hw_params_set_access(handle, settings, SND_PCM_ACCESS_RW_INTERLEAVED),
        "setting interleaved frames")
      // ALSA's own conversion interpolates linearly. libsoxr converts better, so ALSA must not convert the rate.
      try settle(
        unsafe snd_pcm_hw_params_set_rate_resample(handle, settings, 0), "setting its own sample rate")

      let encoding = DeviceFormat.Encoding.allCases.first {
        unsafe snd_pcm_hw_params_set_format(handle, settings, $0.alsaFormat) == 0
      }
      guard let encoding else {
        throw DeviceFault(
          kind: .formatUnsupported, action: "setting a sample format",
          message: "the device accepts neither 16-bit, 32-bit nor float samples")
      }
      var channels: UInt32 = 1
      try settle(unsafe snd_pcm_hw_params_set_channels_near(handle, settings, &channels), "setting the channels")
      var trueRate = UInt32(clamping: rate)
      try settle(
        unsafe snd_pcm_hw_params_set_rate_near(handle, settings, &trueRate, nil), "setting the sample rate")
      // Devices with a fixed buffer size keep it.
      var (buffer, period) = (bufferMicroseconds, periodMicroseconds)
      _ = unsafe snd_pcm_hw_params_set_buffer_time_near(handle, settings, &buffer, nil)
      _ = unsafe snd_pcm_hw_params_set_period_time_near(handle, settings, &period, nil)
      try settle(unsafe snd_pcm_hw_params(handle, settings), "applying the settings")

      var (bufferFrames, periodFrames) = (snd_pcm_uframes_t(0), snd_pcm_uframes_t(0))
      try check(unsafe snd_pcm_hw_params_get_buffer_size(settings, &bufferFrames), "reading the buffer size")
      try check(unsafe snd_pcm_hw_params_get_period_size(settings, &periodFrames, nil), "reading the period size")
      let format = DeviceFormat(
        encoding: encoding, channels: Int(channels), rate: Int(trueRate), bufferFrames: Int(bufferFrames),
        periodFrames: max(1, Int(periodFrames)))
      return (format, unsafe snd_pcm_hw_params_can_pause(settings) == 1)
    }

    private static func setSoftware(_ handle: OpaquePointer, _ format: DeviceFormat) throws(DeviceFault) {
      var allocated: OpaquePointer?
      try check(unsafe snd_pcm_sw_params_malloc(&allocated), "allocating its settings")
      let settings = unsafe allocated
      defer { unsafe snd_pcm_sw_params_free(settings) }
      try check(unsafe snd_pcm_sw_params_current(handle, settings), "reading its settings")
      // The device starts when `start()` is called, or when its buffer is full. Sound servers wait for a full buffer
      // themselves.
      try check(
        unsafe snd_pcm_sw_params_set_start_threshold(handle, settings, snd_pcm_uframes_t(format.bufferFrames)),
        "setting the start threshold")
      try check(
        unsafe snd_pcm_sw_params_set_avail_min(handle, settings, snd_pcm_uframes_t(format.periodFrames)),
        "setting the wake-up threshold")
      try check(unsafe snd_pcm_sw_params(handle, settings), "applying the settings")
    }

    /// Whether a PCM belongs to libasound's plugin for PulseAudio, directly or behind a converting PCM. A client of
    /// PipeWire's server for PulseAudio's protocol uses the same plugin.
    private static func isPulseAudio(_ handle: OpaquePointer) -> Bool {
      var buffer: OpaquePointer?
      guard unsafe snd_output_buffer_open(&buffer) == 0, let buffer = unsafe buffer else { return false }
      defer { unsafe snd_output_close(buffer) }
      // libasound tells a plugin's name only in this description: "ALSA <-> PulseAudio PCM I/O Plugin".
      guard unsafe snd_pcm_dump(handle, buffer) == 0 else { return false }
      var text: UnsafeMutablePointer<CChar>?
      let count = unsafe snd_output_buffer_string(buffer, &text)
      guard let text = unsafe text else { return false }
      // unsafe: the text has this many bytes, and is not terminated.
      let bytes = unsafe UnsafeRawBufferPointer(start: text, count: count)
      return String(decoding: unsafe Array(bytes), as: UTF8.self).contains("<-> PulseAudio")
    }

    /// Opens a stream with the same latency as the device, and corks it, so that the server plays nothing from it and
    /// may suspend the sink.
    ///
    /// - Returns: `nil` if the server does not make a second stream. The device works without it.
    private static func openSilentStream(_ name: String, rate: Int) -> OpaquePointer? {
      var opened: OpaquePointer?
      guard unsafe snd_pcm_open(&opened, name, SND_PCM_STREAM_PLAYBACK, SND_PCM_NONBLOCK) == 0 else { return nil }
      guard let stream = unsafe opened else { return nil }
      // Setting the hardware parameters also prepares the PCM, which makes the stream. `snd_pcm_drop` corks the stream.
      guard unsafe (try? setHardware(stream, rate: rate)) != nil, unsafe snd_pcm_drop(stream) == 0 else {
        unsafe snd_pcm_close(stream)
        return nil
      }
      return unsafe stream
    }

    private static func check(_ status: Int32, _ action: String, opening: Bool = false) throws(DeviceFault) {
      guard status < 0 else { return }
      let message = unsafe String(cString: snd_strerror(status))  // A constant of the library.
      throw DeviceFault(kind: .init(errorNumber: -status, opening: opening), action: action, message: message)
    }

    /// Checks the status of a setting. A failure means that the device does not support the setting.
    private static func settle(_ status: Int32, _ action: String) throws(DeviceFault) {
      do {
        try check(status, action)
      } catch {
        var fault = error
        if status == -EINVAL { fault.kind = .formatUnsupported }
        throw fault
      }
    }
  }

  extension DeviceFormat.Encoding {
    fileprivate var alsaFormat: snd_pcm_format_t {
      #if _endian(little)
        switch self {
        case .signed16: SND_PCM_FORMAT_S16_LE
        case .signed32: SND_PCM_FORMAT_S32_LE
        case .float32: SND_PCM_FORMAT_FLOAT_LE
        }
      #else
        switch self {
        case .signed16: SND_PCM_FORMAT_S16_BE
        case .signed32: SND_PCM_FORMAT_S32_BE
        case .float32: SND_PCM_FORMAT_FLOAT_BE
        }
      #endif
    }
  }

  extension DeviceFault.Kind {
    /// Classifies an error.
    ///
    /// - Parameters:
    ///   - errorNumber: a positive `errno`.
    ///   - opening: whether the device was being opened. A device that does not exist then counts as missing, not as
    ///     lost.
    init(errorNumber: Int32, opening: Bool) {
      self =
        switch errorNumber {
        case EPIPE: .underrun
        case ESTRPIPE: .suspended
        case EBUSY: .busy
        case EAGAIN where opening: .busy
        case ENOENT where opening, ENODEV where opening, ENXIO where opening: .missing
        case ENODEV, ENXIO, ENOENT, EIO, EBADFD, ECONNREFUSED, ECONNRESET, ECONNABORTED, ENOTCONN, ETIMEDOUT,
          EHOSTUNREACH, ENOTTY:
          .lost
        default: .failed
        }
    }
  }
#endif

// SPDX-License-Identifier: Apache-2.0

#if canImport(CALSA)
  private import CALSA
  private import Glibc

  /// An open PCM of ALSA.
  ///
  /// Opened without blocking: another program's device is reported, not waited for.
  @safe  // the handle is private, used by the one thread that has this object, and closed once
  final class ALSADevice: PlaybackDevice {
    private static let bufferMicroseconds: UInt32 = 200_000
    private static let periodMicroseconds: UInt32 = 25_000

    private let handle: OpaquePointer
    let format: DeviceFormat
    let canPause: Bool

    /// Whether it was made ready and has been given nothing since.
    private var isFresh = false

    /// - Parameters:
    ///   - name: as in ALSA's configuration.
    ///   - rate: the rate wanted, in Hz; `format` names the one there is.
    ///   - mayPause: whether the device's own pause is used, where it has one.
    init(name: String, rate: Int, mayPause: Bool) throws(DeviceFault) {
      crier_alsa_silence()
      var opened: OpaquePointer?
      try Self.check(
        unsafe snd_pcm_open(&opened, name, SND_PCM_STREAM_PLAYBACK, SND_PCM_NONBLOCK), "opening it", opening: true)
      guard let handle = unsafe opened else {
        throw DeviceFault(kind: .failed, action: "opening it", message: "there is no handle")
      }
      unsafe self.handle = unsafe handle
      do {
        let (format, canPause) = unsafe try Self.setHardware(handle, rate: rate)
        self.format = format
        self.canPause = canPause && mayPause
        try unsafe Self.setSoftware(handle, format)
      } catch {
        unsafe snd_pcm_close(handle)
        throw error
      }
    }

    deinit {
      unsafe snd_pcm_close(handle)
    }

    func prepare() throws(DeviceFault) {
      let isReady = unsafe snd_pcm_state(handle) == SND_PCM_STATE_PREPARED
      guard !(isReady && isFresh) else { return }
      try Self.check(unsafe snd_pcm_prepare(handle), "preparing it")
      isFresh = true
    }

    func start() throws(DeviceFault) {
      guard unsafe snd_pcm_state(handle) == SND_PCM_STATE_PREPARED else { return }
      try Self.check(unsafe snd_pcm_start(handle), "starting it")
    }

    func write(_ bytes: [UInt8]) throws(DeviceFault) -> Int {
      isFresh = false
      // libasound reads as many frames as are named, and there are so many bytes.
      let taken = unsafe bytes.withUnsafeBytes {
        unsafe snd_pcm_writei(handle, $0.baseAddress, snd_pcm_uframes_t($0.count / format.bytesPerFrame))
      }
      if taken == -Int(EAGAIN) || taken == -Int(EINTR) { return 0 }
      try Self.check(Int32(clamping: taken), "writing to it")
      return taken
    }

    func unheardFrames() throws(DeviceFault) -> Int {
      // Lets plugins read what their descriptors hold; tells of devices that are gone.
      let ready = unsafe snd_pcm_wait(handle, 0)
      if ready != -EAGAIN && ready != -EINTR { try Self.check(ready, "waiting for it") }
      var delay = snd_pcm_sframes_t(0)
      try Self.check(unsafe snd_pcm_delay(handle, &delay), "asking how far it is")
      let free = unsafe snd_pcm_avail_update(handle)
      try Self.check(Int32(clamping: free), "asking how much it has taken")
      // The delay of a sound server is computed from the time and goes on when the server does not; what lies in the
      // buffer has certainly not been heard.
      return max(delay, format.bufferFrames - free)
    }

    func drop() {
      unsafe snd_pcm_drop(handle)  // a device that refuses is gone, and the next call says so
    }

    func pause(_ pauses: Bool) throws(DeviceFault) {
      try Self.check(unsafe snd_pcm_pause(handle, pauses ? 1 : 0), pauses ? "pausing it" : "resuming it")
    }

    func resume() throws(DeviceFault) -> Bool {
      let status = unsafe snd_pcm_resume(handle)
      if status == -EAGAIN { return false }
      try Self.check(status, "waking it")
      return true
    }
  }

  extension ALSADevice {
    private static func setHardware(
      _ handle: OpaquePointer, rate: Int
    ) throws(DeviceFault) -> (DeviceFormat, canPause: Bool) {
      var allocated: OpaquePointer?
      try check(unsafe snd_pcm_hw_params_malloc(&allocated), "making room for its settings")
      let settings = unsafe allocated
      defer { unsafe snd_pcm_hw_params_free(settings) }
      try settle(unsafe snd_pcm_hw_params_any(handle, settings), "asking what it can do")
      try settle(
        unsafe snd_pcm_hw_params_set_access(handle, settings, SND_PCM_ACCESS_RW_INTERLEAVED),
        "asking for interleaved frames")
      // ALSA's own conversion interpolates linearly; libsoxr's is better, so the true rate is wanted.
      try settle(
        unsafe snd_pcm_hw_params_set_rate_resample(handle, settings, 0), "asking for its own sample rate")

      let encoding = DeviceFormat.Encoding.allCases.first {
        unsafe snd_pcm_hw_params_set_format(handle, settings, $0.alsaFormat) == 0
      }
      guard let encoding else {
        throw DeviceFault(
          kind: .formatUnsupported, action: "asking for a format",
          message: "it takes no samples of 16 or 32 bits or floats")
      }
      var channels: UInt32 = 1
      try settle(unsafe snd_pcm_hw_params_set_channels_near(handle, settings, &channels), "asking for channels")
      var trueRate = UInt32(clamping: rate)
      try settle(
        unsafe snd_pcm_hw_params_set_rate_near(handle, settings, &trueRate, nil), "asking for a sample rate")
      // Devices with buffers of their own size keep it.
      var (buffer, period) = (bufferMicroseconds, periodMicroseconds)
      _ = unsafe snd_pcm_hw_params_set_buffer_time_near(handle, settings, &buffer, nil)
      _ = unsafe snd_pcm_hw_params_set_period_time_near(handle, settings, &period, nil)
      try settle(unsafe snd_pcm_hw_params(handle, settings), "setting it up")

      var (bufferFrames, periodFrames) = (snd_pcm_uframes_t(0), snd_pcm_uframes_t(0))
      try check(unsafe snd_pcm_hw_params_get_buffer_size(settings, &bufferFrames), "asking for its buffer's size")
      try check(unsafe snd_pcm_hw_params_get_period_size(settings, &periodFrames, nil), "asking for its period")
      let format = DeviceFormat(
        encoding: encoding, channels: Int(channels), rate: Int(trueRate), bufferFrames: Int(bufferFrames),
        periodFrames: max(1, Int(periodFrames)))
      return (format, unsafe snd_pcm_hw_params_can_pause(settings) == 1)
    }

    private static func setSoftware(_ handle: OpaquePointer, _ format: DeviceFormat) throws(DeviceFault) {
      var allocated: OpaquePointer?
      try check(unsafe snd_pcm_sw_params_malloc(&allocated), "making room for its settings")
      let settings = unsafe allocated
      defer { unsafe snd_pcm_sw_params_free(settings) }
      try check(unsafe snd_pcm_sw_params_current(handle, settings), "asking for its settings")
      // It is started by hand, or when its buffer is full; sound servers wait for as much themselves.
      try check(
        unsafe snd_pcm_sw_params_set_start_threshold(handle, settings, snd_pcm_uframes_t(format.bufferFrames)),
        "setting when it starts")
      try check(
        unsafe snd_pcm_sw_params_set_avail_min(handle, settings, snd_pcm_uframes_t(format.periodFrames)),
        "setting when it asks for more")
      try check(unsafe snd_pcm_sw_params(handle, settings), "setting it up")
    }

    private static func check(_ status: Int32, _ action: String, opening: Bool = false) throws(DeviceFault) {
      guard status < 0 else { return }
      let message = unsafe String(cString: snd_strerror(status))  // a constant of the library
      throw DeviceFault(kind: .init(errorNumber: -status, opening: opening), action: action, message: message)
    }

    /// For what a device cannot do rather than does not.
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
    /// - Parameters:
    ///   - errorNumber: positive.
    ///   - opening: a device that is not there was never there, rather than lost.
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

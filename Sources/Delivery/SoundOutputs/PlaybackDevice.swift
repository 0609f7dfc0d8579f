// SPDX-License-Identifier: Apache-2.0

/// A sound device with a ring buffer. It has the states and errors of an ALSA PCM. No call waits until sound has been
/// played, but any call may hang if a sound server hangs.
///
/// Use it on one thread only.
protocol PlaybackDevice: AnyObject {
  var format: DeviceFormat { get }

  /// Whether the device's sink is awake: it has played something, and has played without a break since then. False for
  /// a device that was just opened.
  var isAwake: Bool { get set }

  /// Whether ``pause(_:)`` is available, which keeps the buffer's contents.
  var canPause: Bool { get }

  /// Empties the buffer and prepares the device for the first frames. The call has no effect on a prepared, empty
  /// device.
  func prepare() throws(DeviceFault)

  /// Starts to play the buffer's contents, unless the device is already playing.
  func start() throws(DeviceFault)

  /// Writes frames into the buffer.
  ///
  /// - Parameter bytes: complete frames in the device's format.
  /// - Returns: the number of frames that the buffer had room for.
  func write(_ bytes: [UInt8]) throws(DeviceFault) -> Int

  /// Returns the number of frames that were written since ``prepare()`` but have not been heard.
  func unheardFrames() throws(DeviceFault) -> Int

  /// Silences the device at once and discards the buffer's contents.
  func drop()

  func pause(_ pauses: Bool) throws(DeviceFault)

  /// Resumes the device after the system was suspended.
  ///
  /// - Returns: false while the device is not awake yet.
  func resume() throws(DeviceFault) -> Bool
}

/// An error reported by a device.
struct DeviceFault: Error, Hashable {
  enum Kind: Hashable {
    /// The buffer became empty: all written frames have been heard.
    case underrun
    /// The system sleeps, or has slept.
    case suspended
    case lost
    case busy
    case missing
    case formatUnsupported
    /// Any other error.
    case failed
  }

  var kind: Kind

  /// The operation that failed.
  var action: String

  /// The device's message.
  var message: String
}

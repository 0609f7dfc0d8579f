// SPDX-License-Identifier: Apache-2.0

/// A sound device with a ring buffer, in the states and with the errors of an ALSA PCM. No call waits for the device's
/// time to pass, but any may hang when a sound server does.
///
/// Used on one thread only.
protocol PlaybackDevice: AnyObject {
  var format: DeviceFormat { get }

  /// Whether ``pause(_:)`` can be used, which keeps what is in the buffer.
  var canPause: Bool { get }

  /// Empties the buffer and makes ready for the first frames; does nothing when that is how it is.
  func prepare() throws(DeviceFault)

  /// Begins to play what is in the buffer, unless it plays already.
  func start() throws(DeviceFault)

  /// - Parameter bytes: whole frames in the device's format.
  /// - Returns: how many frames there was room for.
  func write(_ bytes: [UInt8]) throws(DeviceFault) -> Int

  /// How many of the frames written since ``prepare()`` have not been heard.
  func unheardFrames() throws(DeviceFault) -> Int

  /// Silence at once; what is in the buffer is gone.
  func drop()

  func pause(_ pauses: Bool) throws(DeviceFault)

  /// After the system was suspended.
  /// - Returns: false while the device is not awake yet.
  func resume() throws(DeviceFault) -> Bool
}

/// A device's refusal.
struct DeviceFault: Error, Hashable {
  enum Kind: Hashable {
    /// The buffer ran empty: all that was written has been heard.
    case underrun
    /// The system sleeps, or slept.
    case suspended
    case lost
    case busy
    case missing
    case formatUnsupported
    /// Anything else.
    case failed
  }

  var kind: Kind

  /// What was being done.
  var action: String

  /// What the device says to it.
  var message: String
}

// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The id and the key that the shop's backend got from Crier for this phone.
///
/// The key is a secret. Neither the description nor a mirror of the value shows it.
public struct DeviceCredentials: Sendable, Hashable, Codable {
  /// The id under which the phone is registered.
  public var device: String

  /// The phone's own key, which Crier gave to the backend once.
  public var key: String

  public init(device: String, key: String) {
    self.device = device
    self.key = key
  }

  /// Reads the answer of a backend: a JSON object with the strings `device` and `key`. Other members are ignored.
  ///
  /// - Throws: ``PhoneRegistrationError`` with the code `answerUnreadable` if the answer has another form, or if one of
  ///   the strings is empty.
  public init(answer: Data) throws(PhoneRegistrationError) {
    guard let read = try? JSONDecoder().decode(Self.self, from: answer), !read.device.isEmpty, !read.key.isEmpty else {
      throw PhoneRegistrationError(.answerUnreadable)
    }
    self = read
  }
}

extension DeviceCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "the key of the device \(device)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: ["device": device], displayStyle: .struct) }
}

// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// The values that a device needs to call the service: the service's URL, its own id, and its own key.
///
/// The key is a secret. Neither the description nor a mirror of the value shows it.
public struct DeviceAccess: Sendable, Hashable {
  /// The URL of the service, such as `https://crier.example`. It may have a path, and has neither a query nor a
  /// fragment.
  public var service: URL

  /// The id under which the device is registered.
  public var device: String

  /// The device's own key, which the service showed once when the device was registered.
  public var key: String

  public init(service: URL, device: String, key: String) {
    self.service = service
    self.device = device
    self.key = key
  }
}

extension DeviceAccess: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The device and the host of the service. The key is left out, and so is the URL, which may contain a password.
  public var description: String {
    "the device \(device) at \(service.host(percentEncoded: true) ?? "a service without a host")"
  }

  public var debugDescription: String { description }

  public var customMirror: Mirror {
    Mirror(self, children: ["device": device, "host": service.host(percentEncoded: true) ?? ""], displayStyle: .struct)
  }
}

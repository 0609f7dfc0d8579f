// SPDX-License-Identifier: Apache-2.0

import Foundation
import HostAddresses

extension ServiceConfiguration {
  /// Returns the reason why phones cannot fetch the clips that pushes name; nil if no reason is known.
  static func publicURLWarning(_ url: String?) -> String? {
    let remedy = "Set public_url to the address at which phones reach this service."
    guard let url, url.lowercased().hasPrefix("https://") else {
      return "apns is set, but public_url is not an https address: phones cannot fetch the clips that pushes name. "
        + remedy
    }
    let host = (URL(string: url)?.host() ?? "").trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    let address = IPAddress(anyNotation: host)
    let isOwn =
      host.lowercased() == "localhost" || address?.bytes.first == 127 && address?.bytes.count == 4
      || address == IPAddress(anyNotation: "::1")
    return isOwn
      ? "apns is set, but public_url names this machine as \(host), which leads a phone to itself. " + remedy : nil
  }
}

// SPDX-License-Identifier: Apache-2.0

import Logging

extension Logger {
  /// Logs that deliveries are set aside; see `InterruptedWork`.
  ///
  /// - Parameter kind: The field of the line that has the count.
  func logSetAside(_ count: Int, _ kind: String) {
    error(
      """
      The service ended twice in a row during the same deliveries. They are set aside, and the service \
      makes them later, one at a time. Find out what ended the service.
      """, metadata: ["\(kind)": "\(count)"])
  }
}

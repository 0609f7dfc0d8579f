// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// The state of one connection, which its handlers share. It is used on the connection's event loop only.
final class SharedConnectionState {
  var state: ConnectionState

  init(limit: TimeAmount) { state = ConnectionState(limit: limit) }
}

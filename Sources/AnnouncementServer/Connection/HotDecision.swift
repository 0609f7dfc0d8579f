// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1

/// What the fast path decides about a request when its head has arrived.
enum HotDecision {
  /// The response does not depend on a body.
  case answer(HotResponse)
  /// The response depends on the body, which has no more bytes than ``HotAnnouncements/largestBody``. The function
  /// returns nil if the request must take the usual path after all.
  case answerWithBody((ByteBuffer) -> HotResponse?)
}

/// A response whose content is in memory.
struct HotResponse: Sendable {
  var head: HTTPResponseHead
  var body: ByteBuffer
}

// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1

/// A response with a clip that is in memory.
struct HotResponse: Sendable {
  var head: HTTPResponseHead
  var body: ClipContent
}

// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import Logging
import NIOCore

/// The request context of the server library.
struct ServiceContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel

  init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
    // The library's own request id is a counter. Its logger is not used, only the id in it.
    logger[metadataKey: "hb.request.id"] = .string(RandomID.make())
  }
}

// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import NIOCore

/// The request context of the server library.
struct ServiceContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel

  init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    channel = source.channel
  }
}

// SPDX-License-Identifier: Apache-2.0

import HTTPTypes
import HummingbirdCore
import InstallationDiagnosis
import ServiceAccess

/// The route `GET /v1/shop`: one state for the whole shop.
struct ShopRoutes: Sendable {
  let watch: ShopWatch
  let commands: RemedyCommands

  var routes: [Route] {
    [
      .get("/v1/shop", .key(.read)) { call in
        let state = ShopState(of: await watch.look(), for: ShopState.Viewer(try call.sender))
        return try ServiceJSON.response(.ok, state.report(commands))
      }
    ]
  }
}

extension ShopState.Viewer {
  init(_ caller: Caller) { self.init(account: caller.account, isAdmin: caller.isAdmin) }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
public import PushMessages

extension ProviderTokenAge.Moment {
  /// Returns a function that reads the clocks of this machine. The elapsed time counts from this call.
  public static func clock() -> @Sendable () -> ProviderTokenAge.Moment {
    let start = ContinuousClock.now
    return { ProviderTokenAge.Moment(date: Date(), elapsed: ContinuousClock.now - start) }
  }
}

// SPDX-License-Identifier: Apache-2.0

public import Foundation

// Foundation on Linux has `CGRect`. On Apple's systems, the type of the property below is `CFDictionary`, which bridges
// to `NSDictionary`.

extension CGRect {
  public var dictionaryRepresentation: NSDictionary { fatalError() }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WeeklyTimes

/// Returns a moment, given in the form of RFC 3339.
func at(_ text: String) throws -> Date { try Date(text, strategy: .iso8601) }

func zone(_ name: String) throws -> TimeZone { try #require(TimeZone.named(name)) }

extension WeeklyTimes {
  init(_ text: String, _ name: String = "Europe/Berlin") throws {
    try self.init(text, zone: try #require(TimeZone.named(name)))
  }
}

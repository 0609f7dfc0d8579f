// SPDX-License-Identifier: Apache-2.0

import Hummingbird

/// The preferences of a request: the field `Prefer` of RFC 7240.
enum Preference {
  /// Returns the value of the preference `handling`, in lower case. If the preference is repeated, the first value
  /// counts.
  static func handling(in field: String?) -> String? {
    for preference in field?.split(separator: ",") ?? [] {
      // The parameters of a preference follow a semicolon. No parameters are defined for `handling`, so they are
      // ignored.
      let parts = preference.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map { part in
        part.drop { $0 == " " || $0 == "\t" }.lowercased()
      }
      guard parts.count == 2, parts[0].filter({ $0 != " " && $0 != "\t" }) == "handling" else { continue }
      return parts[1].filter { !" \t\"".contains($0) }
    }
    return nil
  }

  /// Marks a response to a strict request: the request would have been refused if it had contained unknown keys.
  static func applied(to response: Response, of call: Call) -> Response {
    guard Preference.handling(in: call.header(.prefer)) == "strict" else { return response }
    var response = response
    response.headers[.preferenceApplied] = "handling=strict"
    return response
  }
}

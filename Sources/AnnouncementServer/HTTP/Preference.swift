// SPDX-License-Identifier: Apache-2.0

import Hummingbird

/// What a request prefers: the field `Prefer` of RFC 7240.
enum Preference {
  /// The value of the preference `handling`, in lower case; the first counts, where it is told more than once.
  static func handling(in field: String?) -> String? {
    for preference in field?.split(separator: ",") ?? [] {
      // Parameters of a preference stand behind a semicolon; this one has none.
      let parts = preference.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map { part in
        part.drop { $0 == " " || $0 == "\t" }.lowercased()
      }
      guard parts.count == 2, parts[0].filter({ $0 != " " && $0 != "\t" }) == "handling" else { continue }
      return parts[1].filter { !" \t\"".contains($0) }
    }
    return nil
  }

  /// Says in an answer that unknown keys would have been refused.
  static func applied(to response: Response, of call: Call) -> Response {
    guard Preference.handling(in: call.header(.prefer)) == "strict" else { return response }
    var response = response
    response.headers[.preferenceApplied] = "handling=strict"
    return response
  }
}

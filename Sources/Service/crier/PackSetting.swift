// SPDX-License-Identifier: Apache-2.0

import VoicePacks

/// The service's setting `packs`, which says which pack speaks which locale.
enum PackSetting {
  /// Returns the choices in a text such as `en-US=my-shop zh-CN=wang`; `nil` if the text is not valid. A locale must
  /// not occur twice.
  static func choices(in text: String) -> ChosenPacks? {
    var choices = ChosenPacks()
    for entry in text.split(whereSeparator: { $0 == " " || $0 == "," }) {
      let parts = entry.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, isLocale(parts[0]), PackManifest.isID(parts[1]), choices[parts[0]] == nil else {
        return nil
      }
      choices[parts[0]] = parts[1]
    }
    return choices
  }

  private static func isLocale(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= 64
      && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
  }
}

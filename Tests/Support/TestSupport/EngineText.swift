// SPDX-License-Identifier: Apache-2.0

/// What the engine must not see in its text: it says digits and signs in ways of its own, and obeys markup.
public enum EngineText {
  /// The first rule that a text breaks; `nil` when the engine may have it.
  public static func fault(in text: String) -> String? {
    for scalar in text.unicodeScalars {
      if scalar.properties.numericType == .decimal { return "the engine sees no digit" }
      switch scalar.properties.generalCategory {
      case .control: return "the engine sees no control character"
      case .currencySymbol: return "the engine sees no currency sign"
      default: break
      }
      if "[]<>{}\\&@#%*_=|^~`\"".unicodeScalars.contains(scalar) { return "the engine sees no markup" }
    }
    return nil
  }
}

// SPDX-License-Identifier: Apache-2.0

/// The rules for the engine's text. The engine reads digits and signs in its own way, and obeys markup.
public enum EngineText {
  /// Returns the first rule that a text breaks; `nil` when the engine may receive it.
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

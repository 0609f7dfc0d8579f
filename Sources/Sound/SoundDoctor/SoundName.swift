// SPDX-License-Identifier: Apache-2.0

import Foundation
import SoundLibrary
import SoundHeaders

/// The checks of a sound file's name.
struct SoundName {
  private let name: String
  private let stem: String
  private let usual: String

  init(_ name: String, container: SoundContainer) {
    self.name = name
    stem = name.withoutExtension
    usual = stem + "." + container.fileExtensions[0]
  }

  /// A valid replacement for the name; nil if the name is valid for a clip, or if only its extension is wrong.
  var validReplacement: String? {
    guard !SoundLibrary.isClipName(usual) else { return nil }
    let scalars = usual.unicodeScalars.map { $0.properties.generalCategory == .control ? "_" : $0 }
    let visible = String(String.UnicodeScalarView(scalars.drop { $0 == "." }))
    let shortest =
      visible.utf8.count > 255 ? String(visible.prefix(40)) + "." + (usual as NSString).pathExtension : visible
    return SoundLibrary.isClipName(shortest) ? shortest : "tone." + (usual as NSString).pathExtension
  }

  /// The name with the usual extension, if it has a variant such as `.aif` or `.WAV`; nil otherwise.
  var usualReplacement: String? {
    let given = name.dropFirst(stem.count + 1)
    let isForm = SoundContainer.allCases.contains { $0.isDocumented && $0.fileExtensions.contains(given.lowercased()) }
    return isForm && !SoundLibrary.isClipName(name) ? usual : nil
  }

  /// The name with composed letters (Unicode normalization form C), if it has other bytes in that form; nil otherwise.
  var composedReplacement: String? {
    let composed = name.precomposedStringWithCanonicalMapping
    // Strings that are equal in Swift can have different bytes.
    return composed.utf8.elementsEqual(name.utf8) ? nil : composed
  }
}

// SPDX-License-Identifier: Apache-2.0

private import CALSA
private import Glibc

/// An output of this machine in a list from which a person chooses.
public struct ListedOutput: Sendable, Hashable {
  /// The output's name, as `OutputName` reads it.
  public var id: String
  /// The words with which the system describes the output; the id if it has none.
  public var name: String

  public init(id: String, name: String) { (self.id, self.name) = (id, name) }

  /// The outputs of this machine: first the default, and then the PCMs of ALSA's configuration in its order, as
  /// `aplay -L` lists them, without plugins. ALSA reads its configuration, so the call may block.
  public static var all: [ListedOutput] {
    var outputs = [ListedOutput(id: OutputName.systemDefault.description, name: "Default")]
    for hint in hints() {
      guard let id = Self.id(ofPCM: hint.name) else { continue }
      let words = hint.description.split(separator: "\n").joined(separator: ", ")
      let output = ListedOutput(id: id, name: words.isEmpty ? id : words)
      if id == outputs[0].id {
        outputs[0] = output
      } else if !outputs.contains(where: { $0.id == id }) {
        outputs.append(output)
      }
    }
    return outputs
  }

  /// The PCMs that `aplay -L` lists on Debian 12 although they are not outputs: `null`, which discards its sound, and
  /// plugins. Plugins convert rates and channels, or lead to another sound system, which is usually missing.
  private static let plugins: Set<String> = [
    "null", "lavrate", "samplerate", "speexrate", "speex", "upmix", "vdownmix", "jack", "oss", "usbstream",
  ]

  /// Returns the name of the output of a PCM; nil for a PCM that is not an output.
  static func id(ofPCM pcm: String) -> String? {
    if plugins.contains(String(pcm.prefix { $0 != ":" })) || pcm.isEmpty { return nil }
    return (try? OutputName("alsa:\(pcm)"))?.description
  }

  /// Returns the names and descriptions of the PCMs that play sound.
  private static func hints() -> [(name: String, description: String)] {
    crier_alsa_silence()
    var list: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
    // unsafe: libasound allocates the list, which is freed below.
    guard unsafe snd_device_name_hint(-1, "pcm", &list) == 0, let list = unsafe list else { return [] }
    defer { unsafe snd_device_name_free_hint(list) }
    var hints: [(name: String, description: String)] = []
    var place = unsafe list
    // unsafe: the list ends with a null pointer.
    while let hint = unsafe place.pointee {
      // A PCM without a direction can both play and record.
      if unsafe text(hint, "IOID") ?? "Output" == "Output", let name = unsafe text(hint, "NAME") {
        hints.append((name, unsafe text(hint, "DESC") ?? ""))
      }
      unsafe place += 1
    }
    return hints
  }

  private static func text(_ hint: UnsafeMutableRawPointer, _ key: String) -> String? {
    // unsafe: libasound returns a copy, which is freed here.
    guard let value = unsafe snd_device_name_get_hint(hint, key) else { return nil }
    defer { unsafe free(value) }
    return unsafe String(cString: value)
  }
}

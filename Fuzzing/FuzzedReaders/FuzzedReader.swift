// SPDX-License-Identifier: Apache-2.0

/// A parser of input from outside, with rules that hold for any input. The fuzzer and `make check` run the same
/// parsers.
public struct FuzzedReader: Sendable {
  /// The name of the reader, and of the folder in `Tests/Fixtures/fuzz` with its inputs.
  public let name: String

  /// The maximum size of an input, in bytes. Longer inputs reach no new code, and take time from other inputs.
  public let longest: Int

  /// Reads an input. Ends the program if a rule is violated; libFuzzer then keeps the input.
  public let read: @Sendable ([UInt8]) -> Void

  private init(_ name: String, longest: Int = 512, _ read: @escaping @Sendable ([UInt8]) -> Void) {
    self.name = name
    self.longest = longest
    self.read = read
  }

  /// All parsers of input from outside.
  public static let all = [
    FuzzedReader("payload", PayloadReading.check),
    FuzzedReader("list", ListReading.check),
    FuzzedReader("text", longest: 128, FreeTextReading.check),
    FuzzedReader("wav", WAVReading.check),
    FuzzedReader("sound", longest: 4_500, SoundReading.check),
    FuzzedReader("recording", longest: 4_500, SoundReading.checkRecording),
    FuzzedReader("manifest", ManifestReading.check),
    FuzzedReader("push-payload", PushReading.checkPayload),
    FuzzedReader("push-response", PushReading.checkResponse),
    FuzzedReader("signed-request", SignedRequestReading.check),
    FuzzedReader("provider", ProviderReading.check),
    FuzzedReader("provider-settings", longest: 1_500, ProviderSettingsReading.check),
    FuzzedReader("speaker-reply", SpeakerReplyReading.check),
  ]
}

/// Ends the program if a rule is violated.
func require(_ holds: Bool, _ rule: String) {
  if !holds { fatalError("Broken rule: \(rule)") }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Passes each input of libFuzzer to a reader. `scripts/fuzz` names the reader in `CRIER_FUZZ`.
///
/// libFuzzer requires the function's name, and a program that it runs has no `main` of its own.
@_cdecl("LLVMFuzzerTestOneInput")
public func runOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  // unsafe: libFuzzer lends `count` bytes until this function returns, and they are copied here.
  reader(unsafe Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}

/// The reader under test, which is selected once.
private let reader: @Sendable ([UInt8]) -> Void = {
  let name = ProcessInfo.processInfo.environment["CRIER_FUZZ"] ?? ""
  guard let reader = readers[name] else {
    fatalError("CRIER_FUZZ: unknown reader; use one of \(readers.keys.sorted().joined(separator: ", "))")
  }
  return reader
}()

/// All parsers of input from outside, by name. Each ends the program if a rule is violated.
private let readers: [String: @Sendable ([UInt8]) -> Void] = [
  "payload": PayloadReading.check,
  "list": ListReading.check,
  "text": FreeTextReading.check,
  "wav": WAVReading.check,
  "sound": SoundReading.check,
  "recording": SoundReading.checkRecording,
  "manifest": ManifestReading.check,
  "push-payload": PushReading.checkPayload,
  "push-response": PushReading.checkResponse,
  "signed-request": SignedRequestReading.check,
  "provider": ProviderReading.check,
  "provider-settings": ProviderSettingsReading.check,
  "speaker-reply": SpeakerReplyReading.check,
]

/// Ends the program if a rule is violated; libFuzzer then keeps the input.
func require(_ holds: Bool, _ rule: String) {
  if !holds { fatalError("Broken rule: \(rule)") }
}

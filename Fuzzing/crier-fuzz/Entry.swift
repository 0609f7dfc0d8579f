// SPDX-License-Identifier: Apache-2.0

import Foundation

/// What libFuzzer calls with each input. `scripts/fuzz` names the reader in `CRIER_FUZZ`.
///
/// The name is libFuzzer's; a program that it drives has no `main` of its own.
@_cdecl("LLVMFuzzerTestOneInput")
public func runOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  // unsafe: libFuzzer lends `count` bytes until this returns, and they are copied here.
  reader(unsafe Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}

/// The reader under attack, chosen once.
private let reader: @Sendable ([UInt8]) -> Void = {
  let name = ProcessInfo.processInfo.environment["CRIER_FUZZ"] ?? ""
  guard let reader = readers[name] else {
    fatalError("CRIER_FUZZ names no reader; it is one of \(readers.keys.sorted().joined(separator: ", "))")
  }
  return reader
}()

/// Everything that parses what strangers send, by name. Each ends the program where a rule is broken.
private let readers: [String: @Sendable ([UInt8]) -> Void] = [
  "payload": PayloadReading.check,
  "list": ListReading.check,
  "text": FreeTextReading.check,
  "wav": WAVReading.check,
  "manifest": ManifestReading.check,
  "signed-request": SignedRequestReading.check,
  "speaker-reply": SpeakerReplyReading.check,
]

/// Ends the program when a rule is broken; libFuzzer then keeps the input.
func require(_ holds: Bool, _ rule: String) {
  if !holds { fatalError("Broken rule: \(rule)") }
}

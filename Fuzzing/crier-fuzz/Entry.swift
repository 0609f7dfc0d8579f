// SPDX-License-Identifier: Apache-2.0

import Foundation
import FuzzedReaders

/// Passes each input of libFuzzer to a reader. `scripts/fuzz` names the reader in `CRIER_FUZZ`.
///
/// libFuzzer requires the function's name, and a program that it runs has no `main` of its own.
@_cdecl("LLVMFuzzerTestOneInput")
public func runOneInput(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
  // unsafe: libFuzzer lends `count` bytes until this function returns, and they are copied here.
  reader.read(unsafe Array(UnsafeBufferPointer(start: bytes, count: count)))
  return 0
}

/// The reader under test, which is selected once.
private let reader: FuzzedReader = {
  let name = ProcessInfo.processInfo.environment["CRIER_FUZZ"] ?? ""
  guard let reader = FuzzedReader.all.first(where: { $0.name == name }) else {
    let names = FuzzedReader.all.map(\.name).sorted().joined(separator: ", ")
    fatalError("CRIER_FUZZ: unknown reader; use one of \(names)")
  }
  return reader
}()

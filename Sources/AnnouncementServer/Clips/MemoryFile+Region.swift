// SPDX-License-Identifier: Apache-2.0

import FileSystem
import NIOCore

extension MemoryFile {
  /// Returns the whole file in the form in which a channel sends it without copying it, and a promise for the write.
  /// The file stays open until the channel has kept or broken the promise.
  func region(on eventLoop: any EventLoop) -> (region: FileRegion, written: EventLoopPromise<Void>) {
    // Each response has a handle of its own, because one handle serves only one thread at a time. A handle closes
    // nothing by itself, and must give its descriptor back before it is released.
    let handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
    let written = eventLoop.makePromise(of: Void.self)
    written.futureResult.whenComplete { [self] _ in
      _ = try? handle.takeDescriptorOwnership()
      withExtendedLifetime(self) {}
    }
    return (FileRegion(fileHandle: handle, readerIndex: 0, endIndex: byteCount), written)
  }
}

// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import NIOCore

/// A clip in a file in memory, which takes one of the places for such files until nobody uses it any more.
final class ClipFile: Sendable {
  private let file: MemoryFile
  private let places: Places

  /// The number of files in memory that may be open at the same time, so that they take no descriptor from a connection.
  final class Places: Sendable {
    private let free: Locked<Int>

    init(_ count: Int) { free = Locked(count) }

    fileprivate func take() -> Bool {
      free.withLock { free in
        guard free > 0 else { return false }
        free -= 1
        return true
      }
    }

    fileprivate func giveBack() { free.withLock { $0 += 1 } }
  }

  /// Copies bytes into a new file.
  ///
  /// - Returns: nil if no place is free, or if the system has no such files, descriptors or memory.
  init?(_ bytes: ByteBuffer, in places: Places) {
    guard places.take() else { return nil }
    guard let file = bytes.withUnsafeReadableBytes({ MemoryFile($0) }) else {
      places.giveBack()
      return nil
    }
    self.file = file
    self.places = places
  }

  deinit { places.giveBack() }

  var byteCount: Int { file.byteCount }

  /// Returns a part of the bytes. What lies outside the file is left out.
  func bytes(in range: Range<Int>) -> ByteBuffer { ByteBuffer(bytes: file.bytes(in: range)) }

  /// Returns the whole file in the form in which a channel sends it without copying it, and a promise for the write.
  /// The file stays open until the channel has kept or broken the promise.
  func region(on eventLoop: any EventLoop) -> (region: FileRegion, written: EventLoopPromise<Void>) {
    // Each response has a handle of its own, because one handle serves only one thread at a time. A handle closes
    // nothing by itself, and must give its descriptor back before it is released.
    let handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: file.descriptor)
    let written = eventLoop.makePromise(of: Void.self)
    written.futureResult.whenComplete { [self] _ in
      _ = try? handle.takeDescriptorOwnership()
      withExtendedLifetime(self) {}
    }
    return (FileRegion(fileHandle: handle, readerIndex: 0, endIndex: byteCount), written)
  }
}

// SPDX-License-Identifier: Apache-2.0

import NIOCore

/// The bytes of a clip's file.
enum ClipContent: Sendable {
  case buffer(ByteBuffer)
  case memoryFile(ClipFile)

  var byteCount: Int {
    switch self {
    case .buffer(let bytes): bytes.readableBytes
    case .memoryFile(let file): file.byteCount
    }
  }

  /// The memory that the content takes, in bytes. A buffer takes a power of two, and a file takes whole pages.
  var memoryBytes: Int {
    switch self {
    case .buffer(let bytes): bytes.storageCapacity
    case .memoryFile(let file): (file.byteCount + 4_095) & ~4_095
    }
  }

  /// All bytes.
  var bytes: ByteBuffer { bytes(in: 0..<byteCount) }

  /// Returns a part of the bytes. A part outside the content is left out.
  func bytes(in range: Range<Int>) -> ByteBuffer {
    switch self {
    case .buffer(let bytes):
      let range = range.clamped(to: 0..<byteCount)
      // The range is inside the readable bytes, so there is a slice.
      return bytes.getSlice(at: bytes.readerIndex + range.lowerBound, length: range.count) ?? ByteBuffer()
    case .memoryFile(let file): return file.bytes(in: range)
    }
  }

  /// Returns the same bytes in a file in memory; the same content if there is no place or memory for one.
  func inMemoryFile(_ places: ClipFile.Places) -> ClipContent {
    guard case .buffer(let bytes) = self else { return self }
    return ClipFile(bytes, in: places).map(ClipContent.memoryFile) ?? self
  }
}

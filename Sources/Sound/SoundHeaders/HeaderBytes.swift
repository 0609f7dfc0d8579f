// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// Reads numbers and names of a file at given positions. The result is `nil` for positions after the end.
package struct HeaderBytes: Sendable {
  private enum Storage: Sendable {
    case memory([UInt8])
    case file(FilePages)
  }

  private let storage: Storage

  package let count: Int

  package init(bytes: [UInt8]) {
    storage = .memory(bytes)
    count = bytes.count
  }

  /// Opens a file. Only the parts that are needed are read from the disk.
  ///
  /// - Throws: Foundation's error if the file cannot be opened.
  init(file: URL) throws {
    let pages = try FilePages(file)
    storage = .file(pages)
    count = pages.count
  }

  /// All bytes. For a file on the disk, this reads the whole file.
  package var bytes: [UInt8] {
    switch storage {
    case .memory(let bytes): bytes
    case .file(let pages): Array(pages.slice(count, at: 0) ?? [])
    }
  }

  func little(_ length: Int, at offset: Int) -> Int? { number(length, at: offset) { $0.reversed() } }

  func big(_ length: Int, at offset: Int) -> Int? { number(length, at: offset) { Array($0) } }

  /// Returns four bytes as text, or `nil` if they are not printable ASCII.
  func name(at offset: Int) -> String? {
    guard let raw = slice(4, at: offset), raw.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return nil }
    return String(decoding: raw, as: UTF8.self)
  }

  package func holds(_ text: String, at offset: Int) -> Bool {
    slice(text.utf8.count, at: offset).map { $0.elementsEqual(text.utf8) } ?? false
  }

  func slice(_ length: Int, at offset: Int) -> ArraySlice<UInt8>? {
    guard offset >= 0, length >= 0, offset <= count, length <= count - offset else { return nil }
    switch storage {
    case .memory(let bytes): return bytes[offset..<offset + length]
    case .file(let pages): return pages.slice(length, at: offset)
    }
  }

  private func number(_ length: Int, at offset: Int, _ order: (ArraySlice<UInt8>) -> [UInt8]) -> Int? {
    slice(length, at: offset).map { Int(truncatingIfNeeded: order($0).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }) }
  }
}

/// A file that is read in pages. The page that was read last stays in memory.
private final class FilePages: Sendable {
  private static let pageBytes = 4_096

  /// The size of the file in bytes when it was opened.
  let count: Int

  private struct State {
    var file: FileHandle
    var start = 0
    var page: [UInt8] = []
  }

  private let state: Locked<State>

  init(_ url: URL) throws {
    let file = try FileHandle(forReadingFrom: url)
    count = Int(clamping: try file.seekToEnd())
    state = Locked(State(file: file))
  }

  /// Returns bytes of the file; nil if the file is shorter than when it was opened.
  func slice(_ length: Int, at offset: Int) -> ArraySlice<UInt8>? {
    state.withLock { state in
      if offset < state.start || offset + length > state.start + state.page.count {
        do {
          try state.file.seek(toOffset: UInt64(offset))
          state.page = Array(try state.file.read(upToCount: max(length, Self.pageBytes)) ?? Data())
          state.start = offset
        } catch {
          return nil
        }
      }
      guard length <= state.page.count else { return nil }
      return state.page[offset - state.start..<offset - state.start + length]
    }
  }
}

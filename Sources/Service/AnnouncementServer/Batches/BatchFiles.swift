// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import FileSystem
import Foundation
import Ledger

/// The files of the batches. Each batch has a record, a list and a result in the same folder.
///
/// Tasks run on few threads, and requests run on the threads of their connections. A disk that is slow or hangs must
/// block neither, so every function here suspends its task while another thread waits for the disk.
struct BatchFiles: Sendable {
  private let folder: URL
  private let calls: FileSystemCalls
  /// The thread that writes records and lists, in the order of the calls. It never has more than about thirty writes to
  /// do: one for each batch that is being accepted or cancelled, and one for the running batch.
  private let disk = DispatchQueue(label: "crier.service.batches")

  init(folder: URL, calls: FileSystemCalls) {
    self.folder = folder
    self.calls = calls
  }

  private func list(_ id: String) -> URL { folder.appending(path: "\(id).list") }
  private func record(_ id: String) -> URL { folder.appending(path: "\(id).json") }
  private func result(_ id: String) -> URL { folder.appending(path: "\(id).result.jsonl") }

  private func onDisk<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await waitForAnswer { answer in disk.async { answer.give(work()) } }
  }

  // MARK: Records and lists

  /// Stores a new batch. When this function returns, its record and its list are on disk.
  ///
  /// - Throws: The operating system's error. Parts of the batch may be on disk then; the caller must remove them.
  func store(_ record: Batches.Record, list: Data) async throws {
    let id = record.status.id
    try await onDisk { [self] in
      Result {
        try DurableFolder.make(folder, .ownerOnly, calls: calls)
        try DurableFile.write(list, to: self.list(id), calls: calls)
        try write(record)
      }
    }.get()
  }

  /// Replaces the record of a batch. When this function returns, the record is on disk.
  ///
  /// - Throws: The operating system's error.
  func save(_ record: Batches.Record) async throws {
    try await onDisk { [self] in Result { try write(record) } }.get()
  }

  private func write(_ record: Batches.Record) throws {
    try DurableFile.write(try JSONEncoder().encode(record), to: self.record(record.status.id), calls: calls)
  }

  /// Removes all files of a batch, the record last. If the service is killed in between, its next run finds the record
  /// and removes the rest.
  func remove(_ id: String) async {
    await onDisk { [self] in
      for file in [list(id), result(id), record(id)] { try? FileManager.default.removeItem(at: file) }
    }
  }

  /// Returns the records that an earlier run of the service left. Removes files that the earlier run did not finish
  /// writing, and lists and results without a record.
  func records() async -> [Batches.Record] {
    await onDisk { [folder] in
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
      let known = Set(names.filter { $0.hasSuffix(".json") }.map { String($0.dropLast(".json".count)) })
      for name in names {
        let owner = [".list", ".result.jsonl"].first(where: name.hasSuffix).map { String(name.dropLast($0.count)) }
        guard name.hasSuffix(".new") || owner.map({ !known.contains($0) }) ?? false else { continue }
        try? FileManager.default.removeItem(at: folder.appending(path: name))
      }
      return names.filter { $0.hasSuffix(".json") }.compactMap { name in
        guard let data = try? Data(contentsOf: folder.appending(path: name)),
          let record = try? JSONDecoder().decode(Batches.Record.self, from: data), "\(record.status.id).json" == name
        else { return nil }
        return record
      }
    }
  }

  /// Returns the list of a batch; nil if there is none.
  ///
  /// - Throws: The operating system's error.
  func contentsOfList(_ id: String) async throws -> Data? {
    let file = list(id)
    return try await onWaitingThread { try DurableFile.contents(of: file) }
  }

  // MARK: Lists and results of running batches

  /// Opens the list of a batch for reading. Call this on a thread that may block.
  ///
  /// - Throws: The operating system's error.
  func openList(_ id: String) throws -> FileHandle { try FileHandle(forReadingFrom: list(id)) }

  /// Makes an empty result for a batch and opens it for writing. Call this on a thread that may block.
  ///
  /// - Throws: The operating system's error.
  func makeResult(_ id: String) throws -> FileHandle {
    try DurableFile.write(Data(), to: result(id), calls: calls)
    return try FileHandle(forWritingTo: result(id))
  }

  // MARK: Results of batches that have ended

  /// The reader of a result. The file is closed when the reader is deallocated.
  struct ResultReader: Sendable {
    fileprivate let handle: FileHandle

    /// Returns the next piece of the result; nil at its end.
    ///
    /// - Throws: The operating system's error.
    func next() async throws -> Data? {
      let piece = try await onWaitingThread { [handle] in try handle.read(upToCount: 1 << 16) }
      return piece?.isEmpty == false ? piece : nil
    }
  }

  /// Opens the result of a batch.
  ///
  /// - Returns: nil if there is no result, for example because the batch failed as a whole.
  func resultReader(_ id: String) async -> ResultReader? {
    let file = result(id)
    return await onWaitingThread { try? FileHandle(forReadingFrom: file) }.map(ResultReader.init)
  }

  private struct Row: Decodable {
    struct Clip: Decodable {
      var name: String
      var sha256: String?
      var bytes: Int?
    }
    var clip: Clip
  }

  /// Returns the names and the files of the clips in a batch's result. Both are empty if the batch has no result.
  ///
  /// - Parameter group: The app group of the clips.
  func clips(inResultOf id: String, group: String) async -> (names: Set<String>, files: [LibrarySound]) {
    let file = result(id)
    return await onWaitingThread {
      guard let lines = try? Data(contentsOf: file, options: .alwaysMapped).split(separator: UInt8(ascii: "\n")) else {
        return ([], [])
      }
      let clips = lines.compactMap { try? JSONDecoder().decode(Row.self, from: $0).clip }
        .filter { Clips.isName($0.name) }
      let files: [LibrarySound] = clips.compactMap { clip in
        guard let sha256 = clip.sha256, let bytes = clip.bytes else { return nil }
        return LibrarySound(name: clip.name, group: group, sha256: sha256, bytes: bytes)
      }
      return (Set(clips.map(\.name)), files)
    }
  }
}

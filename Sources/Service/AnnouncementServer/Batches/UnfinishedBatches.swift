// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
public import Foundation

/// The unfinished batches of a service that another process runs.
public enum UnfinishedBatches {
  private struct Record: Decodable {
    struct Status: Decodable {
      var id: String
      var state: Batches.Status.State
    }
    var status: Status
  }

  /// Reads the ids of the unfinished batches from the folder of the batches. Nothing in the folder is changed. A batch
  /// whose record cannot be read counts as unfinished.
  ///
  /// - Throws: The error of reading the folder, except if it does not exist.
  public static func ids(in folder: URL) async throws -> [String] {
    try await onWaitingThread {
      let names: [String]
      do {
        names = try FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))
      } catch CocoaError.fileReadNoSuchFile {
        return []
      }
      return names.filter { $0.hasSuffix(".json") }.compactMap { name in
        guard let data = try? Data(contentsOf: folder.appending(path: name)),
          let status = try? JSONDecoder().decode(Record.self, from: data).status
        else { return String(name.dropLast(".json".count)) }
        return status.state == .running ? status.id : nil
      }
    }
  }
}

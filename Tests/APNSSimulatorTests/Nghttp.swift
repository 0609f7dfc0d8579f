// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import ConcurrencySupport
import Foundation

/// The program nghttp of nghttp2, which shows the frames of a connection.
enum Nghttp {
  /// Sends an alert push and returns the log of the frames.
  static func log(_ simulator: APNSSimulator, headers: [(String, String)]) async throws -> String {
    let folder = FileManager.default.temporaryDirectory.appending(path: "nghttp-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let (body, log) = (folder.appending(path: "body"), folder.appending(path: "log"))
    try Data(Bench.alert.utf8).write(to: body)
    try Data().write(to: log)
    return try await onWaitingThread { () throws -> String in
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/nghttp")
      process.arguments =
        ["--verbose", "--null-out", "--timeout=60", "--data", body.path] + headers.flatMap { ["-H", "\($0): \($1)"] }
        + ["https://localhost:\(simulator.port)/3/device/\(Bench.device)"]
      process.standardOutput = try FileHandle(forWritingTo: log)
      process.standardError = FileHandle.nullDevice
      try process.run()
      process.waitUntilExit()
      return String(decoding: try Data(contentsOf: log), as: UTF8.self)
    }
  }
}

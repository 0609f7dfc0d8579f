// SPDX-License-Identifier: Apache-2.0

public import Announcements

/// The rows of a list, read as they are asked for.
public actor BatchSource {
  private var rows: BatchRows
  private var hasEnded = false
  private var first: BatchRow?
  private let read: @Sendable () async throws -> [UInt8]

  /// - Parameters:
  ///   - unknownKeys: as ``BatchRows`` takes it.
  ///   - read: the next piece of the list, empty at its end; called when the rows of the last one are used
  ///     up, and never twice at once.
  public init(
    format: BatchRows.Format? = nil, unknownKeys: PayloadDecoder.UnknownKeys = .warn,
    read: @escaping @Sendable () async throws -> [UInt8]
  ) {
    rows = BatchRows(format: format, unknownKeys: unknownKeys)
    self.read = read
  }

  /// See ``BatchRows/unknownColumns``. Reads as far as the first row, if it has not been asked for.
  ///
  /// - Throws: as ``next()``.
  public func unknownColumns() async throws -> [String] {
    first = try await next()
    return rows.unknownColumns
  }

  /// The next row, or `nil` at the end. To be asked again only when it has answered.
  ///
  /// - Throws: what `read` throws, and `AnnouncementError` for a fault of the whole list.
  public func next() async throws -> BatchRow? {
    if let first {
      self.first = nil
      return first
    }
    while true {
      if let row = try rows.next() { return row }
      guard !hasEnded else { return nil }
      let bytes = try await read()
      if bytes.isEmpty {
        hasEnded = true
        rows.end()
      } else {
        rows.append(bytes)
      }
    }
  }
}

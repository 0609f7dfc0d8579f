// SPDX-License-Identifier: Apache-2.0

public import Announcements

/// The rows of a list. They are read on demand.
public actor BatchSource {
  private var rows: BatchRows
  private var hasEnded = false
  private var first: BatchRow?
  private let read: @Sendable () async throws -> [UInt8]

  /// - Parameters:
  ///   - unknownKeys: How to treat unknown keys; see ``BatchRows``.
  ///   - read: Returns the next piece of the list, or an empty piece at its end. It is called when all rows of the
  ///     previous piece have been used, and is never called concurrently.
  public init(
    format: BatchRows.Format? = nil, unknownKeys: PayloadDecoder.UnknownKeys = .warn,
    read: @escaping @Sendable () async throws -> [UInt8]
  ) {
    rows = BatchRows(format: format, unknownKeys: unknownKeys)
    self.read = read
  }

  /// The names of the unknown columns; see ``BatchRows/unknownColumns``. If necessary, this reads the list up to its
  /// first row.
  ///
  /// - Throws: The errors of ``next()``.
  public func unknownColumns() async throws -> [String] {
    first = try await next()
    return rows.unknownColumns
  }

  /// Returns the next row, or `nil` at the end. Call it again only after the previous call has returned.
  ///
  /// - Throws: The errors of `read`, and `AnnouncementError` for an error of the whole list.
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

// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// A file that holds a password in its only line.
struct PasswordFile: Sendable, Hashable {
  let file: URL

  /// The largest size of the file, in bytes. libpq cuts longer passwords.
  static let mostBytes = 1_000

  init(_ file: URL) { self.file = file }

  /// Returns the password, without the end of its line. The call blocks on the disk.
  ///
  /// - Throws: ``PostgreSQLError`` with `passwordFileUnusable`.
  func read() throws(PostgreSQLError) -> String {
    BlockingWatchdog.check()
    // A pipe must not make the call wait for a writer, so it is opened without blocking.
    // Safe: the text lives as long as the call.
    let descriptor = unsafe open(file.path(percentEncoded: false), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw refused(errno == ENOENT ? "does not exist" : "cannot be opened") }
    defer { close(descriptor) }
    var status = stat()
    // Safe: the call fills the value that lives here. It examines the open file, and not another file that has got the
    // same name.
    guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw refused("is not a regular file")
    }
    guard status.st_mode & 0o077 == 0 else { throw refused("can be read or written by others") }
    guard status.st_uid == geteuid() || status.st_uid == 0 else { throw refused("belongs to another user") }
    // Safe: no more is written than the buffer holds, and only the bytes that were written are counted.
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: Self.mostBytes + 1) { buffer, count in
      count = unsafe max(0, Glibc.read(descriptor, buffer.baseAddress, Self.mostBytes + 1))
    }
    guard bytes.count <= Self.mostBytes else { throw refused("has more than \(Self.mostBytes) bytes") }
    guard var text = String(validating: bytes, as: UTF8.self) else { throw refused("is not a text in UTF-8") }
    // "\r\n" is one character.
    if text.last?.isNewline == true { text.removeLast() }
    guard !text.isEmpty, !text.contains(where: \.isNewline), !text.utf8.contains(0) else {
      throw refused("does not have exactly one line")
    }
    return text
  }

  private func refused(_ cause: String) -> PostgreSQLError {
    PostgreSQLError(.passwordFileUnusable, while: .readingPassword, subject: cause)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Glibc

/// One end of a Unix stream socket, with blocking reads and writes that stop at a deadline.
///
/// The type uses system calls directly, which suffice for a long-lived child process that answers binary messages
/// within a millisecond. `FileHandle` cannot read with a deadline, and swift-subprocess streams the output of a child
/// process in chunks through tasks.
struct Descriptor: Sendable {
  enum Failure: Error {
    /// The peer has closed its end.
    case closed
    case deadline
  }

  let number: CInt

  /// Returns two connected sockets. A child process inherits a socket only if the socket is passed explicitly.
  ///
  /// - Returns: `nil` when the process has no more file descriptors.
  static func pair() -> (Descriptor, Descriptor)? {
    var numbers: [CInt] = [-1, -1]
    let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    // unsafe: the call writes two numbers into an array of two.
    guard unsafe socketpair(AF_UNIX, type, 0, &numbers) == 0 else { return nil }
    return (Descriptor(number: numbers[0]), Descriptor(number: numbers[1]))
  }

  func close() { _ = Glibc.close(number) }

  func write(_ bytes: [UInt8], deadline: ContinuousClock.Instant) throws(Failure) {
    var written = 0
    while written < bytes.count {
      try wait(for: CShort(POLLOUT), deadline: deadline)
      // unsafe: the pointer is used only within the call, and the count ends at the end of the array.
      let count = unsafe bytes.withUnsafeBytes { buffer in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: buffer[written...])
        return unsafe send(number, rest.baseAddress, rest.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
      }
      if count < 0 {
        guard errno == EINTR || errno == EAGAIN else { throw .closed }
      } else {
        written += count
      }
    }
  }

  /// Reads bytes, or samples in the byte order of the peer, which is little-endian like this machine.
  func read<Element: FixedWidthInteger>(
    _ count: Int, deadline: ContinuousClock.Instant
  ) throws(Failure) -> [Element] {
    guard count > 0 else { return [] }
    do {
      // unsafe: the buffer has `count` elements, and the loop fills all of its bytes before it is returned.
      return try unsafe [Element](unsafeUninitializedCapacity: count) { buffer, initialized in
        let bytes = UnsafeMutableRawBufferPointer(buffer)
        var filled = 0
        while filled < bytes.count {
          try wait(for: CShort(POLLIN), deadline: deadline)
          let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[filled...])
          let received = unsafe recv(number, rest.baseAddress, rest.count, 0)
          if received < 0 {
            guard errno == EINTR || errno == EAGAIN else { throw Failure.closed }
          } else if received == 0 {
            throw Failure.closed
          }
          filled += max(received, 0)
        }
        initialized = count
      }
    } catch let failure as Failure {
      throw failure
    } catch {
      throw .closed
    }
  }

  private func wait(for events: CShort, deadline: ContinuousClock.Instant) throws(Failure) {
    var descriptor = pollfd(fd: number, events: events, revents: 0)
    while true {
      // Available bytes are read, even if this thread gets here only after the deadline.
      let left = max(0, ContinuousClock.now.duration(to: deadline) / .milliseconds(1))
      // unsafe: the call receives one descriptor and a count of one.
      let ready = unsafe poll(&descriptor, 1, CInt(min(left.rounded(.up), 60_000)))
      if ready > 0 { return }
      if ready < 0, errno != EINTR { throw .closed }
      if ready == 0, left == 0 { throw .deadline }
    }
  }
}

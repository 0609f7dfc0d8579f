// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation

/// Wakes a thread that waits for a socket. It is a pipe, because `poll` waits for files only.
final class WakeUp: Sendable {
  private let reading: Int32
  private let writing: Int32

  /// - Returns: Nil if the process has no more file descriptors.
  init?() {
    var ends: [Int32] = [-1, -1]
    // Safe: the call writes two numbers into the array.
    guard unsafe pipe(&ends) == 0 else { return nil }
    (reading, writing) = (ends[0], ends[1])
    for end in ends {
      // Programs that this process starts must not keep the pipe open.
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
  }

  deinit {
    close(reading)
    close(writing)
  }

  /// Wakes the thread. If it does not wait now, its next wait ends at once.
  func signal() {
    var byte: UInt8 = 1
    // Safe: one byte is read. If the pipe is full, the thread will wake anyway.
    _ = unsafe write(writing, &byte, 1)
  }

  /// The result of a wait.
  struct Events {
    /// The socket has something to read, or is closed.
    var canRead = false
    /// The socket takes more bytes.
    var canWrite = false
    /// ``WakeUp/signal()`` was called since the last wait.
    var isWoken = false
  }

  /// Waits until something happens to the socket, until the thread is woken, or until a given time. The call blocks.
  func wait(
    for socket: Int32?, reads: Bool = true, writes: Bool = false, until end: ContinuousClock.Instant?
  ) -> Events {
    BlockingWatchdog.check()
    let wanted = (reads ? Int16(POLLIN) : 0) | (writes ? Int16(POLLOUT) : 0)
    // A negative number stands for no file.
    var files = [
      pollfd(fd: reading, events: Int16(POLLIN), revents: 0),
      pollfd(fd: socket ?? -1, events: wanted, revents: 0),
    ]
    var milliseconds: Int32 = -1
    if let end {
      let left = ContinuousClock.now.duration(to: end) / .milliseconds(1)
      // Rounding up makes the wait less than a millisecond longer. A long wait is divided into several calls.
      milliseconds = Int32(max(0, min(left.rounded(.up), 60_000)))
    }
    // Safe: the array has two elements. After an interruption by a signal, the callers wait again.
    guard unsafe poll(&files, 2, milliseconds) > 0 else { return Events() }
    let isWoken = files[0].revents != 0
    if isWoken { drain() }
    let happened = Int32(files[1].revents)
    return Events(
      canRead: happened & (POLLIN | POLLHUP | POLLERR | POLLNVAL) != 0, canWrite: happened & POLLOUT != 0,
      isWoken: isWoken)
  }

  private func drain() {
    var bytes = [UInt8](repeating: 0, count: 64)
    // Safe: no more is written than the array holds.
    while unsafe read(reading, &bytes, bytes.count) == bytes.count {}
  }
}

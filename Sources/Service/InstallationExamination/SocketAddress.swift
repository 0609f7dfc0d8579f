// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// An address and a port of TCP.
struct SocketAddress {
  let family: Int32
  private let bytes: [UInt8]

  /// Returns the first address of a host; nil if it has none.
  init?(host: String, port: Int) {
    // unsafe: the structure has pointers, which stay nil.
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
    var found: UnsafeMutablePointer<addrinfo>?
    // unsafe: the texts live as long as the call. The result is copied, and then freed once.
    guard unsafe getaddrinfo(host, "\(port)", &hints, &found) == 0, let first = unsafe found else { return nil }
    defer { unsafe freeaddrinfo(first) }
    family = unsafe first.pointee.ai_family
    let size = Int(unsafe first.pointee.ai_addrlen)
    guard let address = unsafe first.pointee.ai_addr else { return nil }
    bytes = unsafe [UInt8](UnsafeRawBufferPointer(start: address, count: size))
  }

  private init(family: Int32, bytes: [UInt8]) { (self.family, self.bytes) = (family, bytes) }

  /// The address at which a program that listens on this one can be reached: for the address of all interfaces, it is
  /// the loopback address.
  var reachable: SocketAddress {
    // sockaddr_in: family, port, and 4 bytes of address. sockaddr_in6: family, port, flow, and 16 bytes of address.
    let range = family == AF_INET ? 4..<8 : 8..<24
    guard bytes.count >= range.upperBound, bytes[range].allSatisfy({ $0 == 0 }) else { return self }
    var loopback = bytes
    if family == AF_INET { loopback[4] = 127 }
    loopback[range.upperBound - 1] = 1
    return SocketAddress(family: family, bytes: loopback)
  }

  /// Calls a function with the address as the system's calls need it.
  fileprivate func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    // unsafe: the storage is aligned for any address, is large enough, and lives as long as the call.
    var storage = sockaddr_storage()
    unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.copyBytes(from: bytes) }
    return unsafe withUnsafePointer(to: &storage) { place in
      unsafe place.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, socklen_t(bytes.count)) }
    }
  }

  /// Binds a socket to the address as the service would, and closes it without listening. Meanwhile, the service can
  /// still bind its own socket, because both allow the address to be reused.
  ///
  /// - Returns: 0, or an `errno`.
  func tryBinding() -> Int32 {
    let descriptor = Self.socket(family)
    guard descriptor >= 0 else { return errno }
    defer { _ = close(descriptor) }
    var yes: Int32 = 1
    // unsafe: the value is a local variable of this size.
    unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    return unsafe withAddress { unsafe bind(descriptor, $0, $1) } == 0 ? 0 : errno
  }

  fileprivate static func socket(_ family: Int32) -> Int32 {
    Glibc.socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
  }
}

/// A connection whose calls have a time limit.
struct Connection: ~Copyable {
  private let descriptor: Int32

  /// - Parameter patience: The longest time of each call, in seconds.
  init?(to address: SocketAddress, patience: Int) {
    descriptor = SocketAddress.socket(address.family)
    guard descriptor >= 0 else { return nil }
    var limit = timeval(tv_sec: patience, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      // unsafe: the value is a local variable of this size. On Linux, the time limit for sending also applies to
      // connecting.
      unsafe setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
    }
    let descriptor = descriptor
    guard unsafe address.withAddress({ unsafe connect(descriptor, $0, $1) }) == 0 else { return nil }
  }

  deinit { _ = close(descriptor) }

  func write(_ text: String) {
    let bytes = Array(text.utf8)
    let flags = Int32(MSG_NOSIGNAL)
    // unsafe: no more is read than the array holds. A request that cannot be sent gets no answer.
    _ = unsafe bytes.withUnsafeBytes { unsafe send(descriptor, $0.baseAddress, $0.count, flags) }
  }

  /// Returns the next bytes; empty at the end, after an error, or when the time limit has passed.
  func receive() -> [UInt8] {
    // unsafe: no more is written than the buffer holds, and only the bytes that were written are counted.
    unsafe [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
      count = unsafe max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Glibc

/// The sound servers and the sound cards of this machine.
enum SoundServers {
  /// The number of sound cards that the kernel has.
  static var cards: Int {
    let text = (try? String(contentsOfFile: "/proc/asound/cards", encoding: .utf8)) ?? ""
    return cards(in: text)
  }

  /// Returns the number of cards in the text of `/proc/asound/cards`, which has two lines for each: the first begins
  /// with the card's number.
  static func cards(in text: String) -> Int {
    text.split(separator: "\n").count { line in
      let words = line.split(separator: " ", maxSplits: 1)
      return words.count == 2 && Int(words[0]) != nil && words[1].hasPrefix("[")
    }
  }

  /// Returns the names of the sound servers that accept a connection of this user.
  ///
  /// PipeWire usually answers on PulseAudio's socket too. The socket then belongs to a process of PipeWire, or to
  /// systemd, which starts PipeWire.
  static func answering(environment: [String: String]) -> [String] {
    let runtime = environment["XDG_RUNTIME_DIR"] ?? "/run/user/\(geteuid())"
    let pipeWire = connect("\(environment["PIPEWIRE_RUNTIME_DIR"] ?? runtime)/pipewire-0") != nil
    var names = pipeWire ? ["PipeWire"] : []
    if let owner = pulseSocketOwner(environment: environment) {
      let isPipeWire = owner.hasPrefix("pipewire") || (pipeWire && owner != "pulseaudio")
      let name = isPipeWire ? "PipeWire" : "PulseAudio"
      if !names.contains(name) { names.append(name) }
    }
    return names
  }

  /// Returns the name of the program that answers on PulseAudio's socket, or an empty text if it is not known; nil if
  /// nothing answers there.
  static func pulseSocketOwner(environment: [String: String]) -> String? {
    let runtime = environment["XDG_RUNTIME_DIR"] ?? "/run/user/\(geteuid())"
    let sockets = [
      environment["PULSE_SERVER"].flatMap { $0.hasPrefix("unix:") ? String($0.dropFirst(5)) : nil },
      environment["PULSE_RUNTIME_PATH"].map { "\($0)/native" }, "\(runtime)/pulse/native", "/run/pulse/native",
    ]
    return sockets.lazy.compactMap { $0.flatMap(connect) }.first
  }

  /// Connects to a socket and closes the connection.
  ///
  /// - Returns: The name of the program that listens, or an empty text if it is not known; nil if nothing answers.
  private static func connect(_ path: String) -> String? {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < 108 else { return nil }
    // unsafe: the path is shorter than the field, which was zero.
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { field in
      unsafe field.copyBytes(from: bytes)
    }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return nil }
    defer { _ = close(descriptor) }
    // unsafe: the address is a local variable of this size.
    let status = unsafe withUnsafePointer(to: &address) { place in
      unsafe place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard status == 0 else { return nil }
    // The structure `ucred` of unix(7): the process, the user and the group.
    var peer: [Int32] = [0, 0, 0]
    var size = socklen_t(12)
    // unsafe: the system fills in the 12 bytes of the array.
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 else { return "" }
    let name = (try? String(contentsOfFile: "/proc/\(peer[0])/comm", encoding: .utf8)) ?? ""
    return String(name.prefix { $0 != "\n" })
  }
}

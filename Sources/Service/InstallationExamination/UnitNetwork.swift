// SPDX-License-Identifier: Apache-2.0

import Foundation
import HostAddresses

/// The addresses to which a unit of systemd lets its processes connect: its settings `IPAddressDeny=` and
/// `IPAddressAllow=` (systemd.resource-control(5)).
///
/// It is a value that is made from the texts of a unit's files. It ignores the settings of the slices above a unit.
struct UnitNetwork: Sendable, Hashable {
  private(set) var denied: [IPNetwork] = []
  private(set) var allowed: [IPNetwork] = []
  /// The value of `CRIER_HOME` in the unit's environment; nil if it has none.
  private(set) var home: String?

  /// - Parameters:
  ///   - texts: The text of the unit's file, and of its drop-ins, in the order in which systemd reads them.
  ///   - instance: The part of the unit's name between `@` and `.service`; empty if there is none.
  init(texts: [String], instance: String = "") {
    for text in texts { read(text, instance) }
  }

  private mutating func read(_ text: String, _ instance: String) {
    var section = ""
    for line in Self.lines(of: text) {
      if line.hasPrefix("["), line.hasSuffix("]") {
        section = String(line)
        continue
      }
      guard section == "[Service]", let equals = line.firstIndex(of: "=") else { continue }
      let value = line[line.index(after: equals)...].trimmingCharacters(in: spaces).replacing("%i", with: instance)
      switch line[..<equals].trimmingCharacters(in: spaces) {
      case "IPAddressDeny": Self.add(value, to: &denied)
      case "IPAddressAllow": Self.add(value, to: &allowed)
      case "Environment":
        for word in value.split(separator: " ") {
          let word = word.replacing("\"", with: "").replacing("'", with: "")
          if word.hasPrefix("CRIER_HOME=") { home = String(word.dropFirst("CRIER_HOME=".count)) }
        }
      default: break
      }
    }
  }

  /// Returns the lines of a unit's file without comments. A line that ends with a backslash goes on in the next one.
  private static func lines(of text: String) -> [String] {
    var lines: [String] = []
    var continued: String?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let line = line.trimmingCharacters(in: spaces)
      if line.hasPrefix("#") || line.hasPrefix(";") { continue }
      let whole = (continued.map { $0 + " " } ?? "") + line
      if whole.hasSuffix("\\") {
        continued = String(whole.dropLast())
      } else {
        continued = nil
        lines.append(whole)
      }
    }
    return lines + (continued.map { [$0] } ?? [])
  }

  /// Adds the networks of a setting's value. An empty value removes the earlier networks.
  private static func add(_ value: String, to list: inout [IPNetwork]) {
    if value.isEmpty {
      list = []
      return
    }
    for word in value.split(separator: " ") {
      let texts =
        switch word {
        case "any": ["0.0.0.0/0", "::/0"]
        case "localhost": ["127.0.0.0/8", "::1/128"]
        case "link-local": ["169.254.0.0/16", "fe80::/64"]
        case "multicast": ["224.0.0.0/4", "ff00::/8"]
        default: [String(word)]
        }
      // systemd ignores texts that are not networks, with a warning.
      list += texts.compactMap { try? IPNetwork($0, masksAddress: true) }
    }
  }

  /// Whether the unit lets its processes connect to an address. Allowed addresses take precedence over denied ones.
  func allows(_ address: IPAddress) -> Bool {
    allowed.contains { $0.contains(address) } || !denied.contains { $0.contains(address) }
  }

  /// Whether every IPv4 address is denied, and no network of the public internet is allowed.
  var isClosed: Bool {
    denied.contains { $0.prefixLength == 0 && $0.address.bytes.count == 4 } && !allowed.contains(where: Self.isPublic)
  }

  private static func isPublic(_ network: IPNetwork) -> Bool {
    // A network with a prefix of less than 4 bits contains public addresses, even if its first address is private.
    network.prefixLength < 4 || !network.address.isPrivate
  }

  /// Returns the name of the system's unit in which a process runs.
  ///
  /// - Parameter cgroups: The text of `/proc/self/cgroup`.
  /// - Returns: Nil outside of a service of the system, for example in a session of a user.
  static func unit(inCgroups cgroups: String) -> String? {
    // Each line is `number:controllers:path`. The path ends with the unit, such as /system.slice/crier.service, or goes
    // on with groups that the service itself has made.
    for line in cgroups.split(separator: "\n") {
      let path = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).last ?? ""
      let parts = path.split(separator: "/")
      guard !parts.contains(where: { $0.hasPrefix("user@") }) else { return nil }
      if let unit = parts.first(where: { $0.hasSuffix(".service") }) { return String(unit) }
    }
    return nil
  }
}

private let spaces = CharacterSet(charactersIn: " \t\r")

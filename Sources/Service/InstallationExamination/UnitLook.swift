// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import HostAddresses
public import InstallationDiagnosis

/// A look at the unit of systemd that runs the service. It reads the unit's files, which everybody may read, and runs
/// no program.
public enum UnitLook {
  /// The folders of units. Earlier folders take precedence over later ones (systemd.unit(5)).
  private static let folders = [
    "etc/systemd/system.control", "run/systemd/system.control", "etc/systemd/system", "run/systemd/system",
    "usr/local/lib/systemd/system", "usr/lib/systemd/system", "lib/systemd/system",
  ]

  /// Returns the facts of the unit that runs the service of a home: `crier.service`, or `crier@SHOP.service` for the
  /// home `crier-SHOP`.
  ///
  /// - Parameters:
  ///   - hosts: The hosts of the push servers that this process can reach outside of the unit.
  ///   - ledgerHosts: The hosts of the ledger's server; empty if it is reached without a network.
  ///   - dropIn: The path of the drop-in that opens the network.
  ///   - root: The folder in which `etc` and `usr` are.
  /// - Returns: Nil if there is no such unit, or if it has another home.
  public static func look(
    home: URL, hosts: [String], ledgerHosts: [String] = [], dropIn: URL, root: URL = URL(filePath: "/"),
    resolver: any HostResolving = SystemHostResolver()
  ) async -> UnitFacts? {
    let folder = home.resolvingSymlinksInPath().standardizedFileURL
    let shop = folder.lastPathComponent.hasPrefix("crier-") ? folder.lastPathComponent.dropFirst("crier-".count) : ""
    let names = ["crier.service"] + (shop.isEmpty ? [] : ["crier@\(shop).service"])
    for name in names {
      guard let network = network(of: name, in: root), let its = network.home,
        URL(filePath: its).resolvingSymlinksInPath().standardizedFileURL.path == folder.path
      else { continue }
      func isBlocked(_ host: String) async -> Bool {
        let addresses = await resolver.addresses(of: host)
        return !addresses.isEmpty && !addresses.contains(where: network.allows)
      }
      var blockedLedgerHosts: [String] = []
      for host in ledgerHosts where await isBlocked(host) { blockedLedgerHosts.append(host) }
      var blocked: [String] = []
      // A closed unit blocks all servers, so that is reported once and not for each server.
      if !network.isClosed, !hosts.isEmpty {
        for host in hosts where await isBlocked(host) { blocked.append(host) }
        let servers = nameServers(in: text(of: root.appending(path: "etc/resolv.conf")) ?? "")
        if !servers.isEmpty, !servers.contains(where: network.allows) {
          blocked.append("the name server \(servers[0])")
        }
      }
      return UnitFacts(
        name: name, isClosed: network.isClosed, blockedServers: blocked, blockedLedgerHosts: blockedLedgerHosts,
        dropIn: dropIn.path(percentEncoded: false))
    }
    return nil
  }

  /// Returns the facts of the unit in which this process runs.
  ///
  /// - Parameters:
  ///   - environment: The environment of this process, in which systemd puts a variable of its own.
  ///   - dropIn: The path of the drop-in that opens the network.
  ///   - root: The folder in which `etc`, `proc` and `usr` are.
  /// - Returns: Nil outside of a service of systemd, and if the unit's file cannot be read.
  public static func ownUnit(
    environment: [String: String], dropIn: URL, root: URL = URL(filePath: "/")
  ) -> UnitFacts? {
    guard environment["INVOCATION_ID"] != nil, let cgroups = text(of: root.appending(path: "proc/self/cgroup")),
      let name = UnitNetwork.unit(inCgroups: cgroups), let network = network(of: name, in: root)
    else { return nil }
    return UnitFacts(name: name, isClosed: network.isClosed, dropIn: dropIn.path(percentEncoded: false))
  }

  /// Returns the network rules of a unit's file and its drop-ins; nil if there is no such file.
  static func network(of name: String, in root: URL) -> UnitNetwork? {
    // The name of the template is the unit's name without the part between @ and the dot.
    let parts = name.split(separator: "@", maxSplits: 1)
    let instance = parts.count == 2 ? String(parts[1].prefix { $0 != "." }) : ""
    let template = parts.count == 2 ? "\(parts[0])@.service" : nil
    let names = [name] + (template.map { [$0] } ?? [])
    let folders = folders.map { root.appending(path: $0, directoryHint: .isDirectory) }
    let files = names.lazy.flatMap { name in folders.map { $0.appending(path: name) } }
    guard let main = files.compactMap({ text(of: $0) }).first else { return nil }
    var dropIns: [String: URL] = [:]
    for name in names + ["service"] {
      for folder in folders {
        let folder = folder.appending(path: "\(name).d", directoryHint: .isDirectory)
        let found = (try? FileManager.default.contentsOfDirectory(atPath: folder.path(percentEncoded: false))) ?? []
        for file in found where file.hasSuffix(".conf") && dropIns[file] == nil {
          dropIns[file] = folder.appending(path: file)
        }
      }
    }
    let texts = dropIns.sorted { $0.key < $1.key }.compactMap { text(of: $0.value) }
    return UnitNetwork(texts: [main] + texts, instance: instance)
  }

  /// Returns the name servers of a `resolv.conf(5)`.
  static func nameServers(in text: String) -> [IPAddress] {
    text.split(separator: "\n").compactMap { line in
      let words = line.split { $0 == " " || $0 == "\t" }
      guard words.count >= 2, words[0] == "nameserver" else { return nil }
      return IPAddress(words[1].prefix { $0 != "%" })
    }
  }

  private static func text(of file: URL) -> String? { try? String(contentsOf: file, encoding: .utf8) }
}

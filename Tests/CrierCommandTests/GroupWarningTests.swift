// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("Warnings about app groups")
struct GroupWarningTests {
  private static let rest =
    "does not begin with \"group.\", as every app group on iOS does; a phone has no such group.\n"

  @Test(
    "a --group that cannot be an app group on iOS gets a warning, and the command continues",
    arguments: [
      ["render", "--text", "Hello", "--locale", "en-US"], ["batch", "-"], ["sounds", "list"],
      ["sounds", "which", "default"], ["sounds", "prune", "--engine", "none"], ["keys", "create"],
    ])
  func options(arguments: [String]) throws {
    let crier = try Command()
    defer { crier.remove() }
    let warned = try crier.run(arguments + ["--group", "till"], input: "text\nHello\n")
    #expect(warned.status == 0, "\(warned.message)")
    #expect(warned.message.hasPrefix("crier: --group: till \(Self.rest)"), "\(warned.message)")
    #expect(warned.message.components(separatedBy: Self.rest).count == 2)
    let quiet = try crier.run(arguments + ["--group", "group.till"], input: "text\nHello\n")
    #expect(quiet.status == 0 && !quiet.message.contains("does not begin with"))
  }

  @Test("crier sounds which warns of each --group that cannot be an app group on iOS")
  func several() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier(
      "sounds", "which", "default", "--group", "till", "--group", "group.shop", "--group", "shop")
    #expect(result.status == 0)
    #expect(result.message == "crier: --group: till \(Self.rest)crier: --group: shop \(Self.rest)")
  }

  @Test("a warning about the setting 'group' or 'groups' of the service says where the setting comes from")
  func settings() throws {
    let crier = try Command()
    defer { crier.remove() }
    try FileManager.default.createDirectory(at: crier.home, withIntermediateDirectories: true)
    try Data("port: 8099\ngroup: till\n".utf8).write(to: crier.home.appending(path: "crier.yaml"))
    let result = try crier("serve", "--print-config", environment: ["CRIER_GROUPS": "group.a shop"])
    #expect(result.status == 0 && result.output.contains("group: till"))
    #expect(
      result.message
        == "crier: group (crier.yaml, line 2): till \(Self.rest)crier: groups (environment): shop \(Self.rest)")
    #expect(try crier("serve", "--print-config", environment: ["CRIER_GROUP": "group.a"]).message.isEmpty)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Testing

@Suite("Differences between nodes")
struct NodeDifferenceTests {
  private func node(
    _ host: String, _ fingerprints: [Ledger.SharedThing: String], version: String = "1.0", silence: TimeInterval = 1,
    home: String? = nil, startedAt: TimeInterval = 0
  ) -> Ledger.Node {
    Ledger.Node(
      id: "\(home ?? host).01", description: .init(host: host, version: version),
      startedAt: Date(timeIntervalSince1970: startedAt), silence: silence, deliveries: [], lanes: [],
      fingerprints: fingerprints.merging([.signingSecret: "s"]) { given, _ in given })
  }

  private func hosts(_ nodes: [Ledger.Node]) -> [String] { nodes.map(\.description.host) }

  @Test("nodes with the same things do not differ, and neither does a single node")
  func same() {
    let things: [Ledger.SharedThing: String] = [.lexicon: "a", .setting("locale"): "b"]
    #expect(Ledger.NodeDifference.all(among: [node("a", things), node("b", things)]).isEmpty)
    #expect(Ledger.NodeDifference.all(among: [node("a", things)]).isEmpty)
    #expect(Ledger.NodeDifference.all(among: []).isEmpty)
  }

  @Test("a node that has something other than most nodes deviates")
  func majority() throws {
    let nodes = [node("c", [.lexicon: "x"]), node("a", [.lexicon: "y"]), node("b", [.lexicon: "y"])]
    let all = Ledger.NodeDifference.all(among: nodes)
    let difference = try #require(all.first)
    #expect(all.count == 1 && difference.thing == .lexicon && !difference.isOfUpgrade)
    #expect(difference.groups.map(hosts) == [["a", "b"], ["c"]])
    #expect(hosts(difference.deviating) == ["c"])
  }

  @Test("if no group of nodes is larger than the others, all nodes deviate")
  func tie() throws {
    let difference = try #require(
      Ledger.NodeDifference.all(among: [node("b", [.packs: "x"]), node("a", [.packs: "y"])]).first)
    #expect(difference.groups.map(hosts) == [["a"], ["b"]] && hosts(difference.deviating) == ["a", "b"])
  }

  @Test("a thing that only one of two versions knows is not compared")
  func unknown() {
    let nodes = [node("a", [.setting("new"): "x"], version: "2.0"), node("b", [:], version: "1.0")]
    #expect(Ledger.NodeDifference.all(among: nodes).map(\.thing) == [.version])
  }

  @Test("while the signing secrets differ, nothing else is compared but the version")
  func secrets() {
    let nodes = [
      node("a", [.signingSecret: "1", .lexicon: "x"]), node("b", [.signingSecret: "2", .lexicon: "y"], version: "2.0"),
    ]
    let differences = Ledger.NodeDifference.all(among: nodes)
    #expect(differences.map(\.thing) == [.signingSecret, .version])
    #expect(differences.map(\.isOfUpgrade) == [false, true])
  }

  @Test("what comes with the program may differ between two versions, and not within one")
  func upgrade() {
    for thing in [Ledger.SharedThing.programFiles, .installedPacks, .engine] {
      let during = [node("a", [thing: "1"]), node("b", [thing: "2"], version: "2.0"), node("c", [thing: "1"])]
      #expect(Ledger.NodeDifference.all(among: during).map(\.isOfUpgrade) == [true, true], "\(thing)")
      let mixed = [node("a", [thing: "1"]), node("b", [thing: "2"], version: "2.0"), node("c", [thing: "3"])]
      #expect(Ledger.NodeDifference.all(among: mixed).map(\.isOfUpgrade).contains(false), "\(thing)")
    }
    let settings = [node("a", [.lexicon: "1"]), node("b", [.lexicon: "2"], version: "2.0")]
    #expect(Ledger.NodeDifference.all(among: settings).map(\.isOfUpgrade) == [false, true])
  }

  @Test("silent nodes, commands and earlier processes of a home are not compared")
  func leftOut() {
    let here = node("a", [.lexicon: "x"], startedAt: 100)
    let command = Ledger.Node(
      id: "c.01", description: .init(host: "c", version: "9"), startedAt: Date(), silence: 0, deliveries: [], lanes: [])
    let others = [
      node("b", [.lexicon: "y"], silence: Ledger.Node.patience), command,
      node("a", [.lexicon: "y"], home: "a", startedAt: 50),
    ]
    for other in others {
      #expect(Ledger.NodeDifference.all(among: [here, other]).isEmpty)
      #expect(Ledger.NodeDifference.all(among: [other, here]).isEmpty)
    }
  }

  @Test("lines of fingerprints are read as they were written, and other lines are left out")
  func lines() {
    let fingerprints: [Ledger.SharedThing: String] = [.lexicon: "a-_1", .setting("clips_a_day"): "b"]
    let lines = Ledger.Node.lines(fingerprints)
    #expect(lines == ["lexicon a-_1", "setting:clips_a_day b"])
    #expect(Ledger.Node.fingerprints(lines) == fingerprints)
    for line in ["", "lexicon", " x", "Lexicon x", "a\"b x", "\(String(repeating: "a", count: 65)) x"] {
      #expect(Ledger.Node.fingerprints([line]).isEmpty, "\(line)")
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing

@Suite("crier words and crier preview")
struct WordsCommandTests {
  @Test("words prints one line an amount, from arguments and from standard input")
  func lines() throws {
    let crier = try Command()
    defer { crier.remove() }
    let arguments = try crier("words", "12.50", "0.05", "--locale", "zh-CN", "--currency", "CNY")
    #expect(arguments.output == "十二元五角\n五分\n")
    #expect(arguments.message.isEmpty)
    let input = try crier("words", "-", "--locale", "en-US", "--currency", "USD", input: "1\n2.05\n")
    #expect(input.output == "one dollar\ntwo dollars and five cents\n")
  }

  @Test("--phrase prints the whole announcement, of its kind and channel")
  func phrase() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier(
      "words", "12.50", "--locale", "zh-CN", "--currency", "CNY", "--channel", "alipay", "--kind", "refunded",
      "--phrase")
    #expect(result.output == "支付宝退款十二元五角\n")
  }

  @Test("--phonemes prints what the engine will say, a line an amount")
  func phonemes() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("words", "12", "5", "--locale", "en-US", "--currency", "USD", "--phonemes")
    #expect(result.output == "tw'Elv d'0l3z\nf'aIv d'0l3z\n")
  }

  @Test("a bad amount ends it with 65 and the line's number; what was printed before stands")
  func badAmount() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("words", "-", "--locale", "en-US", "--currency", "USD", input: "1\n2.005\n3\n")
    #expect(result.status == 65)
    #expect(result.output == "one dollar\n")
    #expect(
      result.message
        == "crier: line 2, amount '2.005': has more decimal digits than USD has; USD has 2, and nothing is rounded.\n")
  }

  @Test("- stands alone")
  func dash() throws {
    let crier = try Command()
    defer { crier.remove() }
    #expect(try crier("words", "-", "5", "--locale", "en-US", "--currency", "USD").status == 64)
    #expect(try crier("words", "5", "--currency", "USD").message.contains("--locale"))
  }

  @Test("preview into a pipe prints each word with its times, and no drawing")
  func preview() throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier("preview", "--amount", "5", "--currency", "USD", "--locale", "en-US", "--no-sound")
    #expect(result.status == 0)
    let lines = result.output.split(separator: "\n")
    #expect(lines.map { String($0.split(separator: " ").last ?? "") } == ["Received", "five", "dollars"])
    #expect(lines.allSatisfy { $0.contains(" ms ") && $0.allSatisfy(\.isASCII) })
    #expect(!FileManager.default.fileExists(atPath: crier.directory.appending(path: "home").path), "nothing is kept")
  }

  @Test("the help of every command names its arguments", arguments: ["render", "preview", "words"])
  func help(command: String) throws {
    let crier = try Command()
    defer { crier.remove() }
    let result = try crier(command, "--help")
    #expect(result.status == 0)
    #expect(result.output.contains("--locale"))
    #expect(result.output.contains("USAGE: crier \(command)"))
  }
}

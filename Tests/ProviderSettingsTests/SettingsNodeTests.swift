// SPDX-License-Identifier: Apache-2.0

import Foundation
import ProviderSettings
import Testing

@Suite("Settings files in YAML")
struct SettingsNodeTests {
  private func node(_ yaml: String) throws -> SettingsNode {
    try SettingsNode(yaml: Data(yaml.utf8), file: "test.yaml")
  }

  private func message(_ yaml: String, _ read: (SettingsNode) throws -> Void = { _ in }) -> String? {
    do {
      try read(try node(yaml))
      return nil
    } catch {
      return "\(error)"
    }
  }

  @Test("the values of a settings file are read with their types, and a number is read as it was written")
  func values() throws {
    let fields = try node("a: 012\nb: [x, 'y']\nc: true\nd: 7\ne:\n").fields(["a", "b", "c", "d", "e"])
    #expect(try fields["a"]?.text() == "012")
    #expect(try fields["b"]?.list().map { try $0.text() } == ["x", "y"])
    #expect(try fields["c"]?.boolean() == true)
    #expect(try fields["d"]?.integer(in: 1...9) == 7)
    #expect(fields["e"]?.isNull == true)
    #expect(try fields["a"]?.listOrOne().count == 1)
    #expect(fields["f"] == nil)
  }

  @Test("a misspelt key in a settings file is an error with its line and the correct key")
  func unknownKey() {
    #expect(
      message("one: 1\nsecrts: [x]\n") { _ = try $0.fields(["one", "secrets"]) }
        == "test.yaml:2: unknown key 'secrts'; did you mean 'secrets'?")
    #expect(
      message("a:\n  zebra: 1\n") { _ = try $0.fields(["a"])["a"]?.fields(["b", "c"]) }
        == "test.yaml:2: unknown key 'zebra' in a; the keys are b, c.")
  }

  @Test("a missing key in a settings file is an error that names the key to add")
  func missingKey() {
    #expect(
      message("a: 1\n") { _ = try $0.fields(["a", "b"]).required("b", remedy: "add b: 2") }
        == "test.yaml:1: the file has no key 'b'; add b: 2.")
  }

  @Test("a setting of a wrong type is an error with its path and line, and the error does not contain the value")
  func wrongTypes() {
    func check(_ yaml: String, _ expected: String, _ read: (SettingsNode) throws -> Void) {
      #expect(message(yaml) { try read(try $0.fields(["a"]).required("a", remedy: "")) } == expected)
    }
    check("a: [1]\n", "test.yaml:1: a is not a text; give a text.") { _ = try $0.text() }
    check("a:\n", "test.yaml:1: a has no value; give a text.") { _ = try $0.text() }
    check("a: x\n", "test.yaml:1: a is not a list; write [a, b], or a line such as - a for each element.") {
      _ = try $0.list()
    }
    check("a: []\n", "test.yaml:1: a is an empty list; give a value, or leave the key out.") { _ = try $0.listOrOne() }
    check("a: 1.5\n", "test.yaml:1: a is not a whole number from 1 to 9; give one.") { _ = try $0.integer(in: 1...9) }
    check("a: 10\n", "test.yaml:1: a is not a whole number from 1 to 9; give one.") { _ = try $0.integer(in: 1...9) }
    check("a: yes\n", "test.yaml:1: a is neither true nor false; give true or false.") { _ = try $0.boolean() }
    check("a: 'true'\n", "test.yaml:1: a is neither true nor false; give true or false.") { _ = try $0.boolean() }
    check("a: x\n", "test.yaml:1: a is not a list of keys and values; write key: value.") { _ = try $0.entries() }
    check("a: keymissing\n", "test.yaml:1: a is 'keymissing'; did you mean 'key_missing'?") {
      _ = try $0.choice(ProviderSettingsError.Code.self)
    }
  }

  @Test("a key that occurs twice in a settings file is refused with its line")
  func repeatedKey() {
    #expect(
      message("a: 1\nb: 2\nb: 3\n") == "test.yaml:2: the file is not valid YAML: the key 'b' occurs twice; correct it.")
  }

  @Test(
    "YAML anchors are refused with their line before the file is parsed",
    arguments: ["x: 1\na: &bomb [1]\n", "x: 1\n? &a b\n: c\n", "x: 1\n- [&a b]\n", "x: 1\na: !!str &a b\n"])
  func anchors(yaml: String) {
    #expect(message(yaml)?.hasPrefix("test.yaml:2: anchors (&name) are not read;") == true)
  }

  @Test("nested YAML aliases are refused before they are expanded, even if an alias is a key")
  func aliasBomb() {
    let lines = (1..<60).map { "a\($0): &a\($0) [*a\($0 - 1),*a\($0 - 1),*a\($0 - 1)]" }
    #expect(message("a0: &a0 [x]\n" + lines.joined(separator: "\n"))?.contains("anchors") == true)
    #expect(message("a0: &a0 [x]\n" + lines.joined(separator: "\n") + "\n? *a59\n: x\n")?.contains("anchors") == true)
    #expect(message("a: *b\n")?.contains("undefined alias") == true)
  }

  @Test(
    "YAML anchors after Unicode line separators are refused too",
    arguments: ["\u{85}", "\u{2028}", "\u{2029}", "\u{FEFF}"])
  func unicodeLineEnds(end: String) {
    #expect(message("[\(end)&a [x, x],\(end)&b [*a, *a]]")?.contains("anchors (&name) are not read") == true)
    #expect(message("\(end)&a [x]")?.contains("anchors (&name) are not read") == true)
  }

  @Test("an & inside a text is not a YAML anchor")
  func ampersand() throws {
    #expect(try node("a: \"x=1&y=2 & z\"\n").fields(["a"])["a"]?.text() == "x=1&y=2 & z")
  }

  @Test("settings files that are too large, empty, or not UTF-8 are refused")
  func files() {
    #expect(message("a: " + String(repeating: "x", count: 65_536))?.contains("more than 65536 bytes") == true)
    #expect(message("# nothing\n")?.contains("the file is empty") == true)
    #expect(message("")?.contains("the file is empty") == true)
    #expect(throws: ProviderSettingsError.self) { try SettingsNode(yaml: Data([0x61, 0x3A, 0xFF]), file: "test.yaml") }
    #expect(message("a: 1\n---\nb: 2\n")?.contains("another document") == true)
    #expect(message("a: [1\nb: 2\n")?.contains("not valid YAML") == true)
  }

  @Test("a settings file with deeply nested lists, maps or keys is refused", arguments: ["[", "{a: ", "- ", "? "])
  func nesting(opening: String) {
    let deep = String(repeating: opening, count: 60_000 / opening.utf8.count)
    #expect(message(deep) != nil)
    func visit(_ node: SettingsNode) throws { for child in try node.list() { try visit(child) } }
    #expect(
      message(String(repeating: "[", count: 40) + "x" + String(repeating: "]", count: 40), visit)?.contains("nested")
        == true)
  }

  @Test("a settings file is read from its folder, and a missing file, or a folder in its place, is an error")
  func reading() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let url = folder.appending(path: "x.yaml")
    try Data("a: 1\n".utf8).write(to: url)
    #expect(try SettingsNode(contentsOf: url).fields(["a"])["a"]?.text() == "1")
    for bad in [folder, folder.appending(path: "none.yaml")] {
      let error = #expect(throws: ProviderSettingsError.self) { try SettingsNode(contentsOf: bad) }
      #expect(error?.code == .fileUnreadable)
    }
  }
}

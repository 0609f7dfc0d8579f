// SPDX-License-Identifier: Apache-2.0

import Announcements
package import Foundation
import Yams

/// A value of a settings file in YAML, with its place in the file.
///
/// Keys are strict: an unknown key is an error, because whoever wrote it expects an effect. Anchors and aliases are
/// refused, because a few of them can expand to any size. No error contains a value, except where only a few words are
/// allowed.
package struct SettingsNode {
  /// The largest file that is read, in bytes.
  package static let largestFile = 65_536
  /// The deepest nesting that any settings file needs, with room to spare.
  private static let deepestNesting = 16

  /// The name of the file, without its folder.
  package let file: String
  /// The keys that lead to the value, such as `endpoints[0].secrets`; empty for the whole file.
  package let path: String
  private let node: Node
  private let depth: Int
  /// The line of the key that leads to the value.
  private var keyLine: Int?

  /// Reads the text of a file.
  ///
  /// - Parameter file: The name of the file, for errors.
  /// - Throws: ``ProviderSettingsError`` if the text is too long, empty, not UTF-8, or not one YAML document.
  package init(yaml: Data, file: String) throws(ProviderSettingsError) {
    func fault(_ problem: String, line: Int? = nil, remedy: String) -> ProviderSettingsError {
      ProviderSettingsError(.yamlMalformed, file: file, line: line, problem, remedy: remedy)
    }
    guard yaml.count <= Self.largestFile else {
      throw fault("the file has more than \(Self.largestFile) bytes", remedy: "make it smaller")
    }
    guard let text = String(validating: yaml, as: UTF8.self) else {
      throw fault("the file is not UTF-8", remedy: "save it as UTF-8")
    }
    if let line = Self.lineOfAnchor(in: text) {
      throw fault(
        "anchors (&name) are not read", line: line,
        remedy: "write the value again where it is needed; in a text, put a space after the &")
    }
    let root: Node?
    do {
      root = try Yams.compose(yaml: text)
    } catch {
      let (line, cause) = Self.cause(of: error)
      throw fault("the file is not valid YAML\(cause)", line: line, remedy: "correct it")
    }
    guard let root, !Self.isEmpty(root) else {
      throw fault("the file is empty", remedy: "write its settings, or remove it")
    }
    (self.file, path, node, depth) = (file, "", root, 0)
  }

  /// Reads a file. A symbolic link is followed.
  ///
  /// - Throws: ``ProviderSettingsError``.
  package init(contentsOf url: URL) throws(ProviderSettingsError) {
    let name = url.lastPathComponent
    let data: Data
    do {
      // Opening a named pipe would wait for a writer.
      guard try url.resolvingSymlinksInPath().resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else {
        throw CocoaError(.fileReadUnknown)
      }
      let handle = try FileHandle(forReadingFrom: url)
      defer { try? handle.close() }
      data = try handle.read(upToCount: Self.largestFile + 1) ?? Data()
    } catch {
      throw ProviderSettingsError(
        .fileUnreadable, file: name, "the file cannot be read", remedy: "check its name and who may read it")
    }
    try self.init(yaml: data, file: name)
  }

  private init(_ node: Node, of parent: SettingsNode, path: String) {
    (self.node, file, self.path, depth) = (node, parent.file, path, parent.depth + 1)
  }

  /// The line of the value, counted from 1.
  package var line: Int? { node.mark?.line }

  /// Returns an error about the value. The text begins with the path of the value.
  package func error(
    _ problem: String, _ code: ProviderSettingsError.Code = .valueInvalid, remedy: String
  ) -> ProviderSettingsError {
    ProviderSettingsError(
      code, file: file, line: line, path.isEmpty ? "the file \(problem)" : "\(path) \(problem)", remedy: remedy)
  }

  /// Returns the entries of a mapping. Each of its keys must be one of the known keys.
  ///
  /// - Throws: `.keyUnknown`, with the key that was probably meant; `.valueInvalid` for any other value.
  package func fields(_ known: [String]) throws(ProviderSettingsError) -> SettingsFields {
    var values: [String: SettingsNode] = [:]
    for (key, value) in try entries() {
      guard known.contains(key) else {
        let meant = SimilarNames.name(like: key, among: known)
        throw ProviderSettingsError(
          .keyUnknown, file: file, line: value.keyLine ?? value.line,
          "unknown key '\(key)'\(path.isEmpty ? "" : " in \(path)")",
          remedy: meant.map { "did you mean '\($0)'?" } ?? "the keys are \(known.joined(separator: ", "))")
      }
      values[key] = value
    }
    return SettingsFields(node: self, values: values)
  }

  /// Returns the entries of a mapping in their order, whatever their keys.
  ///
  /// - Throws: `.valueInvalid` for any other value, and for a key that is not a text.
  package func entries() throws(ProviderSettingsError) -> [(key: String, value: SettingsNode)] {
    try checkDepth()
    guard let mapping = node.mapping else {
      throw error("is not a list of keys and values", remedy: "write key: value")
    }
    var entries: [(key: String, value: SettingsNode)] = []
    for (key, value) in mapping {
      guard let name = key.scalar?.string, !name.isEmpty else {
        throw error("has a key that is not a text", remedy: "write key: value")
      }
      var child = SettingsNode(value, of: self, path: path.isEmpty ? name : "\(path).\(name)")
      child.keyLine = key.mark?.line
      entries.append((name, child))
    }
    return entries
  }

  /// Returns the elements of a list.
  ///
  /// - Throws: `.valueInvalid` for any other value.
  package func list() throws(ProviderSettingsError) -> [SettingsNode] {
    try checkDepth()
    guard let sequence = node.sequence else {
      throw error("is not a list", remedy: "write [a, b], or a line such as - a for each element")
    }
    return sequence.enumerated().map { SettingsNode($1, of: self, path: "\(path)[\($0)]") }
  }

  /// Returns the elements of a list, or the value itself as the only element.
  ///
  /// - Throws: `.valueInvalid` for an empty list.
  package func listOrOne() throws(ProviderSettingsError) -> [SettingsNode] {
    guard node.sequence != nil else { return [self] }
    let elements = try list()
    guard !elements.isEmpty else { throw error("is an empty list", remedy: "give a value, or leave the key out") }
    return elements
  }

  package var isMapping: Bool { node.mapping != nil }
  /// Whether the value is null, or nothing is written.
  package var isNull: Bool { Self.isEmpty(node) }

  /// Returns a text with at least one character. A number counts as a text with its characters as written.
  ///
  /// - Throws: `.valueInvalid` for any other value.
  package func text() throws(ProviderSettingsError) -> String {
    guard let scalar = node.scalar, !isNull, !scalar.string.isEmpty else {
      throw error(isNull ? "has no value" : "is not a text", remedy: "give a text")
    }
    return scalar.string
  }

  /// Returns a whole number.
  ///
  /// - Throws: `.valueInvalid` for any other value, and for a number outside the range.
  package func integer(in range: ClosedRange<Int>) throws(ProviderSettingsError) -> Int {
    guard let scalar = node.scalar, let number = Int(scalar.string), String(number) == scalar.string,
      range.contains(number)
    else {
      throw error("is not a whole number from \(range.lowerBound) to \(range.upperBound)", remedy: "give one")
    }
    return number
  }

  /// Returns true or false. Quoted texts, and YAML's old `yes` and `no`, are neither.
  ///
  /// - Throws: `.valueInvalid` for any other value.
  package func boolean() throws(ProviderSettingsError) -> Bool {
    switch node.scalar.map({ ($0.style == .plain, $0.string) }) {
    case (true, "true")?: return true
    case (true, "false")?: return false
    default: throw error("is neither true nor false", remedy: "give true or false")
    }
  }

  /// Returns the value, which must be one of the words of `Choice`.
  ///
  /// - Throws: `.valueInvalid` for any other value, with the word that was probably meant.
  package func choice<Choice: RawRepresentable & CaseIterable>(
    _ type: Choice.Type = Choice.self
  ) throws(ProviderSettingsError) -> Choice where Choice.RawValue == String {
    let word = try text()
    if let choice = Choice(rawValue: word) { return choice }
    let words = Choice.allCases.map(\.rawValue)
    let meant = SimilarNames.name(like: word, among: words)
    throw error(
      "is '\(word.prefix(40))'",
      remedy: meant.map { "did you mean '\($0)'?" } ?? "give one of \(words.joined(separator: ", "))")
  }

  private func checkDepth() throws(ProviderSettingsError) {
    guard depth <= Self.deepestNesting else {
      throw error("is nested more than \(Self.deepestNesting) levels deep", remedy: "remove the levels")
    }
  }

  private static func isEmpty(_ node: Node) -> Bool {
    guard let scalar = node.scalar, scalar.style == .plain else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
  }

  /// Returns the line of the first text that may be an anchor. The YAML library expands aliases without a limit, so
  /// this check runs before the library reads the file.
  private static func lineOfAnchor(in text: String) -> Int? {
    var line = 1
    var isStart = true
    var isAnchor = false
    for byte in text.utf8 {
      let isSpace = [0x20, 0x09, 0x0A, 0x0D].contains(byte)
      if isAnchor, !isSpace { return line }
      isAnchor = isStart && byte == UInt8(ascii: "&")
      // YAML 1.1 also ends lines with U+0085, U+2028 and U+2029.
      isStart =
        isSpace || byte >= 0x80
        || [UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: ","), UInt8(ascii: ":")].contains(byte)
      if byte == 0x0A { line += 1 }
    }
    return nil
  }

  /// Returns the line and the cause of a syntax error, without the text of the file.
  private static func cause(of error: any Error) -> (line: Int?, text: String) {
    switch error as? YamlError {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      (mark.line, ": \(problem)")
    case .duplicatedKeysInMapping(let names, let context):
      (context.mark.line, ": the key '\(names.first ?? "")' occurs twice")
    default: (nil, "")
    }
  }
}

/// The entries of a mapping whose keys have been checked.
package struct SettingsFields {
  /// The mapping itself.
  package let node: SettingsNode
  fileprivate let values: [String: SettingsNode]

  /// The value of a key; nil if the key is missing. If the key has no value, the code that reads the value throws the
  /// error.
  package subscript(_ key: String) -> SettingsNode? { values[key] }

  /// Returns the value of a key.
  ///
  /// - Parameter remedy: What to add.
  /// - Throws: `.keyMissing`.
  package func required(_ key: String, remedy: String) throws(ProviderSettingsError) -> SettingsNode {
    guard let value = values[key] else {
      throw node.error("has no key '\(key)'", .keyMissing, remedy: remedy)
    }
    return value
  }
}

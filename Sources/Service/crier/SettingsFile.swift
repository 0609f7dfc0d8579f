// SPDX-License-Identifier: Apache-2.0

import Announcements
import Configuration
import Foundation
import VoicePacks
import Yams

/// The YAML file with the service's settings.
struct SettingsFile {
  private typealias Fault = ServiceConfiguration.Fault
  private typealias Name = ServiceConfiguration.Name

  var url: URL
  /// Whether the user named the file, so that it must exist.
  var isRequired: Bool

  private var path: String { url.path(percentEncoded: false) }

  /// Returns the values of the settings that have one value. Call ``checkNames()`` first: it reports what is wrong with
  /// the file.
  ///
  /// swift-configuration has a reader of YAML files, but it refuses a file with a list of mappings, such as `apns`.
  func provider() -> InMemoryProvider {
    let root = (try? String(contentsOf: url, encoding: .utf8)).flatMap { try? Yams.compose(yaml: $0) }?.mapping
    let values = (root ?? [:]).compactMap { key, value in
      key.string.flatMap { name in
        value.scalar.map { (AbsoluteConfigKey([name]), ConfigValue(.string($0.string), isSecret: false)) }
      }
    }
    return InMemoryProvider(values: Dictionary(values) { first, _ in first })
  }

  /// Checks the names in the file. An unknown name is an error: the operator expects the setting to have an effect.
  ///
  /// - Returns: Whether the file exists and sets anything.
  /// - Throws: `ServiceConfiguration.Fault`.
  func checkNames() throws -> Bool {
    guard let text = try? String(contentsOf: url, encoding: .utf8) else {
      guard isRequired || FileManager.default.fileExists(atPath: path) else { return false }
      throw fault("cannot be read; name a YAML file with --config")
    }
    let root: Node?
    do {
      root = try Yams.compose(yaml: text)
    } catch {
      throw fault("is not valid YAML\(Self.cause(of: error, in: text)); correct it, or name another file with --config")
    }
    guard let node = root, node.null == nil else { return false }
    guard let mapping = node.mapping else {
      throw fault("must be a list of names and values, such as port: 8080; see docs/operations.md")
    }
    for key in mapping.keys {
      guard let name = key.string, Name(rawValue: name) == nil else { continue }
      throw fault(of: key, Self.rule(forUnknown: name))
    }
    // Without this check, the default would silently apply. `output: null` is allowed, because `null` is an output's
    // name.
    for (key, value) in mapping where value.scalar == nil || value.null != nil {
      if [Name.packs.rawValue, Name.chimes.rawValue].contains(key.string), value.mapping != nil { continue }
      if key.string == Name.apns.rawValue, value.sequence != nil { continue }
      guard key.string != Name.output.rawValue || value.scalar?.string != "null" else { continue }
      throw fault(of: key, "give exactly one value, not a list and not null")
    }
    return !mapping.isEmpty
  }

  /// Returns the setting `packs` as one text, if the file has it as a mapping from languages to packs; `nil` otherwise.
  ///
  /// - Throws: `ServiceConfiguration.Fault` for an entry that is not a language and an id.
  func packs() throws -> String? {
    guard let text = try? String(contentsOf: url, encoding: .utf8), let node = try? Yams.compose(yaml: text),
      let packs = node.mapping?.first(where: { $0.key.string == Name.packs.rawValue })?.value.mapping
    else { return nil }
    return try packs.map { key, value in
      guard let locale = key.string, let id = value.string, value.null == nil,
        PackSetting.choices(in: "\(locale)=\(id)")?.all.count == 1
      else { throw fault(of: key, "give a language and the id of its pack, such as en-US: my-shop") }
      return "\(locale)=\(id)"
    }.joined(separator: " ")
  }

  /// Returns the setting `chimes` as one text, if the file has it as a mapping from kinds to sounds; nil otherwise.
  ///
  /// - Throws: `ServiceConfiguration.Fault` for an entry that is not a kind and a sound.
  func chimes() throws -> String? {
    guard let text = try? String(contentsOf: url, encoding: .utf8), let node = try? Yams.compose(yaml: text),
      let chimes = node.mapping?.first(where: { $0.key.string == Name.chimes.rawValue })?.value.mapping
    else { return nil }
    return try chimes.map { key, value in
      guard let kind = key.string, let sound = value.string, value.null == nil,
        ChimeSounds.choices(in: "\(kind)=\(sound)")?.count == 1
      else { throw fault(of: key, "give a kind and its sound, such as refunded: tone:falling; a path has no comma") }
      return "\(kind)=\(sound)"
    }.joined(separator: ",")
  }

  /// Returns the entries of the setting `apns`; none if the file does not have it.
  ///
  /// - Throws: `ServiceConfiguration.Fault` for an entry that cannot be used.
  func apns() throws -> [PushAppSetting] {
    guard let text = try? String(contentsOf: url, encoding: .utf8), let node = try? Yams.compose(yaml: text),
      let (key, value) = node.mapping?.first(where: { $0.key.string == Name.apns.rawValue })
    else { return [] }
    if value.scalar?.string == "" { return [] }
    guard let entries = value.sequence else {
      throw fault(of: key, "give a list of entries with app, key, key_id and team; see docs/operations.md")
    }
    let settings = try entries.map { entry in
      do throws(PushAppSetting.Fault) {
        return try PushAppSetting(entry)
      } catch {
        throw fault(of: key, error.rule)
      }
    }
    if let app = PushAppSetting.repeated(in: settings) {
      throw fault(of: key, "\(app) has two keys for one environment; name each app once for each environment")
    }
    return settings
  }

  /// Returns the line of each setting in the file, counted from 1.
  func lines() -> [ServiceConfiguration.Name: Int] {
    guard let text = try? String(contentsOf: url, encoding: .utf8),
      let mapping = (try? Yams.compose(yaml: text))?.mapping
    else { return [:] }
    return Dictionary(
      mapping.keys.compactMap { key in
        guard let name = key.string.flatMap(Name.init(rawValue:)), let mark = key.mark else { return nil }
        return (name, mark.line)
      }, uniquingKeysWith: { first, _ in first })
  }

  private static func rule(forUnknown name: String) -> String {
    let names = Name.allCases.map(\.rawValue)
    if let meant = SimilarNames.name(like: name, among: names) { return "is not a setting; did you mean \(meant)?" }
    return "is not a setting; the settings are \(names.joined(separator: ", "))"
  }

  /// Returns the cause and the place of a syntax error; empty if the library gives none.
  private static func cause(of error: any Error, in text: String) -> String {
    switch error as? YamlError {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      " (line \(mark.line), column \(mark.column): \(problem))"
    case .duplicatedKeysInMapping(let names, let context):
      if let name = names.first, let line = secondLine(of: name, after: context.mark, in: text) {
        " (line \(line): \(name) occurs twice, first in line \(context.mark.line))"
      } else {
        " (line \(context.mark.line): \(names.first ?? "a name") occurs twice)"
      }
    default: ""
    }
  }

  /// Returns the line in which a name occurs again; nil if no later line begins with the name. The library reports only
  /// the first occurrence.
  private static func secondLine(of name: String, after mark: Mark, in text: String) -> Int? {
    let indent = String(repeating: " ", count: max(0, mark.column - 1))
    let starts = ["", "\"", "'"].map { indent + $0 + name + $0 }
    return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().first { index, line in
      index >= mark.line
        && starts.contains { line.hasPrefix($0) && line.dropFirst($0.count).first { $0 != " " } == ":" }
    }.map { $0.offset + 1 }
  }

  private func fault(_ rule: String) -> any Error { Fault(setting: path, source: "file", rule: rule) }

  private func fault(of key: Node, _ rule: String) -> any Error {
    let line = key.mark.map { ", line \($0.line)" } ?? ""
    return Fault(setting: key.string ?? path, source: url.lastPathComponent + line, rule: rule)
  }
}

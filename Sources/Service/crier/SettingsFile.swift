// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import SpeechServers
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

  /// The names and values in the file; nil if the file has none. Call ``checkNames()`` first, which reports what is
  /// wrong with the file.
  private var mapping: Node.Mapping? {
    (try? String(contentsOf: url, encoding: .utf8)).flatMap { try? Yams.compose(yaml: $0) }?.mapping
  }

  /// Returns the values as text, in the form that a flag or an environment variable has. A list such as `apns` has no
  /// such form and is left out.
  ///
  /// - Parameter names: The settings to read.
  /// - Throws: `ServiceConfiguration.Fault` for an entry of `packs` or `chimes` that cannot be used.
  func values(
    of names: [ServiceConfiguration.Name] = ServiceConfiguration.Name.allCases
  ) throws -> [ServiceConfiguration.Name: String] {
    var values: [Name: String] = [:]
    for (key, value) in mapping ?? [:] {
      guard let name = key.string.flatMap(Name.init(rawValue:)), names.contains(name) else { continue }
      switch name {
      case .packs where value.mapping != nil: values[name] = try packs(value)
      case .chimes where value.mapping != nil: values[name] = try chimes(value)
      default: values[name] = value.scalar?.string
      }
    }
    return values
  }

  /// Checks the names in the file. An unknown name is an error: the operator expects the setting to have an effect.
  ///
  /// - Throws: `ServiceConfiguration.Fault`.
  func checkNames() throws {
    guard let text = try? String(contentsOf: url, encoding: .utf8) else {
      guard isRequired || FileManager.default.fileExists(atPath: path) else { return }
      throw fault("cannot be read; name a YAML file with --config")
    }
    let root: Node?
    do {
      root = try Yams.compose(yaml: text)
    } catch {
      throw fault("is not valid YAML\(Self.cause(of: error, in: text)); correct it, or name another file with --config")
    }
    guard let node = root, node.null == nil else { return }
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
      if [Name.apns.rawValue, Name.speechServers.rawValue].contains(key.string), value.sequence != nil { continue }
      guard key.string != Name.output.rawValue || value.scalar?.string != "null" else { continue }
      throw fault(of: key, "give exactly one value, not a list and not null")
    }
  }

  /// Returns the setting `packs`, a mapping from languages to packs, as one text.
  private func packs(_ node: Node) throws -> String {
    let rule = "give a language and the id of its pack, such as en-US: my-shop"
    return try text(of: node, rule) { PackSetting.choices(in: $0)?.all.count == 1 }.joined(separator: " ")
  }

  /// Returns the setting `chimes`, a mapping from kinds to sounds, as one text.
  private func chimes(_ node: Node) throws -> String {
    let rule = "give a kind and its sound, such as refunded: tone:falling; a path cannot contain a comma"
    return try text(of: node, rule) { ChimeSounds.choices(in: $0)?.count == 1 }.joined(separator: ",")
  }

  /// Returns the entries of a mapping, each as `KEY=VALUE`.
  private func text(of node: Node, _ rule: String, isValid: (String) -> Bool) throws -> [String] {
    try (node.mapping ?? [:]).map { key, value in
      guard let name = key.string, let text = value.string, value.null == nil, isValid("\(name)=\(text)") else {
        throw fault(of: key, rule)
      }
      return "\(name)=\(text)"
    }
  }

  /// Returns the entries of the setting `apns`; none if the file does not have it.
  ///
  /// - Throws: `ServiceConfiguration.Fault` for an entry that cannot be used.
  func apns() throws -> [PushAppSetting] {
    guard let (key, value) = mapping?.first(where: { $0.key.string == Name.apns.rawValue }) else { return [] }
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

  /// Returns the entries of the setting `speech_servers`; none if the file does not have it.
  ///
  /// - Throws: `ServiceConfiguration.Fault` for an entry that cannot be used.
  func speechServers() throws -> [SpeechServerSetting] {
    guard let (key, value) = mapping?.first(where: { $0.key.string == Name.speechServers.rawValue }) else { return [] }
    if value.scalar?.string == "" { return [] }
    guard let entries = value.sequence else {
      throw fault(
        of: key, "give a list of entries with id, wyoming or openai, voice and locales; see docs/speech-servers.md")
    }
    var settings: [SpeechServerSetting] = []
    for entry in entries {
      do throws(SpeechServerSetting.Fault) {
        settings.append(try SpeechServerSetting(entry))
      } catch {
        throw fault(of: key, error.rule)
      }
    }
    let ids = settings.map(\.server.id)
    if let id = ids.first(where: { id in ids.filter { $0 == id }.count > 1 }) {
      throw fault(of: key, "two entries have the id \(id); give each its own")
    }
    return settings
  }

  /// Returns the line of each setting in the file, counted from 1.
  func lines() -> [ServiceConfiguration.Name: Int] {
    Dictionary(
      (mapping ?? [:]).keys.compactMap { key in
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

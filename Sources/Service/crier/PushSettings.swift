// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import Foundation
import Ledger
import PushDelivery
import PushMessages
import Yams

/// An entry of the setting `apns`: the apps of a team, and the key with which pushes to them are signed.
struct PushAppSetting: Sendable, Hashable {
  /// The keys of an entry in the settings file.
  enum Key: String, CaseIterable {
    case app, key, team, environment, server, ca
    case keyID = "key_id"
  }

  /// The bundle ids of the apps.
  var apps: [String]
  /// The environments; both environments if the entry names none.
  var environments: [PushEnvironment]
  var keyFile: String
  var keyID: String
  var team: String
  /// The server that is used instead of Apple's; nil for Apple's.
  var server: String?
  /// The file of certificates that are trusted instead of the system's.
  var certificates: String?

  /// The fault of an entry, without a full stop.
  struct Fault: Error { var rule: String }

  /// Reads an entry of the settings file.
  ///
  /// - Throws: ``Fault``.
  init(_ node: Node) throws(Fault) {
    guard let mapping = node.mapping else { throw Fault(rule: "give a list of entries with app, key, key_id and team") }
    var texts: [Key: String] = [:]
    var apps: [String] = []
    for (name, value) in mapping {
      guard let key = name.string.flatMap(Key.init(rawValue:)) else {
        let known = Key.allCases.map(\.rawValue).joined(separator: ", ")
        throw Fault(rule: "\(name.string ?? "a key") is not a key of an entry; use \(known)")
      }
      if key == .app, let list = value.sequence {
        apps = list.compactMap(\.string)
        guard apps.count == list.count else { throw Fault(rule: "app: give a bundle id, or a list of them") }
        continue
      }
      guard let text = value.string, value.null == nil, !text.isEmpty else {
        throw Fault(rule: "\(key.rawValue): give exactly one value")
      }
      texts[key] = text
    }
    if let app = texts[.app] { apps.append(app) }
    guard !apps.isEmpty else { throw Fault(rule: "app is missing; give a bundle id, such as com.example.shop") }
    for app in apps {
      do throws(PushMessageError) { _ = try BundleID(app) } catch { throw Fault(rule: "app: \(error.rule)") }
    }
    guard let file = texts[.key], let id = texts[.keyID], let team = texts[.team] else {
      let missing = [Key.key, .keyID, .team].filter { texts[$0] == nil }.map(\.rawValue).joined(separator: ", ")
      throw Fault(rule: "\(missing) is missing; give the .p8 file of the key, its id and the id of the team")
    }
    if let name = texts[.environment] {
      guard let environment = PushEnvironment(rawValue: name) else {
        throw Fault(rule: "environment: give sandbox or production, or leave it out for both")
      }
      environments = [environment]
    } else {
      environments = PushEnvironment.allCases
    }
    if let server = texts[.server], PushServer(url: server) == nil {
      throw Fault(rule: "server: give https://HOST or https://HOST:PORT")
    }
    (self.apps, keyFile, keyID, self.team) = (apps, file, id, team)
    (server, certificates) = (texts[.server], texts[.ca])
  }

  /// Returns the server of an environment.
  ///
  /// - Parameter folder: The folder of the settings file, to which paths may be relative.
  func pushServer(_ environment: PushEnvironment, folder: URL) -> PushServer {
    let roots = certificates.map { URL(filePath: $0, relativeTo: folder).absoluteURL }
    return server.flatMap { PushServer(url: $0, trustRoots: roots) }
      ?? PushServer(host: environment.host, trustRoots: roots)
  }

  /// Returns an app that several entries name for one environment; nil if there is none.
  static func repeated(in settings: [PushAppSetting]) -> String? {
    var known: Set<String> = []
    for setting in settings {
      for app in setting.apps {
        for environment in setting.environments
        where !known.insert("\(app) \(environment.rawValue)").inserted {
          return app
        }
      }
    }
    return nil
  }

  /// The entry in one line, for `--print-config`. It contains no part of the key.
  var line: String { "\(apps.joined(separator: "+"))=\(keyID)" }
}

extension PushParts {
  /// The number of connections to each server. One connection carries a thousand pushes at a time; the second one
  /// continues while the first is replaced.
  private static let connections = 2

  /// Opens the keys of the setting `apns`.
  ///
  /// - Parameters:
  ///   - folder: The folder of the settings file, to which the paths of keys may be relative.
  ///   - tokens: The folder in which provider tokens are shared with other programs of the home.
  ///   - store: The ledger in which provider tokens are shared with other machines; nil if no other one uses it.
  ///   - lifetime: The time for which a push is worth sending, in seconds.
  /// - Throws: `ProviderKeyError`, `PushTransportError`.
  init(
    _ entries: [PushAppSetting], folder: URL, tokens tokenFolder: URL, store: (any Ledger.ProviderTokenStore)?,
    lifetime: TimeInterval
  ) throws {
    var clients: [PushSchedule.App: PushClient] = [:]
    var tokens: [String: ProviderTokens] = [:]
    var pools: [PushServer: PushConnections] = [:]
    for entry in entries {
      // All pushes of a key share its provider token, and all pushes to a server share its connections.
      let key = try ProviderKey(
        file: URL(filePath: entry.keyFile, relativeTo: folder).absoluteURL, id: entry.keyID, team: entry.team)
      let name = "\(entry.team) \(entry.keyID)"
      let shared =
        tokens[name]
        ?? ProviderTokens(key: key, file: ProviderTokenFile(folder: tokenFolder, key: key), store: store)
      tokens[name] = shared
      for environment in entry.environments {
        let server = entry.pushServer(environment, folder: folder)
        let pool = try pools[server] ?? PushConnections(server: server, count: Self.connections)
        pools[server] = pool
        for app in entry.apps {
          clients[PushSchedule.App(bundleID: app, environment: environment)] = PushClient(
            connections: pool, tokens: shared)
        }
      }
    }
    self.init(clients: clients, lifetime: lifetime)
  }
}

// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import Announcer
import ArgumentParser
import Foundation
import PaymentProviders

struct Providers: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Shows and tries the endpoints at which payment providers' webhooks arrive.",
    discussion: """
      The endpoints are in providers.yaml in the home folder, which only its owner may read.

      EXAMPLES
        crier providers list --base https://shop.example
        crier providers check till --headers headers.json --body body.json
        crier providers check --samples shopify.yaml
        crier providers test till
      """,
    subcommands: [List.self, Check.self, Test.self])
}

/// The options with which the endpoints are found.
struct ProviderOptions: ParsableArguments {
  @OptionGroup var home: HomeOptions
  @OptionGroup(title: "Files") var files: DataOptions

  /// Reads the endpoints of `providers.yaml`; none if there is no such file.
  ///
  /// - Throws: `ProviderSettingsError`.
  func endpoints() throws -> [ProviderEndpoint] {
    // The secrets must not be left on the disk if the program fails.
    PrivateProcess.leaveNoCoreFile()
    return try ProviderFiles(home: home.folder, data: files.installation.data).endpoints()
  }

  /// Returns the endpoint of an id.
  ///
  /// - Throws: `ProviderSettingsError`, ``CommandError``.
  func endpoint(_ id: String) throws -> ProviderEndpoint {
    let endpoints = try endpoints()
    guard let endpoint = endpoints.first(where: { $0.id == id }) else {
      let known = endpoints.map(\.id)
      let remedy =
        known.isEmpty ? "providers.yaml has no endpoints yet." : "providers.yaml has \(known.joined(separator: ", "))."
      throw CommandError(65, "ENDPOINT \(id): no endpoint has this id; \(remedy)")
    }
    return endpoint
  }
}

/// The address of a service, without a slash at its end.
struct BaseAddress {
  let text: String

  /// - Returns: nil for a text that is not `http://` or `https://` followed by a host and, optionally, a port and a
  ///   path.
  init?(_ typed: String) {
    guard let parts = URLComponents(string: typed), ["http", "https"].contains(parts.scheme?.lowercased()),
      let host = parts.host, !host.isEmpty, parts.query == nil, parts.fragment == nil, parts.user == nil
    else { return nil }
    text = typed.hasSuffix("/") ? String(typed.dropLast()) : typed
  }

  /// Checks an option.
  ///
  /// - Throws: `ValidationError`.
  static func check(_ option: String, _ typed: String?) throws {
    guard let typed, BaseAddress(typed) == nil else { return }
    throw ValidationError("\(option) '\(typed)' is not an address: give https://HOST or http://HOST:PORT.")
  }
}

extension Providers {
  struct List: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: """
        Lists the endpoints: id, provider or mapping file, account, live or test, whether the provider signs what is \
        announced, and the URL for the provider's dashboard.
        """,
      discussion: """
        An endpoint with `signed: no` accepts requests from anybody who knows its URL or its token. The service \
        answers such an endpoint only over TLS, or on this machine.
        """)

    @Option(
      help: "The address at which providers reach the service: https://HOST. (default: the setting 'public_url')")
    var base: String?

    @Flag(help: "Print one line of JSON for each endpoint.")
    var json = false

    @OptionGroup var providers: ProviderOptions

    func validate() throws { try BaseAddress.check("--base", base) }

    func perform() async throws {
      let endpoints = try providers.endpoints()
      guard !endpoints.isEmpty else {
        return Terminal.note("There are no endpoints: add one to \(providers.home.folder.typed)/providers.yaml.")
      }
      let (base, isPublic) = try addresses()
      for endpoint in endpoints {
        let line = EndpointLine(endpoint, base: base)
        try StandardOutput.write(json ? try line.jsonLine : line.text)
        if isPublic, let url = endpoint.url, url != line.url {
          Terminal.note(
            "crier: \(endpoint.id): Square signs the URL in the endpoint's key 'url', which differs from the URL "
              + "listed here. The key 'url' must have exactly the URL in Square's dashboard.")
        }
      }
    }

    /// Returns the address at which the endpoints are, and whether providers can reach it: the address given as an
    /// option, or else the setting `public_url`, or else the address on which the service listens.
    private func addresses() throws -> (base: String, isPublic: Bool) {
      if let base = base.flatMap(BaseAddress.init) { return (base.text, true) }
      let settings = try providers.home.serviceSettings()
      if let base = settings.publicURL.flatMap(BaseAddress.init) { return (base.text, true) }
      Terminal.note(
        "crier: Providers cannot reach these addresses. Give --base https://HOST, or set public_url in crier.yaml.")
      return ("http://\(settings.authority(port: settings.port))", false)
    }
  }
}

/// An endpoint as a line of `crier providers list`.
private struct EndpointLine: Encodable {
  var id: String
  var provider: String
  /// The name of the provider that a mapping file describes.
  var mapping: String?
  var account: String
  var live: Bool
  var signed: Bool
  var url: String

  init(_ endpoint: ProviderEndpoint, base: String) {
    (id, provider, account) = (endpoint.id, endpoint.provider.rawValue, endpoint.account)
    (mapping, live) = (endpoint.mapping?.name, endpoint.isLive)
    signed = endpoint.mapping?.isSigned ?? true
    url = base + endpoint.path
  }

  var text: String {
    [id, mapping ?? provider, account, live ? "live" : "test", "signed: \(signed ? "yes" : "no")", url]
      .map(Terminal.printable).joined(separator: "\t")
  }
}

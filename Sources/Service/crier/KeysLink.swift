// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import ArgumentParser
import Foundation
import Ledger
import QRCodes
import ServiceAccess

extension Keys {
  struct Link: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Prints a link and a QR code with which one person signs in to the console.",
      discussion: """
        The link works once, within 15 minutes. Opening it makes a key with the given scope in that browser. With the \
        scope till, the person sees announcements, pauses and replays them, and changes the volume. With the scope \
        operator, the person does everything except managing keys. The link contains a code and never the key. crier \
        keys list shows the key, and crier keys revoke ends it.

        The link begins with the setting 'public_url' or, without it, with the address in the settings. The first \
        line is the link, and the lines after it are the QR code.

        EXAMPLES
          crier keys link --scope till --name 'Tablet at the counter'
          crier keys link --scope operator --name Kim --days 30 --url https://shop.example
        """)

    /// The scopes that a person can sign in with.
    enum Role: String, CaseIterable, ExpressibleByArgument {
      case till
      case `operator`

      var scope: Scope { self == .till ? .till : .operator }
    }

    @Option(help: "What the person may do.")
    var scope: Role

    @Option(help: "A name for people to recognise the key by.")
    var name: String

    @Option(help: "The account whose announcements the person sees.")
    var account = "default"

    @Option(help: "The days for which the key is valid.")
    var days = SignInRequest.standardDays

    @Option(help: "The address of the service as the person's browser reaches it. (default: from the settings)")
    var url: String?

    @Flag(help: "Print one line of JSON: id, code, url, qr, expires_at.")
    var json = false

    @Option(
      help: "The YAML file of the service's settings. (default: crier.yaml in the home folder, if it exists)",
      completion: .file())
    var config: String?

    @OptionGroup var home: HomeOptions

    func validate() throws {
      _ = try new(SignInCode.make())
      if let url, !ServiceConfiguration.isBase(url) {
        throw ValidationError(
          "--url is not an address of a service: give one such as https://shop.example, without a query, a fragment or "
            + "a user.")
      }
    }

    private func new(_ code: SignInCode) throws -> NewSignInCode {
      do throws(SignInRequest.Fault) {
        return try SignInRequest(scope: scope.scope, account: account, name: name, days: days).newCode(code)
      } catch {
        switch error {
        case .scope: throw ValidationError("--scope is not for people: give till or operator.")
        case .text(let option):
          throw ValidationError("--\(option) must be 1 to 255 bytes long, without control characters.")
        case .accountReserved:
          throw ValidationError("--account must not begin with crier:, which is reserved: choose another name.")
        case .days:
          let days = NewSignInCode.dayCounts
          throw ValidationError("--days is out of range: give \(days.lowerBound) to \(days.upperBound).")
        }
      }
    }

    func perform() async throws {
      let base = try base
      let ledger = try await home.folder.openLedger()
      let code = SignInCode.make()
      let link = code.link(base: base)
      let drawing = try QRCode(link)
      let kept = try await ledger.createSignInCode(try new(code), lifetime: SignInCode.lifetime)
      do {
        try StandardOutput.write(
          json
            ? try CreatedLink(
              id: kept.id, code: code.text, url: link, qr: .init(size: drawing.size, rows: drawing.digits),
              expiresAt: kept.expiresAt
            ).jsonLine : ([link] + Self.drawn(drawing)).joined(separator: "\n"))
      } catch {
        // The link was not shown, so nobody can ever use it.
        try await ledger.removeSignInCode(kept.id)
        throw error
      }
      Terminal.note(
        "Code \(kept.id) (\(scope.rawValue)): the link works once, until \(kept.expiresAt.formatted(.iso8601)).")
    }

    /// The address of the service as people reach it.
    ///
    /// - Throws: ``ServiceConfiguration/Fault``, ``CommandError``.
    private var base: String {
      get throws {
        if let url { return url }
        let settings = try home.serviceSettings(file: config)
        if let url = settings.publicURL { return url }
        guard !["0.0.0.0", "::"].contains(settings.host), settings.port != 0 else {
          throw CommandError(
            64,
            "the settings do not say how a browser reaches the service; give its address with --url, or in the setting "
              + "'public_url'.")
        }
        if Serve.isLoopback(settings.host) {
          Terminal.note(
            "crier: the link works on this machine only, because the service listens on \(settings.host); give the "
              + "address that other machines use with --url, or in the setting 'public_url'.")
        }
        return "http://\(settings.authority(port: settings.port))"
      }
    }

    /// The lines of a QR code. On a terminal, the lines set their own colours, because a reader needs dark modules on a
    /// light background, and a terminal may have a dark background.
    private static func drawn(_ code: QRCode) -> [String] {
      Terminal.isDrawable ? code.lines.map { "\u{1B}[97;40m\($0)\u{1B}[0m" } : code.lines
    }
  }
}

/// The output of `crier keys link --json`.
private struct CreatedLink: Encodable {
  struct Drawing: Encodable {
    var size: Int
    var rows: [String]
  }

  var id: String
  var code: String
  var url: String
  var qr: Drawing
  var expiresAt: Date
}

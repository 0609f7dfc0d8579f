// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import ArgumentParser
import Foundation
import PaymentProviders
import ProviderSettings
import TextFormats

extension Providers {
  struct Check: ReportingCommand {
    static let configuration = CommandConfiguration(
      abstract: "Checks a saved request, or the samples in mapping files. Nothing is announced.",
      discussion: """
        The headers are a JSON object of names and values; the value of a header that occurs twice is an array. The \
        body is the file with the exact bytes of the request.

        With --samples, ENDPOINT and the words after it are mapping files: paths, or names such as shopify.yaml. \
        Without a file, all mapping files that come with the program are checked.

        Exit status: 0 if the request is the provider's, or if all samples have the expected outcome, else 65.

        EXAMPLES
          crier providers check till --headers headers.json --body body.json
          crier providers check till --headers headers.json --body body.json --now 1700000000 --json
          crier providers check --samples my-bank.yaml
        """)

    @Argument(help: ArgumentHelp("The id of the endpoint; with --samples, mapping files.", valueName: "endpoint"))
    var words: [String] = []

    @Option(help: "The file with the headers, as a JSON object.", completion: .file())
    var headers: String?

    @Option(help: "The file with the body.", completion: .file())
    var body: String?

    @Option(help: ArgumentHelp("The part of the URL after the question mark.", valueName: "text"))
    var query: String?

    @Option(help: ArgumentHelp("The time of arrival, in seconds since 1970. (default: now)", valueName: "seconds"))
    var now: Int64?

    @Flag(help: "Run the samples in mapping files.")
    var samples = false

    @Flag(help: "Print one line of JSON.")
    var json = false

    @OptionGroup var providers: ProviderOptions

    func validate() throws {
      if samples {
        for (option, isGiven) in [
          ("--headers", headers != nil), ("--body", body != nil), ("--query", query != nil), ("--now", now != nil),
        ] where isGiven {
          throw ValidationError(
            "\(option) cannot be used with --samples, because each sample contains its own request: drop \(option).")
        }
        return
      }
      guard words.count == 1 else {
        throw ValidationError(
          words.isEmpty ? "ENDPOINT is missing: give the id of an endpoint." : "Give the id of one endpoint only.")
      }
      guard headers != nil, body != nil else {
        throw ValidationError("\(headers == nil ? "--headers" : "--body") is missing: give a file.")
      }
      if let now, !(0...253_402_300_799).contains(now) {
        throw ValidationError("--now \(now) is out of range: give the seconds since 1970.")
      }
    }

    func perform() async throws {
      if samples { return try await runSamples() }
      guard let id = words.first, let headers, let body else { return }
      let endpoint = try providers.endpoint(id)
      let request = ProviderRequest(
        headers: try CapturedRequest.headers(in: headers), body: try CapturedRequest.bytes(of: body), query: query)
      let time = now.map { Date(timeIntervalSince1970: TimeInterval($0)) } ?? Date()
      let judgement = endpoint.judge(request, at: time)
      let line = JudgementLine(judgement, of: endpoint, at: time)
      try StandardOutput.write(json ? try line.jsonLine : line.text)
      if !json, now == nil, let skew = judgement.rejection?.skew {
        Terminal.note(
          "\(ClockSkew.sentence(providerAheadBy: skew)) For a request that was saved earlier, give --now.")
      }
      if !judgement.isVerified { throw ExitCode(65) }
    }

    private func runSamples() async throws {
      var hasErrors = false
      let data = providers.files.installation.data
      let shipped = data.appending(path: MappingFile.folder)
      let files = words.isEmpty ? try CapturedRequest.mappingFiles(in: shipped) : words
      for file in files {
        let mapping =
          FileManager.default.fileExists(atPath: file)
          ? try MappingFile(contentsOf: URL(filePath: file))
          : try MappingFile.named(file, home: providers.home.folder.directory, data: data)
        let errors = mapping.sampleErrors()
        hasErrors = hasErrors || !errors.isEmpty
        let line = SamplesLine(file: file, samples: mapping.mapping.samples.count, errors: errors.map(\.description))
        try StandardOutput.write(json ? try line.jsonLine : line.text)
      }
      if hasErrors { throw ExitCode(65) }
    }
  }
}

/// The files of a captured request.
enum CapturedRequest {
  /// The error for a file that cannot be used.
  private static func fault(_ file: String, _ problem: String) -> CommandError {
    CommandError(65, "\(Terminal.printable(file)): \(problem).")
  }

  /// Reads a file of at most the bytes that the service accepts as a body.
  ///
  /// - Throws: ``CommandError``.
  static func bytes(of file: String) throws(CommandError) -> Data {
    let data: Data
    do {
      // At the end of a file, and therefore in an empty file, nothing is returned.
      data =
        try FileHandle(forReadingFrom: URL(filePath: file)).read(upToCount: ProviderRequest.largestBody + 1) ?? Data()
    } catch {
      throw fault(file, "cannot be read; give the name of a file")
    }
    guard data.count <= ProviderRequest.largestBody else {
      throw fault(file, "is larger than 1 MiB, which the service does not accept")
    }
    return data
  }

  /// Reads the headers of a request.
  ///
  /// - Throws: ``CommandError`` for a file that is not a JSON object of names and texts.
  static func headers(in file: String) throws(CommandError) -> [(name: String, value: String)] {
    let fault = fault(
      file, "is not a JSON object of names and values; write {\"Content-Type\": \"application/json\"}")
    guard case .object(let fields)? = JSONFields(try bytes(of: file))?.value else { throw fault }
    var headers: [(name: String, value: String)] = []
    for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
      let values = JSONFields(value)
      for value in values.elements ?? [values] {
        guard let text = value.text else { throw fault }
        headers.append((name, text))
      }
    }
    return headers
  }

  /// Returns the paths of the mapping files in a folder.
  ///
  /// - Throws: ``CommandError`` if there are none.
  static func mappingFiles(in folder: URL) throws(CommandError) -> [String] {
    let path = folder.path(percentEncoded: false)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    let files = names.filter { $0.hasSuffix(".yaml") }.sorted()
    guard !files.isEmpty else { throw fault(path, "has no mapping files; name one, or give --data") }
    return files
  }
}

/// The output of `crier providers check`.
private struct JudgementLine: Encodable {
  struct PaymentLine: Encodable {
    var id: String
    var kind: String
    var amount: String
    var currency: String
    /// The id of the payment to which this one belongs, if it is a different payment.
    var reference: String?
    var payer: String?
    var note: String?
    var channel: String?
    var merchant: String?
    var live: Bool?
    var occurredAt: Date?
    /// Whether the payment is older than `max_age`, so that it is stored and not spoken.
    var late: Bool

    init(_ payment: ProviderPayment, isLate: Bool) {
      late = isLate
      (id, kind) = (payment.id, payment.kind.rawValue)
      (amount, currency) = (payment.amount.decimalText, payment.amount.currency.code)
      reference = payment.reference == payment.id ? nil : payment.reference
      (payer, note, channel, merchant) = (payment.payer, payment.note, payment.channel, payment.merchant)
      (live, occurredAt) = (payment.isLive, payment.occurredAt)
    }
  }

  var isVerified: Bool
  @ExplicitNull var reason: String?
  var payments: [PaymentLine]
  @ExplicitNull var ignored: String?
  @ExplicitNull var refused: String?
  private var maximumAge: Int

  enum CodingKeys: String, CodingKey {
    case reason, payments, ignored, refused
    case isVerified = "verified"
  }

  init(_ judgement: ProviderJudgement, of endpoint: ProviderEndpoint, at time: Date) {
    func joined(_ reasons: [String]) -> String? { reasons.isEmpty ? nil : reasons.joined(separator: "; ") }
    isVerified = judgement.isVerified
    reason = judgement.rejection?.description
    payments = judgement.payments.map { PaymentLine($0, isLate: endpoint.isLate($0, at: time)) }
    maximumAge = endpoint.maximumAge
    ignored = joined(judgement.outcomes.compactMap(\.ignoredReason))
    refused = joined(judgement.outcomes.compactMap(\.refusedReason))
  }

  var text: String {
    var lines = [isVerified ? "The request is verified." : "The request is not the provider's: \(reason ?? "")"]
    lines += payments.map { payment in
      "Payment: \(payment.kind), \(payment.amount) \(payment.currency), id \(payment.id)"
        + (payment.occurredAt.map { ", at \($0.formatted(.iso8601))" } ?? "")
    }
    if payments.contains(where: \.late) {
      lines.append("Late: older than max_age (\(maximumAge) s), so it is stored and shown, and not spoken")
    }
    if let ignored { lines.append("Ignored: \(ignored)") }
    if let refused { lines.append("Refused: \(refused)") }
    return lines.map(Terminal.printable).joined(separator: "\n")
  }
}

/// The output of `crier providers check --samples` for one file.
private struct SamplesLine: Encodable {
  var file: String
  var samples: Int
  var errors: [String]

  var text: String {
    guard !errors.isEmpty else {
      let verdict = samples == 1 ? "1 sample has the expected outcome" : "\(samples) samples have the expected outcome"
      return Terminal.printable("\(file): \(verdict).")
    }
    return errors.map(Terminal.printable).joined(separator: "\n")
  }
}

// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
public import HostAddresses
public import SoundDownloads

/// Calls the service with the device's own key: to catch up on announcements, to register, to report what the
/// file-provider extension shows, and to read the library.
///
/// Every call sends its requests once. It does not repeat them. It follows no redirect, because a redirect would send
/// the key to another server. A call ends within ``DownloadRules/longest``, or at once when its task is cancelled.
///
/// ``DownloadRules/allowsUnencrypted`` and ``DownloadRules/allowsPrivateAddresses`` say which services are allowed, and
/// ``DownloadRules/serviceHost`` is the service's host. The other rules have no effect. The errors contain no key, no
/// id and no amount.
public final class DeviceClient: Sendable {
  /// The maximum size of an answer in JSON, in bytes.
  public static let maximumAnswerBytes = 4 << 20

  /// The maximum size of a file of the library in bytes, if its size is not known.
  public static let maximumFileBytes = 16 << 20

  private static let maximumProblemBytes = 64 << 10

  public let access: DeviceAccess
  private let sender: RequestSender
  private let rules: DownloadRules
  private let clock: any Clock<Duration>

  /// - Parameters:
  ///   - fetcher: The client that sends the requests.
  ///   - resolver: The source of the host's addresses, which are checked before each request.
  ///   - clock: The clock that measures ``DownloadRules/longest``.
  public init(
    access: DeviceAccess, fetcher: any SoundFetching, resolver: any HostResolving = SystemHostResolver(),
    rules: DownloadRules = DownloadRules(), clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.access = access
    var rules = rules
    rules.serviceHost = access.service.host(percentEncoded: false)
    self.rules = rules
    sender = RequestSender(fetcher, resolver, rules)
    self.clock = clock
  }

  /// The longest duration of a call.
  package var longestCall: Duration { rules.longest }

  private var host: String? { access.service.host(percentEncoded: true).flatMap { $0.isEmpty ? nil : $0 } }

  // MARK: - Calls

  /// Returns the announcements that were pushed to the device after a sequence number. This method reads as many pages
  /// as are needed.
  ///
  /// - Parameters:
  ///   - sequence: The last sequence number that the device knows; 0 for none.
  ///   - limit: The maximum number of announcements. If the service has more, `isComplete` of the result is false.
  /// - Throws: ``DeviceClientError``.
  public func announcements(
    after sequence: Int64, atMost limit: Int = 1_000
  ) async throws(DeviceClientError) -> CaughtUp {
    try await limited(.catchingUp) { client throws(DeviceClientError) in
      var result = CaughtUp(announcements: [], lastSequence: max(0, sequence), isComplete: false)
      var last = max(0, sequence)
      while result.announcements.count < max(1, limit) {
        let size = min(200, max(1, limit) - result.announcements.count)
        let data = try await client.json(
          DeviceCall(
            action: .catchingUp, path: ["v1", "devices", client.access.device, "announcements"],
            query: [("after", "\(last)"), ("limit", "\(size)")]))
        guard let page = CaughtUpPage(data, after: last), page.announcements.count <= size else {
          throw client.error(.unreadableAnswer, .catchingUp)
        }
        result.lastSequence = page.lastSequence
        result.announcements += page.announcements
        guard let end = page.announcements.last?.sequence, end < page.lastSequence else {
          result.isComplete = true
          return result
        }
        last = end
      }
      return result
    }
  }

  /// Registers the device's tokens, app, language and tone. They replace everything that was registered before.
  ///
  /// - Returns: The highest sequence number of an announcement for the device. If this number is lower than the app's
  ///   own, the service has created the device anew, and the app must continue with this number.
  /// - Throws: ``DeviceClientError``.
  @discardableResult
  public func register(_ registration: DeviceRegistration) async throws(DeviceClientError) -> Int64 {
    struct Answer: Decodable {
      var lastSequence: Int64
      enum CodingKeys: String, CodingKey { case lastSequence = "last_sequence" }
    }
    guard let body = try? registration.body else { throw error(.invalidURL, .registering) }
    let data = try await answer(
      to: DeviceCall(action: .registering, method: "PUT", path: ["v1", "devices", access.device], body: body))
    guard let answer = try? JSONDecoder().decode(Answer.self, from: data) else {
      throw error(.unreadableAnswer, .registering)
    }
    return answer.lastSequence
  }

  /// Reports that the file-provider extension now shows a container, so that the service pushes its changes.
  ///
  /// - Parameter container: `root`, `working-set`, `clips`, `packs`, or another identifier of 1 to 128 bytes.
  /// - Throws: ``DeviceClientError``.
  public func beginEnumerating(_ container: String) async throws(DeviceClientError) {
    try await enumerate(container, "PUT", .beginningEnumeration)
  }

  /// Reports that the extension's enumerator of a container was invalidated. A container that the service does not know
  /// is not an error.
  ///
  /// - Throws: ``DeviceClientError``.
  public func endEnumerating(_ container: String) async throws(DeviceClientError) {
    do throws(DeviceClientError) {
      try await enumerate(container, "DELETE", .endingEnumeration)
    } catch {
      guard error.code == .notFound else { throw error }
    }
  }

  private func enumerate(
    _ container: String, _ method: String, _ action: DeviceClientError.Action
  ) async throws(DeviceClientError) {
    _ = try await answer(
      to: DeviceCall(action: action, method: method, path: ["v1", "devices", access.device, "enumerators", container]))
  }

  /// Returns one page of changes of the library.
  ///
  /// - Parameters:
  ///   - anchor: The value of ``LibraryChanges/next`` or ``LibraryChanges/anchor`` from the last page, unchanged; nil
  ///     to list everything.
  ///   - limit: The maximum number of changes, from 1 to 1,000.
  /// - Throws: ``DeviceClientError``, with the code `anchorExpired` if everything must be listed again.
  public func changes(after anchor: String?, limit: Int = 1_000) async throws(DeviceClientError) -> LibraryChanges {
    let query = (anchor.map { [("after", $0)] } ?? []) + [("limit", "\(min(max(limit, 1), 1_000))")]
    let data = try await answer(
      to: DeviceCall(
        action: .readingLibrary, path: ["v1", "library", "changes"], query: query.map { (name: $0.0, value: $0.1) }))
    guard let page = LibraryChanges(data) else { throw error(.unreadableAnswer, .readingLibrary) }
    return page
  }

  // MARK: - Requests

  func error(
    _ code: DeviceClientError.Code, _ action: DeviceClientError.Action, systemError: Int32? = nil
  ) -> DeviceClientError {
    DeviceClientError(code, action, host: host, systemError: systemError)
  }

  /// Runs a call within the time limit. When the limit is over or the caller's task is cancelled, the caller continues
  /// at once, even if the call does not react to its cancellation. A later result of the call is discarded.
  func limited<Value: Sendable>(
    _ action: DeviceClientError.Action,
    _ work: @escaping @Sendable (DeviceClient) async throws(DeviceClientError) -> Value
  ) async throws(DeviceClientError) -> Value {
    let (client, first) = (self, FirstOutcome<Value, DeviceClientError>())
    return try await first.wait {
      let alarm = Task.detached {
        do { try await client.clock.sleep(for: client.rules.longest) } catch { return }
        first.end(.failure(client.error(.tookTooLong, action)))
      }
      let job = Task.detached {
        do throws(DeviceClientError) {
          first.end(.success(try await work(client)))
        } catch {
          first.end(.failure(error))
        }
      }
      return [alarm, job]
    } onCancel: {
      first.end(.failure(client.error(.cancelled, action)))
    }.get()
  }

  /// Returns the URL and the header fields of a request.
  func head(of call: DeviceCall) throws(DeviceClientError) -> (url: URL, fields: [String: String]) {
    guard let url = call.url(of: access.service), let fields = call.fields(key: access.key) else {
      throw error(.invalidURL, call.action)
    }
    do throws(DownloadError) { try rules.check(url) } catch { throw self.error(.invalidURL, call.action) }
    return (url, fields)
  }

  /// Makes a call within the time limit and returns the whole body of its answer.
  func answer(to call: DeviceCall) async throws(DeviceClientError) -> Data {
    try await limited(call.action) { client throws(DeviceClientError) in try await client.json(call) }
  }

  /// Sends a request and returns the whole body of its answer.
  private func json(_ call: DeviceCall) async throws(DeviceClientError) -> Data {
    var data = Data()
    try await stream(call, atMost: Self.maximumAnswerBytes) { piece throws(DeviceClientError) in data += piece }
    return data
  }

  /// Sends a request and passes on the pieces of its answer's body.
  ///
  /// - Parameter byteCount: The exact size of the body in bytes; nil if it is not known.
  /// - Throws: ``DeviceClientError``. Some pieces may already have been passed on by then.
  func stream(
    _ call: DeviceCall, atMost limit: Int, byteCount: Int? = nil,
    _ receive: ([UInt8]) async throws(DeviceClientError) -> Void
  ) async throws(DeviceClientError) {
    let (url, fields) = try head(of: call)
    let request = SoundRequest(
      method: call.method, url: url, fields: fields, addresses: [], mostBytes: limit, body: call.body)
    var expected = byteCount
    var count = 0
    let end = try await sender.send(request, translating: { translated($0, call.action) }) {
      answer throws(DeviceClientError) in
      if let code = call.code(of: answer.status) { throw await refusal(code, answer, call.action) }
      let encoding = answer.fields["content-encoding"]?.lowercased() ?? "identity"
      guard encoding == "identity" || encoding.isEmpty else { throw error(.unreadableAnswer, call.action) }
      let declared = answer.fields["content-length"].flatMap { Int($0) }
      if let declared, declared > limit { throw error(.tooLarge, call.action) }
      if let declared, let byteCount, declared != byteCount {
        throw error(declared > byteCount ? .tooLarge : .digestMismatch, call.action)
      }
      expected = byteCount ?? declared
      return true
    } piece: { piece throws(DeviceClientError) in
      if Task.isCancelled { throw error(.cancelled, call.action) }
      guard piece.count <= (expected ?? limit) - count else { throw error(.tooLarge, call.action) }
      count += piece.count
      try await receive(piece)
    }
    switch end {
    case .noAnswer(let failure), .body(let failure?):
      throw error(failure == .notTrusted ? .notTrusted : .unreachable, call.action)
    case .head, .body(nil): break
    }
    // The connection ended before the whole body arrived.
    if let expected, count < expected { throw error(.unreachable, call.action) }
  }

  /// Converts an error of the rules, or a cancellation, into the error of a call.
  private func translated(_ error: DownloadError, _ action: DeviceClientError.Action) -> DeviceClientError {
    switch error.code {
    case .cancelled: self.error(.cancelled, action)
    case .privateAddress: self.error(.privateAddress, action)
    default: self.error(.unreachable, action)
    }
  }

  /// Returns the error for a refused request, with the code of the service's problem document.
  private func refusal(
    _ code: DeviceClientError.Code, _ answer: SoundAnswer, _ action: DeviceClientError.Action
  ) async -> DeviceClientError {
    struct Problem: Decodable { var code: String }
    var data = Data()
    var pieces = answer.body.makeAsyncIterator()
    while data.count <= Self.maximumProblemBytes, let piece = try? await pieces.next() {
      data += piece.prefix(Self.maximumProblemBytes + 1 - data.count)
    }
    // The code is passed on only if it has the form of a code, because the error's text may be logged.
    let problem = (try? JSONDecoder().decode(Problem.self, from: data))?.code
    let isCode = problem.map { (1...64).contains($0.utf8.count) && $0.utf8.allSatisfy(Self.isCodeByte) } ?? false
    let seconds = answer.fields["retry-after"].flatMap { Int($0) }.map { min(max($0, 0), 86_400) }
    return DeviceClientError(
      code, action, host: host, status: answer.status, problem: isCode ? problem : nil,
      retryAfter: seconds.map { .seconds($0) })
  }

  private static func isCodeByte(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
  }
}

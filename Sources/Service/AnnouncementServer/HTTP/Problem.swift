// SPDX-License-Identifier: Apache-2.0

import AnnouncementService
import Announcements
import Announcer
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Ledger
import NIOCore
import Playback
import ServiceAccess
import SoundFiles
import SoundLibrary
import SpeechEngine

/// A problem document (RFC 9457): the form in which clients receive an error. It contains no amounts, names or tokens.
struct Problem: Error, Sendable, Hashable, CustomStringConvertible {
  var status: HTTPResponse.Status
  /// The stable code that programs can evaluate.
  var code: String
  /// The text for people: what is wrong and what to do next.
  var detail: String
  /// The time after which another attempt may succeed, in seconds.
  var retryAfter: Int?
  /// All faults of a payload, beginning with the fault that ``detail`` describes; empty for other problems.
  var faults: [Fault] = []
  /// Additional header fields, such as `Allow`.
  var headers: HTTPFields = [:]

  init(_ status: HTTPResponse.Status, _ code: String, _ detail: String, retryAfter: Int? = nil) {
    self.status = status
    self.code = code
    self.detail = detail
    self.retryAfter = retryAfter
  }

  /// A fault of one key of a payload.
  struct Fault: Sendable, Hashable, Encodable {
    /// The key and the keys around it, with periods between them: `payment.amount`.
    var path: String
    var code: String
    var detail: String

    init(_ error: AnnouncementError) {
      // A conflict names two keys: `amount and minor`.
      path = error.subject.split(separator: " ").first.map(String.init) ?? error.subject
      (code, detail) = (error.code.rawValue, error.description)
    }
  }

  var description: String { "\(code): \(detail)" }

  /// Returns the problem for something that does not exist, or that the sender may not see.
  static func notFound(_ detail: String) -> Problem { Problem(.notFound, "not_found", detail) }

  /// Returns the problem for a field of a body, or a parameter, with a value that cannot be used.
  static func fieldInvalid(_ detail: String) -> Problem { Problem(.unprocessableContent, "field_invalid", detail) }

  /// Returns the problem for a parameter that is malformed, or that the route does not know.
  static func parameterInvalid(_ detail: String) -> Problem { Problem(.badRequest, "parameter_invalid", detail) }

  /// - Parameter template: The template of the path that was probably meant.
  static func notFound(meant template: String?) -> Problem {
    let meant = template.map { "Did you mean \($0), without a slash at the end?" }
    return notFound("There is no call with this path. \(meant ?? "The paths are listed in /openapi.json.")")
  }

  private struct Document: Encodable {
    var type = "about:blank"
    var title: String
    var status: Int
    var code: String
    var detail: String
    var errors: [Fault]?
    var requestID: String
  }

  func response(requestID: String) -> Response {
    let document = Document(
      title: status.reasonPhrase, status: status.code, code: code, detail: detail,
      errors: faults.isEmpty ? nil : faults, requestID: requestID)
    var response = Response(
      status: status, headers: headers,
      body: ResponseBody(byteBuffer: (try? ServiceJSON.buffer(of: document)) ?? ByteBuffer()))
    response.headers[.contentType] = "application/problem+json"
    response.headers[.cacheControl] = "no-store"
    if let retryAfter { response.headers[.retryAfter] = String(retryAfter) }
    if status == .unauthorized { response.headers[.wwwAuthenticate] = "Bearer realm=\"crier\"" }
    return response
  }
}

extension HTTPResponse.Status {
  /// The status 507 of RFC 4918, section 11.5, for which the library has no name.
  static let insufficientStorage = HTTPResponse.Status(code: 507, reasonPhrase: "Insufficient Storage")
}

extension HTTPField.Name {
  static let requestID = HTTPField.Name(token: "X-Request-Id")
  static let idempotencyKey = HTTPField.Name(token: "Idempotency-Key")
  static let lastEventID = HTTPField.Name(token: "Last-Event-ID")
  static let prefer = HTTPField.Name(token: "Prefer")
  static let preferenceApplied = HTTPField.Name(token: "Preference-Applied")
  static let forwardedFor = HTTPField.Name(token: "X-Forwarded-For")
  static let announcementID = HTTPField.Name(token: "Crier-Announcement-Id")
  static let messageFault = HTTPField.Name(token: MessageFault.field)

  /// Creates a name from a constant of this program.
  ///
  /// - Parameter token: A valid token (RFC 9110, section 5.6.2).
  init(token: String) {
    // Not from outside: each caller passes a constant.
    guard let name = HTTPField.Name(token) else { preconditionFailure("The name of a header field must be a token.") }
    self = name
  }
}

// MARK: - Errors of other modules

extension Problem {
  /// Creates the problem for an error of any module.
  init(_ error: any Error) {
    if let problem = error as? Problem {
      self = problem
      return
    }
    let report = ErrorReport(error)
    switch error {
    case let error as AcceptanceError:
      let status: HTTPResponse.Status =
        error.code == .idConflict
        ? .conflict : RequestFault.isCause(of: error) ? .unprocessableContent : .internalServerError
      self.init(status, error.code.rawValue, error.message)
    case let error as AnnouncementError:
      let isCause = RequestFault.isCause(of: error)
      self.init(isCause ? .unprocessableContent : Self.status(of: error.code), report.code, report.message)
      if isCause { faults = ([error] + error.others).map(Fault.init) }
    case _ where RequestFault.isCause(of: error): self.init(.unprocessableContent, report.code, report.message)
    case let error as SpeechEngineError: self.init(error, report)
    case let error as SoundLibraryError: self.init(error, report)
    case let error as LedgerError: self.init(error)
    case let error as PlayerError: self.init(error)
    case let error as AccessError: self.init(error)
    case let refusal as AccountWork.Refusal: self.init(refusal)
    case is CancellationError: self = .stopping
    case _ where Self.saysDiskIsFull(error): self = .diskFull
    default: self.init(.internalServerError, report.code, report.message)
    }
  }

  /// Returns whether an error means that the disk is full. For files, Foundation reports this in its own error domain,
  /// usually as the underlying error of a less specific error.
  private static func saysDiskIsFull(_ error: any Error) -> Bool {
    let error = error as NSError
    let cause = error.userInfo[NSUnderlyingErrorKey] as? NSError
    return [error, cause].compactMap(\.self).contains { error in
      (error.domain == NSPOSIXErrorDomain && [ENOSPC, EDQUOT].contains(Int32(error.code)))
        || (error.domain == NSCocoaErrorDomain && error.code == CocoaError.fileWriteOutOfSpace.rawValue)
    }
  }

  /// Returns the text of an error for the log. The texts of this project's errors contain no amounts and no names, but
  /// the texts of other errors may.
  static func loggable(_ error: any Error) -> String {
    switch error {
    case is LedgerError, is PlayerError, is AccessError, is AcceptanceError, is Problem: "\(error)"
    default: ErrorReport(error).message
    }
  }

  static let stopping = Problem(
    .serviceUnavailable, "stopping", "The service is stopping. Try again in a moment.", retryAfter: 5)

  private static func status(of code: AnnouncementError.Code) -> HTTPResponse.Status {
    switch code {
    case .payloadTooLarge: .contentTooLarge
    case .payloadMalformed: .badRequest
    default: .internalServerError
    }
  }

  private init(_ error: SpeechEngineError, _ report: ErrorReport) {
    switch error.code {
    case .queueFull:
      self.init(
        .serviceUnavailable, "engine_busy",
        "The speech engine's queue is full. Try again in a moment.", retryAfter: 1)
    case .engineUnavailable, .speakerDied:
      self.init(.serviceUnavailable, report.code, report.message, retryAfter: 5)
    case .cancelled: self = .stopping
    default: self.init(.internalServerError, report.code, report.message)
    }
  }

  private init(_ error: SoundLibraryError, _ report: ErrorReport) {
    switch error.code {
    case .noSpace: self = .diskFull
    case .busy, .tooManyOpenFiles:
      self.init(
        .serviceUnavailable, "busy", "Too many clips are being stored or read. Try again in a moment.",
        retryAfter: 1)
    case .invalidGroupName: self.init(.unprocessableContent, "option_invalid", "group: \(report.message)")
    default:
      // The path of the folder must not be revealed to clients.
      self.init(.internalServerError, report.code, "A clip could not be stored or read. See the service's log.")
    }
  }

  static let diskFull = Problem(
    .insufficientStorage, "disk_full", "The service's disk is full. Try again when it has free space.", retryAfter: 30)

  private static let databaseUnavailable = Problem(
    .serviceUnavailable, "busy",
    "The service cannot use its database now. Send the same request again in a moment.", retryAfter: 1)

  private init(_ error: LedgerError) {
    func conflict(_ detail: String) -> Problem { Problem(.conflict, error.code.rawValue, detail) }
    switch error.code {
    case .diskFull: self = .diskFull
    case .busy, .waitingListFull, .tooManyCommands:
      self.init(
        .serviceUnavailable, "busy", "Too many writes are waiting. Try again in a moment.", retryAfter: 1)
    case .unreachable, .outcomeUnknown: self = .databaseUnavailable
    // A server that became a standby, or that refuses the service's user, is a fault of the operator and not of the
    // request.
    case .readOnly where error.server != nil, .notPermitted where error.server != nil: self = .databaseUnavailable
    case .tooManyReplays: self = .tooManyReplays(retryAfter: 10)
    case .tooManyDevices:
      self = conflict(
        "The account or the device_group has reached the limit of its devices. Remove those that are no longer used.")
    case .tooManyEnumerators:
      self = conflict(
        "The device or the account has reached the limit of its enumerators. Remove those that were invalidated.")
    case .deviceNameTaken:
      self = conflict(
        "A device and a group of devices would have the same name. Choose another id, or another device_group.")
    case .tooManyWebhookEndpoints:
      self = conflict(
        "The account has \(Ledger.mostWebhookEndpoints) webhook endpoints. Remove those that are no longer used.")
    case .webhookEndpointExists:
      self = conflict(
        "The account has another webhook endpoint with this URL. Give another URL, or remove the other endpoint.")
    case .invalidValue:
      self = .fieldInvalid("A value cannot be stored: \(error.field ?? "it is too long"). Correct it.")
    default:
      self.init(
        .internalServerError, error.code.rawValue, "The ledger could not be read or written. See the service's log.")
    }
  }

  private init(_ error: PlayerError) {
    switch error.code {
    case .nothingToReplay:
      self.init(
        .conflict, error.code.rawValue,
        "Nothing was played on this output yet, or the announcement has not ended. Wait until it has ended.")
    case .notRunning, .alreadyStarted: self = .noPlayer
    case .volumeInvalid: self.init(.unprocessableContent, error.code.rawValue, "\(error)")
    }
  }

  /// Returns the problem for too many replays.
  ///
  /// - Parameter retryAfter: The time after which another attempt may succeed, in seconds.
  static func tooManyReplays(retryAfter: Int) -> Problem {
    Problem(
      .tooManyRequests, "too_many_replays",
      "Too many replays are waiting, or were requested within a minute. Wait for the time "
        + "in Retry-After, or cancel one.",
      retryAfter: retryAfter)
  }

  static let noPlayer = Problem(
    .serviceUnavailable, "player_unavailable",
    "The service has no player: it was started without an output, or another program is using the output. Start the "
      + "service with an output, or stop the other program.", retryAfter: 5)

  private init(_ error: AccessError) {
    switch error.code {
    case .tooManyRemembered: self.init(.tooManyRequests, error.code.rawValue, "\(error)", retryAfter: 60)
    case .rateLimitInvalid, .secretTooShort, .notSignable:
      self.init(.internalServerError, "internal_error", "\(error)")
    default: self.init(.unauthorized, error.code.rawValue, "\(error)")
    }
  }
}

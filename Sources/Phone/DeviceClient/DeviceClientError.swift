// SPDX-License-Identifier: Apache-2.0

/// The reason why a call of the service failed.
public struct DeviceClientError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error codes, for programs.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The service does not accept the key: it was revoked, or it does not allow this call.
    case unauthorized
    /// The service does not have the device, the clip or the file.
    case notFound = "not_found"
    /// The anchor is too old, or belongs to another library. List everything again without an anchor.
    case anchorExpired = "anchor_expired"
    /// The device or its account has sent too many requests.
    case tooMany = "too_many"
    /// The service refused the request for any other reason, or redirected it.
    case refused
    /// The service is too busy for the request now.
    case serverBusy = "server_busy"
    /// The service reported an internal error.
    case serverFailed = "server_failed"
    /// There is no connection to the service, or the connection broke.
    case unreachable
    /// The certificate of the service is invalid, or the client and the service support no common encryption.
    case notTrusted = "not_trusted"
    /// The host has a private address, which the rules do not allow.
    case privateAddress = "private_address"
    /// The answer does not have the documented form.
    case unreadableAnswer = "unreadable_answer"
    /// The bytes of a file do not have the requested digest.
    case digestMismatch = "digest_mismatch"
    /// The answer has more bytes than allowed or declared.
    case tooLarge = "too_large"
    /// A file could not be written; see ``DeviceClientError/systemError``.
    case diskFailure = "disk_failure"
    /// The URL of the service, the key or a name has a form that cannot be sent. Nothing was sent.
    case invalidURL = "invalid_url"
    /// The caller's task was cancelled.
    case cancelled
    /// The call took longer than the rules allow.
    case tookTooLong = "took_too_long"
  }

  /// The call that failed.
  public enum Action: String, Sendable, Hashable, CaseIterable {
    case catchingUp = "catching_up"
    case registering
    case beginningEnumeration = "beginning_enumeration"
    case endingEnumeration = "ending_enumeration"
    case readingLibrary = "reading_library"
    case fetchingFile = "fetching_file"
    case sendingReceipts = "sending_receipts"
  }

  public let code: Code
  public let action: Action

  /// The host of the service; nil if its URL has none.
  public let host: String?

  /// The HTTP status of the answer; nil if the error has another cause than a status.
  public let status: Int?

  /// The `code` of the service's problem document, such as `scope_missing`; nil if there is none.
  public let problem: String?

  /// The time after which the service allows another request; nil if it states none.
  public let retryAfter: Duration?

  /// The system's `errno` for the code `diskFailure`; otherwise nil.
  public let systemError: Int32?

  package init(
    _ code: Code, _ action: Action, host: String?, status: Int? = nil, problem: String? = nil,
    retryAfter: Duration? = nil, systemError: Int32? = nil
  ) {
    self.code = code
    self.action = action
    self.host = host
    self.status = status
    self.problem = problem
    self.retryAfter = retryAfter
    self.systemError = systemError
  }

  /// The call, the host, the cause and the next step. The text contains neither the key nor an id of a payment.
  public var description: String {
    "\(attempt)\(host.map { " at \($0)" } ?? "") failed: \(cause)\(detail). \(remedy)"
  }

  private var attempt: String {
    switch action {
    case .catchingUp: "Asking for missed announcements"
    case .registering: "Registering the device"
    case .beginningEnumeration: "Telling the service what is shown"
    case .endingEnumeration: "Telling the service what is no longer shown"
    case .readingLibrary: "Asking for changes of the library"
    case .fetchingFile: "Fetching a file of the library"
    case .sendingReceipts: "Telling the service what was handed over"
    }
  }

  private var cause: String {
    switch code {
    case .unauthorized: "the service does not accept the device's key"
    case .notFound: action == .fetchingFile ? "the service does not have the file" : "the service has no such device"
    case .anchorExpired: "the anchor has expired"
    case .tooMany: "there were too many requests"
    case .refused: (300...399).contains(status ?? 0) ? "the answer is a redirect" : "the service refused the request"
    case .serverBusy: "the service is busy"
    case .serverFailed: "the service has a fault"
    case .unreachable: "there is no connection to the service, or it broke"
    case .notTrusted: "the certificate of the service is not valid"
    case .privateAddress: "the host has a private address"
    case .unreadableAnswer: "the answer has another form than documented"
    case .digestMismatch: "the bytes do not have the requested digest"
    case .tooLarge: "the answer is larger than allowed or declared"
    case .diskFailure: "the file could not be written"
    case .invalidURL: "the URL of the service, the key or a name cannot be sent"
    case .cancelled: "it was cancelled"
    case .tookTooLong: "the time limit is over"
    }
  }

  private var detail: String {
    let parts = [status.map { "status \($0)" }, problem, systemError.map { "error \($0) of the system" }]
    let text = parts.compactMap(\.self).joined(separator: ", ")
    return text.isEmpty ? "" : " (\(text))"
  }

  private var remedy: String {
    switch code {
    case .unauthorized: "Let the shop's backend register the device with \"new_key\", and store the new key."
    case .notFound:
      action == .fetchingFile
        ? "It was removed; ask for the changes of the library." : "Let the shop's backend register the device."
    case .anchorExpired: "List everything again without an anchor."
    case .tooMany, .serverBusy, .serverFailed: "Try again later."
    case .refused:
      (300...399).contains(status ?? 0) ? "Give the final URL of the service." : "Correct the request; see the status."
    case .unreachable: "Check the network, and try again later."
    case .notTrusted: "Install a valid certificate on the service's host."
    case .privateAddress: "Use a public host, or allow private addresses."
    case .unreadableAnswer: "Check that the URL is that of the service, and update the app."
    case .digestMismatch: "Try again; if the error stays, check the files of the service."
    case .tooLarge: "Check that the URL is that of the service."
    case .diskFailure: "Free some space, and try again."
    case .invalidURL: "Give a URL such as https://crier.example, and the key as the service showed it."
    case .cancelled: "Start it again if you need the answer."
    case .tookTooLong: "Try again, or raise the time limit."
    }
  }
}

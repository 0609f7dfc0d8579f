// SPDX-License-Identifier: Apache-2.0

/// The reason why there is no attachment. No file was left behind.
public struct AttachmentError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error codes, for programs.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The URL has no valid host or port, or a scheme other than `https` and `http`.
    case invalidURL = "invalid_url"
    /// The URL begins with `http:`, which the rules do not allow.
    case notEncrypted = "not_encrypted"
    /// The URL contains a user name or a password.
    case credentialsInURL = "credentials_in_url"
    /// The host has a private address, which the rules do not allow.
    case privateAddress = "private_address"
    /// No address is known for the host.
    case hostNotFound = "host_not_found"
    /// The host does not accept a connection.
    case cannotConnect = "cannot_connect"
    /// The host's certificate is invalid, or the two sides agree on no encryption.
    case notTrusted = "not_trusted"
    /// The connection broke.
    case connectionLost = "connection_lost"
    /// There are fewer bytes than declared.
    case truncated
    /// It took longer than `DownloadRules.longest`.
    case tookTooLong = "took_too_long"
    /// There are more bytes than ``AttachmentKind/Family/maximumBytes``.
    case tooLarge = "too_large"
    /// There are more bytes than declared, or the declared number is not one.
    case lengthMismatch = "length_mismatch"
    /// A redirect leads to a URL that was already requested.
    case redirectCircle = "redirect_circle"
    /// There are more redirects than `DownloadRules.mostRedirects`.
    case tooManyRedirects = "too_many_redirects"
    /// A redirect names no URL that can be requested.
    case invalidRedirect = "invalid_redirect"
    /// A redirect leads from `https` to `http`.
    case insecureRedirect = "insecure_redirect"
    /// The server wants a login, or forbids the download.
    case accessRefused = "access_refused"
    /// The server does not have the attachment, or there is no such local file.
    case notFound = "not_found"
    /// The server has no time for the download now.
    case serverBusy = "server_busy"
    /// The server reported a fault of its own.
    case serverFailed = "server_failed"
    /// The server answered with a status that is no answer to the request.
    case unexpectedStatus = "unexpected_status"
    /// The answer is compressed, although the request does not accept this.
    case compressedAnswer = "compressed_answer"
    /// The first bytes are those of no ``AttachmentKind``.
    case unknownContent = "unknown_content"
    /// There are no bytes.
    case empty
    /// The format is known but not accepted here.
    case kindRefused = "kind_refused"
    /// The local file cannot be read, or is not a regular file.
    case notReadable = "not_readable"
    /// The attachment could not be stored.
    case notStored = "not_stored"
    /// The caller's task was cancelled.
    case cancelled
  }

  public let code: Code

  /// The host of the URL that failed; nil for a local file and for a URL without a host. The path and the query are
  /// left out, because they may contain secrets.
  public let host: String?

  /// The status of the server's answer; nil when the status is not the reason.
  public let status: Int?

  /// What the system reported, or the limit that was exceeded; nil for other codes.
  public let reason: String?

  init(_ code: Code, host: String? = nil, status: Int? = nil, reason: String? = nil) {
    self.code = code
    self.host = host
    self.status = status
    self.reason = reason
  }

  /// The attempt, the host, the cause and the next step.
  public var description: String {
    "Getting an attachment\(host.map { " from \($0)" } ?? "") failed: \(cause). \(remedy)"
  }

  private var cause: String {
    switch code {
    case .invalidURL: "the URL has no valid host or port, or its scheme is not https"
    case .notEncrypted: "the URL begins with http:, so anybody on the way could replace the attachment"
    case .credentialsInURL: "the URL contains a user name or a password"
    case .privateAddress: "the host has a private address"
    case .hostNotFound: "the host has no address"
    case .cannotConnect: "the host does not accept a connection"
    case .notTrusted: "the host's certificate is not valid"
    case .connectionLost: "the connection broke"
    case .truncated: "there are fewer bytes than declared"
    case .tookTooLong: "the time limit is over"
    case .tooLarge: "the attachment is too large\(shownReason)"
    case .lengthMismatch: "there are more bytes than declared, or the declared number is invalid"
    case .redirectCircle: "the redirects form a circle"
    case .tooManyRedirects: "there are too many redirects"
    case .invalidRedirect: "a redirect has no valid Location"
    case .insecureRedirect: "a redirect leads from https to http"
    case .accessRefused: "the server refuses access\(shownStatus)"
    case .notFound: host == nil ? "there is no such file" : "the server does not have the attachment\(shownStatus)"
    case .serverBusy: "the server is busy\(shownStatus)"
    case .serverFailed: "the server has a fault\(shownStatus)"
    case .unexpectedStatus: "the server sent an unexpected status\(shownStatus)"
    case .compressedAnswer: "the answer is compressed"
    case .unknownContent: "the content is not of a format that a notification can show"
    case .empty: "the attachment is empty"
    case .kindRefused: "the content is of a known format that is not accepted here"
    case .notReadable: "the file cannot be read\(shownReason)"
    case .notStored: "the attachment could not be stored\(shownReason)"
    case .cancelled: "it was cancelled"
    }
  }

  /// The next step.
  public var remedy: String {
    switch code {
    case .invalidURL: "Give a URL such as https://example.com/picture.jpg."
    case .notEncrypted: "Use https, or allow unencrypted downloads."
    case .credentialsInURL: "Remove them; use a signed URL if the server needs a proof."
    case .privateAddress: "Use a public host, or allow private addresses."
    case .hostNotFound: "Check the host's name and the network."
    case .cannotConnect: "Check the port, and whether the server runs."
    case .notTrusted: "Install a valid certificate on the server."
    case .connectionLost, .serverBusy, .serverFailed: "Try again later."
    case .truncated: "Check the file at its source, and try again."
    case .tookTooLong: "Use a smaller file, or raise the time limit."
    case .tooLarge: "Use a smaller file."
    case .lengthMismatch: host == nil ? "Copy the file when it no longer changes." : "Mend the server's Content-Length."
    case .redirectCircle, .tooManyRedirects, .invalidRedirect: "Give the attachment's final URL."
    case .insecureRedirect: "Let the server redirect to https."
    case .accessRefused: "Make the file public, or use a signed URL that has not expired."
    case .notFound: host == nil ? "Check the path." : "Check the URL."
    case .unexpectedStatus: "Give the URL of a file that the server sends with status 200."
    case .compressedAnswer: "Let the server send the file without Content-Encoding."
    case .unknownContent:
      "Use JPEG, PNG or GIF; WAV, AIFF, MP3 or MPEG-4 audio; an MPEG-4, QuickTime, MPEG or AVI movie. Give the URL of "
        + "the file itself, not of a page about it."
    case .empty: "Check the file at its source."
    case .kindRefused: "Use a JPEG, PNG or GIF file as the picture of a person."
    case .notReadable: "Give the URL of a regular file that the program may read."
    case .notStored: "Mend this, and try again."
    case .cancelled: "Start it again if you need the attachment."
    }
  }

  private var shownStatus: String { status.map { " (status \($0))" } ?? "" }
  private var shownReason: String { reason.map { ": \($0)" } ?? "" }
}

// SPDX-License-Identifier: Apache-2.0

/// The reason why a sound was not downloaded. The library is unchanged.
public struct SoundDownloadError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error codes, for programs.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The URL has no valid host or port, or a scheme other than `https` and `http`.
    case invalidURL = "invalid_url"
    /// The URL begins with `http:`, which the rules do not allow.
    case notEncrypted = "not_encrypted"
    /// The URL contains a user name or a password.
    case credentialsInURL = "credentials_in_url"
    /// The file name breaks the rule of `SoundLibrary.publish(_:as:)`.
    case invalidName = "invalid_name"
    /// The host has a private address, which the rules do not allow.
    case privateAddress = "private_address"
    /// No address is known for the host.
    case hostNotFound = "host_not_found"
    /// The host does not accept a connection.
    case cannotConnect = "cannot_connect"
    /// The host's certificate is invalid, or the two sides agree on no encryption.
    case notTrusted = "not_trusted"
    /// The connection broke too often.
    case connectionLost = "connection_lost"
    /// The answer ended before the number of bytes that it had declared, too often.
    case truncated
    /// The download took longer than ``DownloadRules/longest``.
    case tookTooLong = "took_too_long"
    /// The answer has more bytes than ``DownloadRules/mostBytes``.
    case tooLarge = "too_large"
    /// The answer has more bytes than it had declared.
    case lengthMismatch = "length_mismatch"
    /// A redirect leads to a URL that was already requested.
    case redirectCircle = "redirect_circle"
    /// There are more redirects than ``DownloadRules/mostRedirects``.
    case tooManyRedirects = "too_many_redirects"
    /// A redirect names no URL that can be requested.
    case invalidRedirect = "invalid_redirect"
    /// A redirect leads from `https` to `http`.
    case insecureRedirect = "insecure_redirect"
    /// The server wants a login, or forbids the download.
    case accessRefused = "access_refused"
    /// The server does not have the sound.
    case notFound = "not_found"
    /// The server has no time for the download now.
    case serverBusy = "server_busy"
    /// The server reported a fault of its own.
    case serverFailed = "server_failed"
    /// The server answered with a status that is no answer to the request.
    case unexpectedStatus = "unexpected_status"
    /// A resumed download continues with other bytes than the missing ones.
    case wrongRange = "wrong_range"
    /// The answer is compressed, although the request does not accept this.
    case compressedAnswer = "compressed_answer"
    /// The answer is not a sound, by its content type or its first bytes.
    case notASound = "not_a_sound"
    /// The answer has no bytes.
    case emptyAnswer = "empty_answer"
    /// The extension of the given file name does not fit the sound's format.
    case wrongExtension = "wrong_extension"
    /// The file is not the expected one: its size or its digest differs.
    case wrongDigest = "wrong_digest"
    /// The content check refused the sound.
    case contentRefused = "content_refused"
    /// The sound could not be published in the library.
    case notPublished = "not_published"
    /// The caller's task was cancelled.
    case cancelled
  }

  public let code: Code

  /// The host of the URL that failed; nil when the URL has none. The path and the query are left out, because they may
  /// contain secrets.
  public let host: String?

  /// The status of the server's answer; nil when the status is not the reason.
  public let status: Int?

  /// The text of the error that the content check or the library reported; nil for other codes.
  public let reason: String?

  init(_ code: Code, host: String? = nil, status: Int? = nil, reason: String? = nil) {
    self.code = code
    self.host = host
    self.status = status
    self.reason = reason
  }

  /// The attempt, the host, the cause and the next step.
  public var description: String {
    "Downloading a sound\(host.map { " from \($0)" } ?? "") failed: \(cause). \(remedy)"
  }

  private var cause: String {
    switch code {
    case .invalidURL: "the URL has no valid host or port, or its scheme is not https"
    case .notEncrypted: "the URL begins with http:, so anybody on the way could replace the sound"
    case .credentialsInURL: "the URL contains a user name or a password"
    case .invalidName: "the file name is invalid"
    case .privateAddress: "the host has a private address"
    case .hostNotFound: "the host has no address"
    case .cannotConnect: "the host does not accept a connection"
    case .notTrusted: "the host's certificate is not valid"
    case .connectionLost: "the connection broke several times"
    case .truncated: "the answer has fewer bytes than it declares"
    case .tookTooLong: "the time limit is over"
    case .tooLarge: "the answer is larger than the size limit"
    case .lengthMismatch: "the answer has more bytes than it declares"
    case .redirectCircle: "the redirects form a circle"
    case .tooManyRedirects: "there are too many redirects"
    case .invalidRedirect: "a redirect has no valid Location"
    case .insecureRedirect: "a redirect leads from https to http"
    case .accessRefused: "the server refuses access\(shownStatus)"
    case .notFound: "the server does not have the sound\(shownStatus)"
    case .serverBusy: "the server is busy\(shownStatus)"
    case .serverFailed: "the server has a fault\(shownStatus)"
    case .unexpectedStatus: "the server sent an unexpected status\(shownStatus)"
    case .wrongRange: "after a broken transfer, the server sent other bytes than the missing ones"
    case .compressedAnswer: "the answer is compressed"
    case .notASound: "the answer is not a WAV, AIFF or CAF file"
    case .emptyAnswer: "the answer is empty"
    case .wrongExtension: "the extension of the file name does not fit the sound's format"
    case .wrongDigest: "the file is not the one that was announced"
    case .contentRefused: "the sound was refused\(shownReason)"
    case .notPublished: "the sound could not be stored\(shownReason)"
    case .cancelled: "it was cancelled"
    }
  }

  private var remedy: String {
    switch code {
    case .invalidURL: "Give a URL such as https://example.com/sound.wav."
    case .notEncrypted: "Use https, or allow unencrypted downloads."
    case .credentialsInURL: "Remove them; use a signed URL if the server needs a proof."
    case .invalidName:
      "Use at most 255 bytes that end in .wav, .aiff or .caf, without \"/\", without control characters and without "
        + "\".\" at the start. It must not be the name of a rendered clip."
    case .privateAddress: "Use a public host, or allow private addresses."
    case .hostNotFound: "Check the host's name and the network."
    case .cannotConnect: "Check the port, and whether the server runs."
    case .notTrusted: "Install a valid certificate on the server."
    case .connectionLost, .serverBusy, .serverFailed: "Try again later."
    case .truncated: "Check the file on the server, and try again."
    case .tookTooLong: "Try again, use a smaller file, or raise the time limit."
    case .tooLarge: "Use a sound of less than 30 seconds, or raise the size limit."
    case .lengthMismatch: "Mend the server's Content-Length."
    case .redirectCircle, .tooManyRedirects, .invalidRedirect: "Give the sound's final URL."
    case .insecureRedirect: "Let the server redirect to https."
    case .accessRefused: "Make the sound public, or use a signed URL that has not expired."
    case .notFound: "Check the URL."
    case .unexpectedStatus: "Give the URL of a file that the server sends with status 200."
    case .wrongRange: "Try again; if the error stays, mend the server's range requests."
    case .compressedAnswer: "Let the server send the file without Content-Encoding."
    case .notASound: "Give the URL of the file itself, not of a page about it."
    case .emptyAnswer: "Check the file on the server."
    case .wrongExtension: "Use the extension of the format: .wav, .aiff or .caf."
    case .wrongDigest: "Ask for the announcement again, or use another sound."
    case .contentRefused: "Replace the file on the server."
    case .notPublished: "Mend this, and try again."
    case .cancelled: "Start it again if you need the sound."
    }
  }

  private var shownStatus: String { status.map { " (status \($0))" } ?? "" }
  private var shownReason: String { reason.map { ": \($0)".droppingFinalStop } ?? "" }
}

extension String {
  /// The text without the full stop at its end, so that it can stand within a sentence.
  fileprivate var droppingFinalStop: String { hasSuffix(".") ? String(dropLast()) : self }
}

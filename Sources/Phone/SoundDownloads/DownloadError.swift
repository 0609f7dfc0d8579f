// SPDX-License-Identifier: Apache-2.0

/// The reason why a sound or an attachment was not downloaded, or why an attachment was not copied. The sound library
/// is unchanged, and no file was left behind.
public struct DownloadError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kind of content that was to be downloaded.
  public enum Content: String, Sendable, Hashable, CaseIterable { case sound, attachment }

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
    /// No address was found for the host.
    case hostNotFound = "host_not_found"
    /// The host does not accept a connection.
    case cannotConnect = "cannot_connect"
    /// The host's certificate is invalid, or the client and the host support no common encryption.
    case notTrusted = "not_trusted"
    /// The connection broke too often.
    case connectionLost = "connection_lost"
    /// Too many answers ended before the number of bytes that they had declared.
    case truncated
    /// The download took longer than ``DownloadRules/longest``.
    case tookTooLong = "took_too_long"
    /// The sound has more bytes than ``DownloadRules/mostBytes``, or the attachment more than its format allows.
    case tooLarge = "too_large"
    /// The answer has more bytes than it declared.
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
    /// The server does not have the file, or there is no such local file.
    case notFound = "not_found"
    /// The server is too busy for the download now.
    case serverBusy = "server_busy"
    /// The server reported an internal error.
    case serverFailed = "server_failed"
    /// The server answered with a status that does not fit the request.
    case unexpectedStatus = "unexpected_status"
    /// A resumed download continues with bytes other than the missing ones.
    case wrongRange = "wrong_range"
    /// The answer is compressed, although the request does not accept this.
    case compressedAnswer = "compressed_answer"
    /// The content type or the first bytes of the answer are not those of a sound.
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
    /// The first bytes belong to no known format of attachments.
    case unknownContent = "unknown_content"
    /// The attachment's format is known but not accepted here.
    case kindRefused = "kind_refused"
    /// The local file cannot be read, or is not a regular file.
    case notReadable = "not_readable"
    /// The attachment could not be stored.
    case notStored = "not_stored"
    /// The caller's task was cancelled.
    case cancelled

    package init(_ failure: SoundFetchError) {
      self =
        switch failure {
        case .hostNotFound: .hostNotFound
        case .cannotConnect: .cannotConnect
        case .notTrusted: .notTrusted
        case .connectionLost: .connectionLost
        }
    }

    /// Chooses the code for the HTTP status of a failed request.
    package init(status: Int) {
      self =
        switch status {
        case 401, 402, 403, 407: .accessRefused
        case 404, 410: .notFound
        case 429, 503: .serverBusy
        case 500...599: .serverFailed
        default: .unexpectedStatus
        }
    }
  }

  public let code: Code

  public private(set) var content: Content

  /// The host of the URL that failed; nil for a local file or if the URL has none. The path and the query are left out,
  /// because they may contain secrets.
  public let host: String?

  /// The HTTP status of the server's answer; nil if the error has another cause than a status.
  public let status: Int?

  /// The message of the content check, the library or the system, or the limit that was exceeded; nil for other codes.
  public let reason: String?

  package init(
    _ code: Code, of content: Content = .sound, host: String? = nil, status: Int? = nil, reason: String? = nil
  ) {
    self.code = code
    self.content = content
    self.host = host
    self.status = status
    self.reason = reason
  }

  /// Returns the same error for other content.
  package func about(_ content: Content) -> DownloadError {
    var error = self
    error.content = content
    return error
  }

  /// The attempt, the host, the cause and the next step.
  public var description: String {
    let attempt = content == .sound ? "Downloading a sound" : "Getting an attachment"
    return "\(attempt)\(host.map { " from \($0)" } ?? "") failed: \(cause). \(remedy)"
  }

  private var cause: String {
    switch code {
    case .invalidURL: "the URL has no valid host or port, or its scheme is not https"
    case .notEncrypted: "the URL begins with http:, so anybody on the network path could replace the \(content)"
    case .credentialsInURL: "the URL contains a user name or a password"
    case .invalidName: "the file name is invalid"
    case .privateAddress: "the host has a private address"
    case .hostNotFound: "the host has no address"
    case .cannotConnect: "the host does not accept a connection"
    case .notTrusted: "the host's certificate is not valid"
    case .connectionLost: content == .sound ? "the connection broke several times" : "the connection broke"
    case .truncated: "there are fewer bytes than declared"
    case .tookTooLong: "the time limit is over"
    case .tooLarge: "the \(content) is larger than the size limit\(shownReason)"
    case .lengthMismatch: "there are more bytes than declared, or the declared number is invalid"
    case .redirectCircle: "the redirects form a circle"
    case .tooManyRedirects: "there are too many redirects"
    case .invalidRedirect: "a redirect has no valid Location"
    case .insecureRedirect: "a redirect leads from https to http"
    case .accessRefused: "the server refuses access\(shownStatus)"
    case .notFound: isLocal ? "there is no such file" : "the server does not have the \(content)\(shownStatus)"
    case .serverBusy: "the server is busy\(shownStatus)"
    case .serverFailed: "the server has a fault\(shownStatus)"
    case .unexpectedStatus: "the server sent an unexpected status\(shownStatus)"
    case .wrongRange: "after a broken transfer, the server sent other bytes than the missing ones"
    case .compressedAnswer: "the answer is compressed"
    case .notASound: "the answer is not a WAV, AIFF or CAF file"
    case .emptyAnswer: "the \(content) is empty"
    case .wrongExtension: "the extension of the file name does not fit the sound's format"
    case .wrongDigest: "the file is not the one that was announced"
    case .contentRefused: "the sound was refused\(shownReason)"
    case .notPublished: "the sound could not be stored\(shownReason)"
    case .unknownContent: "the content is not of a format that a notification can show"
    case .kindRefused: "the content is of a known format that is not accepted here"
    case .notReadable: "the file cannot be read\(shownReason)"
    case .notStored: "the attachment could not be stored\(shownReason)"
    case .cancelled: "it was cancelled"
    }
  }

  /// The next step.
  package var remedy: String {
    switch code {
    case .invalidURL: "Give a URL such as https://example.com/\(content == .sound ? "sound.wav" : "picture.jpg")."
    case .notEncrypted: "Use https, or allow unencrypted downloads."
    case .credentialsInURL: "Remove them; use a signed URL if the server needs a proof."
    case .invalidName:
      "Use a name of at most 255 bytes that ends in .wav, .aiff or .caf, without \"/\", without control characters "
        + "and without \".\" at the start. It must not be the name of a rendered clip."
    case .privateAddress: "Use a public host, or allow private addresses."
    case .hostNotFound: "Check the host's name and the network."
    case .cannotConnect: "Check the port, and whether the server runs."
    case .notTrusted: "Install a valid certificate on the server."
    case .connectionLost, .serverBusy, .serverFailed: "Try again later."
    case .truncated: "Check the file at its source, and try again."
    case .tookTooLong: "Try again, use a smaller file, or raise the time limit."
    case .tooLarge:
      content == .sound ? "Use a sound of less than 30 seconds, or raise the size limit." : "Use a smaller file."
    case .lengthMismatch: isLocal ? "Copy the file when it no longer changes." : "Mend the server's Content-Length."
    case .redirectCircle, .tooManyRedirects, .invalidRedirect: "Give the final URL of the \(content)."
    case .insecureRedirect: "Let the server redirect to https."
    case .accessRefused: "Make the file public, or use a signed URL that has not expired."
    case .notFound: isLocal ? "Check the path." : "Check the URL."
    case .unexpectedStatus: "Give the URL of a file that the server sends with status 200."
    case .wrongRange: "Try again; if the error stays, mend the server's range requests."
    case .compressedAnswer: "Let the server send the file without Content-Encoding."
    case .notASound: "Give the URL of the file itself, not of a page about it."
    case .emptyAnswer: "Check the file at its source."
    case .wrongExtension: "Use the extension of the format: .wav, .aiff or .caf."
    case .wrongDigest: "Ask for the announcement again, or use another sound."
    case .contentRefused: "Replace the file on the server."
    case .notPublished, .notStored: "Mend this, and try again."
    case .unknownContent:
      "Use JPEG, PNG or GIF; WAV, AIFF, MP3 or MPEG-4 audio; an MPEG-4, QuickTime, MPEG or AVI movie. Give the URL of "
        + "the file itself, not of a page about it."
    case .kindRefused: "Use a JPEG, PNG or GIF file as the picture of a person."
    case .notReadable: "Give the URL of a regular file that the program may read."
    case .cancelled: "Start it again if you need the \(content)."
    }
  }

  private var isLocal: Bool { content == .attachment && host == nil }
  private var shownStatus: String { status.map { " (status \($0))" } ?? "" }
  private var shownReason: String { reason.map { ": \($0)".droppingFinalStop } ?? "" }
}

extension String {
  /// The text without its final full stop, so that it can be part of a sentence.
  fileprivate var droppingFinalStop: String { hasSuffix(".") ? String(dropLast()) : self }
}

// SPDX-License-Identifier: Apache-2.0

/// The reason why a speech server did not speak. The description contains no word of the text, no key, and nothing that
/// the server sent.
public struct SpeechServerError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Code: String, Sendable, Hashable, CaseIterable {
    // The settings.
    case addressInvalid = "address_invalid"
    case keyUnusable = "key_unusable"

    // The words.
    /// The words contain a digit, a symbol or markup. Nothing was sent.
    case wordsUnsendable = "words_unsendable"
    /// The words contain a name or a note, which must not be sent to this server. Nothing was sent.
    case namesStay = "names_stay"

    // The server received no request.
    /// The server has failed before, and gets no requests for a while.
    case resting
    /// The server was busy with earlier words until the time limit.
    case busy
    case cancelled

    // The connection.
    case cannotConnect = "cannot_connect"
    case certificateRefused = "certificate_refused"
    /// The server did not accept the connection in time.
    case connectTimedOut = "connect_timed_out"
    /// The server accepted the words, but sent no sound in time.
    case firstSoundTimedOut = "first_sound_timed_out"
    /// The sound was not complete in time.
    case timedOut = "timed_out"
    /// The server closed the connection before the end of its answer.
    case closedEarly = "closed_early"

    // The answer.
    /// The answer does not follow the protocol.
    case answerInvalid = "answer_invalid"
    /// The answer has more bytes than the limit.
    case answerTooLarge = "answer_too_large"
    /// The server refused the request, for example because it has no such voice.
    case requestRefused = "request_refused"
    /// The server reported that it failed.
    case serverFailed = "server_failed"

    // The sound.
    case formatUnsupported = "format_unsupported"
    /// A length that the server stated differs from the length of the sound, or the end of the sound cannot be known.
    case lengthMismatch = "length_mismatch"
    case soundTooLong = "sound_too_long"
    case noSound = "no_sound"
    /// The sound cannot be a reading of the words; see ``SoundPlausibility``.
    case soundRefused = "sound_refused"
  }

  public var code: Code

  /// The id of the server in the settings; empty if it is not known.
  public var server: String

  /// The problem, as a part of a sentence that follows the name of the server.
  public var problem: String

  /// What to do next.
  public var remedy: String

  /// The reason why a sound was refused, when the code is `soundRefused`.
  public var refusal: SoundPlausibility.Refusal?

  /// The status of the HTTP answer, when the code is `requestRefused` or `serverFailed` and there was one.
  public var status: Int?

  public init(
    _ code: Code, server: String = "", _ problem: String, remedy: String,
    refusal: SoundPlausibility.Refusal? = nil, status: Int? = nil
  ) {
    self.code = code
    self.server = server
    self.problem = problem
    self.remedy = remedy
    self.refusal = refusal
    self.status = status
  }

  /// Whether the server caused the error. Only such errors count as failures in its ``SpeechServerCircuit``.
  public var isOfServer: Bool {
    switch code {
    case .addressInvalid, .keyUnusable, .wordsUnsendable, .namesStay, .resting, .busy, .cancelled: false
    case .cannotConnect, .certificateRefused, .connectTimedOut, .firstSoundTimedOut, .timedOut, .closedEarly,
      .answerInvalid, .answerTooLarge, .requestRefused, .serverFailed, .formatUnsupported, .lengthMismatch,
      .soundTooLong, .noSound, .soundRefused:
      true
    }
  }

  /// The reason as one word for a report, such as `first_sound_timed_out` or `sound_refused:too_short`.
  public var reason: String { refusal.map { "\(code.rawValue):\($0.rawValue)" } ?? code.rawValue }

  public var description: String {
    let subject = server.isEmpty ? "The speech server" : "The speech server \(server)"
    return "\(subject) \(problem); \(remedy)."
  }

  /// Returns the error with the id of the server to which it belongs.
  func naming(_ server: String) -> SpeechServerError {
    var error = self
    error.server = server
    return error
  }
}

// SPDX-License-Identifier: Apache-2.0

import Announcements
import Mastering
import SoundFiles
import SoundLibrary
import SpeechEngine
import VoicePackIntegrity
import VoicePacks

/// The public form of an error, for the command line and the service. It contains no amount, name or note.
public struct ErrorReport: Sendable, Hashable, Codable {
  /// A stable code for programs. It is the error's own code, or `internal_error` for an unexpected error.
  public var code: String

  /// A message for people. It states the problem and what to do next.
  public var message: String

  /// - Parameters:
  ///   - code: A stable code for programs.
  ///   - message: A message for people, without amounts, names and notes.
  public init(code: String, message: String) {
    self.code = code
    self.message = message
  }

  public init(_ error: any Error) {
    message = "\(error)"
    switch error {
    case let error as AnnouncementError: code = error.code.rawValue
    case let error as AnnouncerError: code = error.code.rawValue
    case let error as SpeechEngineError: code = error.code.rawValue
    case let error as MasteringError: code = error.code.rawValue
    case let error as SoundFileError: code = error.code.rawValue
    case let error as VoicePackError: code = error.code.rawValue
    case let error as VoicePackIntegrityError: code = error.code.rawValue
    case let error as SoundLibraryError: code = error.code.rawValue
    default:
      code = "internal_error"
      // The description of an unexpected error may contain a person's name.
      message = "An unexpected internal error occurred (\(type(of: error))). Please report it."
    }
  }
}

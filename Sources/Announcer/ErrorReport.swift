// SPDX-License-Identifier: Apache-2.0

import Announcements
import Mastering
import SoundFiles
import SoundLibrary
import SpeechEngine
import VoicePackIntegrity
import VoicePacks

/// An error as programs are told of it, on the command line and by the service. It holds no amount, name or note.
public struct ErrorReport: Sendable, Hashable, Encodable {
  /// Stable, for programs to branch on: the error's own code, `internal_error` for what should not happen.
  public var code: String

  /// For people: what was wrong, and what to do next.
  public var message: String

  /// - Parameters:
  ///   - code: stable, for programs.
  ///   - message: for people; without amounts, names and notes.
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
      // What an unknown error says about itself may be somebody's name.
      message = "something failed that should not (\(type(of: error))); please report it."
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import FileSystem
public import Foundation

/// The reason why a clip could not be published, read or removed.
public struct SoundLibraryError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error codes, for programs.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// The group's name breaks the rule of ``GroupContainer/init(containers:group:)``.
    case invalidGroupName = "invalid_group_name"
    /// The clip's name breaks the rule of ``SoundLibrary/publish(_:as:)``.
    case invalidClipName = "invalid_clip_name"
    /// The clip is larger than ``SoundLibrary/maximumClipBytes``, or than the system's limit for files.
    case tooLarge = "too_large"
    /// The disk is full, or the user's disk quota is used up.
    case noSpace = "no_space"
    /// The file system is read-only.
    case readOnly = "read_only"
    /// The user does not have the necessary permission.
    case notPermitted = "not_permitted"
    /// A file or a symbolic link is in the place of a folder.
    case notAFolder = "not_a_folder"
    /// A folder has the clip's name and cannot be moved away. Or a folder or a device has the name of the file with the
    /// chosen tone.
    case notAFile = "not_a_file"
    /// The process or the system has no file descriptor left.
    case tooManyOpenFiles = "too_many_open_files"
    /// More processes are publishing in the folder than there are temporary names.
    case busy
    /// Any other error that the system reported; see ``SoundLibraryError/systemError``.
    case systemFailure = "system_failure"
  }

  /// The operation that failed.
  public enum Action: String, Sendable, Hashable {
    case naming
    case publishing
    case reading
    case removing
    /// Reading the preference for a tone.
    case readingPreference = "reading_preference"
    /// Storing or removing the preference for a tone.
    case storingPreference = "storing_preference"
  }

  public let code: Code
  public let action: Action

  /// The folder in which the operation failed, such as `Library/Sounds`; nil if a name was refused.
  public let folder: URL?

  /// The system's `errno`; nil if the error did not come from a system call.
  public let systemError: Int32?

  private let given: String?

  init(code: Code, action: Action = .naming, folder: URL? = nil, systemError: Int32? = nil, given: String? = nil) {
    self.code = code
    self.action = action
    self.folder = folder
    self.systemError = systemError
    self.given = given
  }

  init(_ failure: SystemError, while action: Action, in folder: URL) {
    let code: Code =
      switch failure.kind {
      case .noSpace: .noSpace
      case .readOnly: .readOnly
      case .notPermitted: .notPermitted
      case .tooLarge: .tooLarge
      case .notAFolder: .notAFolder
      case .notAFile: .notAFile
      case .tooManyOpenFiles: .tooManyOpenFiles
      case .busy: .busy
      case .missing, .exists, .interrupted, .invalid, .other: .systemFailure
      }
    self.init(code: code, action: action, folder: folder, systemError: failure.number)
  }

  static func invalidGroupName(_ name: String) -> SoundLibraryError {
    // A name from a command line is printed on a terminal, so its control characters must be escaped.
    let shown = name.unicodeScalars.prefix(60).map { $0.escaped(asASCII: true) }.joined()
    return SoundLibraryError(code: .invalidGroupName, given: shown)
  }

  /// The operation, the folder, the cause and the next step. The text never contains a clip's name.
  public var description: String {
    switch code {
    case .invalidGroupName:
      return
        "The group name \"\(given ?? "")\" is invalid. Use 1 to 155 characters of A-Z, a-z, 0-9, \".\" and \"-\", "
        + "as in \"group.crier\"; it must not start with \".\" or contain \"..\"."
    case .invalidClipName:
      return
        "The clip's name is invalid. Use a name of at most 255 bytes that ends in .wav, .aiff or .caf, without \"/\", "
        + "without control characters and without \".\" at the start."
    default:
      let attempt =
        switch action {
        case .reading: "Reading a clip from"
        case .removing: "Removing a clip from"
        case .publishing, .naming: "Publishing a clip in"
        case .readingPreference: "Reading the chosen tone from"
        case .storingPreference: "Storing the chosen tone in"
        }
      let system = systemError.map { " (\(SystemError(number: $0)))" } ?? ""
      let place = folder?.path(percentEncoded: false) ?? "Library/Sounds"
      return "\(attempt) \(place) failed: \(cause)\(system). \(remedy)"
    }
  }

  private var isAboutPreference: Bool { action == .readingPreference || action == .storingPreference }

  private var cause: String {
    switch code {
    case .tooLarge: "the clip is larger than \(SoundLibrary.maximumClipBytes) bytes"
    case .noSpace: "the disk is full"
    case .readOnly: "the file system is read-only"
    case .notPermitted: "this user does not have permission"
    case .notAFolder:
      "Library or \(isAboutPreference ? "Preferences" : "Sounds") is a file, or a symbolic link, which the program does "
        + "not follow"
    case .notAFile:
      "a folder, a symbolic link or a device has the \(isAboutPreference ? "file" : "clip")'s name"
    case .tooManyOpenFiles: "the process has no file descriptors left"
    case .busy: "too many programs are publishing in it"
    case .invalidGroupName, .invalidClipName, .systemFailure: "the system reported an error"
    }
  }

  private var remedy: String {
    switch code {
    case .tooLarge: "Make a shorter clip."
    case .noSpace: "Free some space and try again."
    case .readOnly: "Make it writable, or choose another containers folder."
    case .notPermitted: "Give this user access to it, or choose another containers folder."
    case .notAFolder: "Put a folder in its place, or choose another containers folder."
    case .notAFile: "Remove it and try again."
    case .tooManyOpenFiles: "Raise the limit of open files, or run fewer tasks at once."
    case .busy: "Publish with fewer programs at once."
    case .invalidGroupName, .invalidClipName, .systemFailure: "Check the disk, and try again."
    }
  }
}

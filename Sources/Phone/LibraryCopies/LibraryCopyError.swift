// SPDX-License-Identifier: Apache-2.0

public import DeviceClient
import FileSystem
import SoundLibrary

/// The reason why an update of the copy was not completed. Files that are in place stay usable, and the next update
/// continues.
public struct LibraryCopyError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The error codes, for programs.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    /// A call of the service failed; see ``LibraryCopyError/service``.
    case serviceFailed = "service_failed"
    /// A file that the service sent is not the listed one: its digest or size differs, or it is not the manifest of the
    /// voice pack. All other files are in place.
    case fileDamaged = "file_damaged"
    /// The disk is full.
    case diskFull = "disk_full"
    /// A system call failed for another reason than a full disk; see ``LibraryCopyError/systemError``.
    case diskFailure = "disk_failure"
    /// Another update has begun, because this one made no progress for too long, for example in a suspended process.
    case overtaken
  }

  public let code: Code

  /// The error of the call that failed; nil if no call failed.
  public let service: DeviceClientError?

  /// The system's `errno`; nil if no system call failed, or if it is not known.
  public let systemError: Int32?

  init(_ code: Code, service: DeviceClientError? = nil, systemError: Int32? = nil) {
    self.code = code
    self.service = service
    self.systemError = systemError
  }

  init(_ error: DeviceClientError) {
    switch error.code {
    case .digestMismatch, .tooLarge: self.init(.fileDamaged, service: error)
    case .diskFailure: self.init(SystemError(number: error.systemError ?? 0))
    default: self.init(.serviceFailed, service: error)
    }
  }

  init(_ error: SystemError) {
    self.init(error.kind == .noSpace ? .diskFull : .diskFailure, systemError: error.number == 0 ? nil : error.number)
  }

  init(_ error: SoundLibraryError) {
    self.init(error.code == .noSpace ? .diskFull : .diskFailure, systemError: error.systemError)
  }

  /// Creates the error for an error of one of Foundation's functions.
  init(_ error: any Error) {
    self.init(error as? SystemError ?? SystemError(number: 0))
  }

  /// The attempt, the cause and the next step. The text contains neither a key nor the name of a clip.
  public var description: String {
    let attempt = "Updating the copy of the library failed:"
    switch code {
    case .serviceFailed: return "\(attempt) \(service.map { "\($0)" } ?? "a call of the service failed.")"
    case .fileDamaged:
      return
        "\(attempt) the service sent a file that is not the one that it listed. All other files are in place. Update "
        + "again later; if the error stays, check the voice packs and clips of the service."
    case .diskFull: return "\(attempt) the disk is full\(system). Free some space, and update again."
    case .overtaken:
      return "\(attempt) it made no progress, and another update has begun. You need not do anything."
    case .diskFailure: return "\(attempt) a file could not be written or read\(system). Update again later."
    }
  }

  private var system: String { systemError.map { " (\(SystemError(number: $0)))" } ?? "" }
}

// SPDX-License-Identifier: Apache-2.0

import APNSSimulator
import Announcements
import Announcer
import ArgumentParser
import Foundation
import Ledger
import Mastering
import Playback
import ProviderSettings
import PushDelivery
import PushMessages
import QRCodes
import SoundLibrary
import SoundOutputs
import SpeechEngine
import SpeechServers
import ToneMaking
import VoicePackIntegrity
import VoicePackMaking
import VoicePacks

/// An error that consists of an exit status and a sentence, for commands that need no error type of their own.
struct CommandError: Error, CustomStringConvertible {
  let status: Int32
  /// What is wrong, and what to do next.
  let description: String

  init(_ status: Int32, _ description: String) { (self.status, self.description) = (status, description) }
}

/// A command whose errors are printed on standard error and become its exit status.
protocol ReportingCommand: AsyncParsableCommand {
  /// Does the work of the command.
  ///
  /// - Throws: `ExitCode` to end the command with a status and without a message. All other errors are reported.
  func perform() async throws
}

extension ReportingCommand {
  func run() async throws {
    // Writing past the user's file size limit must be reported as an error, and not end the process with a signal.
    signal(SIGXFSZ, SIG_IGN)
    do {
      try await perform()
    } catch let status as ExitCode {
      throw status
    } catch let interruption as Interruption {
      interruption.raise()
    } catch {
      // File names and words from recording sheets may contain control characters that a terminal would execute.
      Terminal.note("crier: " + Terminal.printableLines(Failures.asTyped("\(error)")))
      throw ExitCode(Failures.status(of: error))
    }
  }
}

/// The exit status of each error, as the contract defines it: 64 for a wrong command line, 65 for wrong input, 69 for
/// an unavailable engine or device, 73 for output that cannot be written, and 70 for an internal error.
enum Failures {
  /// Prefixes the name of an option with the hyphens the user typed: `rate` becomes `--rate`.
  static func asTyped(_ message: String) -> String {
    guard let name = message.split(whereSeparator: { $0 == ":" || $0 == " " }).first,
      CommandLine.arguments.contains(where: { $0 == "--\(name)" || $0.hasPrefix("--\(name)=") })
    else { return message }
    return "--" + message
  }

  static func status(of error: any Error) -> Int32 {
    switch error {
    case is ValidationError, is ServiceConfiguration.Fault: 64
    case let error as CommandError: error.status
    case is UnsafeHome: 73
    case let error as QRCodeError: error.code == .textInvalid ? 64 : 70
    case let error as AnnouncementError: status(of: error.code)
    case let error as AnnouncerError: status(of: error.code)
    case let error as SpeechEngineError: status(of: error.code)
    case let error as SpeechServerError: [.addressInvalid, .keyUnusable].contains(error.code) ? 65 : 69
    case let error as VoicePackError: error.code == .systemFailure ? 70 : 65
    case is VoicePackIntegrityError: 65
    case let error as PackMakingError: status(of: error.code)
    case let error as MasteringError: error.code == .silent ? 65 : 70
    case let error as APNSSimulatorError: status(of: error.code)
    case let error as ToneError: status(of: error.code)
    case let error as SoundLibraryError: error.action == .naming ? 64 : 73
    case let error as OutputError: status(of: error.code)
    case let error as LedgerError: status(of: error)
    case is PlayableFileError: 65
    case let error as PushMessageError: error.code == .messageTooLarge ? 65 : 64
    case let error as ProviderKeyError: [.keyIDInvalid, .teamInvalid].contains(error.code) ? 64 : 65
    case is PushTransportError: 69
    case let error as Refused: error.isTemporary ? 69 : 65
    case is ProviderSettingsError: 65
    default: 70
    }
  }

  private static func status(of error: LedgerError) -> Int32 {
    // A server that cannot be used counts as an unavailable device, because no change of this machine helps.
    if error.server != nil, error.action == .opening { return 69 }
    return switch error.code {
    case .noLedger, .valueUnstorable: 65
    case .laneTaken, .leaseLost, .busy, .inUse, .unfinishedBatches, .unreachable, .outcomeUnknown: 69
    case .invalidValue, .copyDiffers: 70
    default: error.server == nil || error.action == .moving ? 73 : 69
    }
  }

  private static func status(of code: AnnouncementError.Code) -> Int32 {
    switch code {
    case .phraseBooksMissing: 69
    case .phraseBookInvalid: 70
    default: 65
    }
  }

  private static func status(of code: AnnouncerError.Code) -> Int32 {
    switch code {
    case .amountMismatch: 70
    case .tooLong: 65
    case .methodUnavailable: 69
    case .optionInvalid: 64
    }
  }

  private static func status(of code: ToneError.Code) -> Int32 {
    switch code {
    case .descriptionsMissing: 69
    case .toneUnknown: 64
    case .descriptionInvalid: 65
    }
  }

  private static func status(of code: APNSSimulatorError.Code) -> Int32 {
    switch code {
    case .keyInvalid, .authorityInvalid: 65
    case .cannotListen: 69
    case .certificateFailed: 70
    case .fileNotWritten: 73
    }
  }

  private static func status(of code: OutputError.Code) -> Int32 {
    switch code {
    case .invalidName: 64
    case .fileNotWritten: 73
    case .deviceLost, .deviceBusy, .deviceMissing, .deviceFailed, .formatUnsupported: 69
    }
  }

  private static func status(of code: SpeechEngineError.Code) -> Int32 {
    switch code {
    case .engineUnavailable, .queueFull, .speakerDied: 69
    case .voiceUnknown: 64
    case .textUnspeakable, .requestRefused: 65
    case .cancelled, .speechMismatch: 70
    }
  }

  private static func status(of code: PackMakingError.Code) -> Int32 {
    switch code {
    case .writingFailed, .packExists: 73
    case .conversionFailed, .recognizerFailed, .rowUnread: 70
    case .languageUnknown, .packInvalid, .commandInvalid: 64
    case .programFailed, .serverFailed: 69
    default: 65
    }
  }
}

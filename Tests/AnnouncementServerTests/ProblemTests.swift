// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Foundation
import HTTPTypes
import SpeechEngine
import TestSupport
import Testing

@testable import AnnouncementServer
@testable import Ledger
@testable import Mastering
@testable import Playback
@testable import ServiceAccess
@testable import SoundFiles
@testable import SoundLibrary
@testable import VoicePackIntegrity
@testable import VoicePacks

@Suite("Problem documents for errors")
struct ProblemTests {
  private func status(_ error: any Error) -> Int { Problem(error).status.code }

  @Test("each error of an announcement has its HTTP status")
  func announcements() {
    let expected: [AnnouncementError.Code: Int] = [
      .payloadTooLarge: 413, .payloadMalformed: 400, .fieldMissing: 422, .fieldInvalid: 422, .fieldsConflict: 422,
      .localeUnknown: 422, .currencyUnspeakable: 422, .nothingToSay: 422, .phraseBookInvalid: 500,
      .phraseBooksMissing: 500, .lexiconInvalid: 500,
    ]
    for (code, status) in expected {
      let problem = Problem(AnnouncementError(code, "amount", "is wrong", remedy: "right it"))
      #expect(problem.status.code == status && problem.code == code.rawValue)
      #expect(problem.detail.contains("amount"))
    }
    for (code, status) in [
      (AnnouncerError.Code.amountMismatch, 500), (.tooLong, 422), (.methodUnavailable, 422), (.optionInvalid, 422),
    ] {
      let problem = Problem(AnnouncerError(code, "a", "b", remedy: "c"))
      #expect(problem.status.code == status && problem.code == code.rawValue)
    }
  }

  @Test("each error of the engine has its HTTP status, and a temporary error has Retry-After")
  func engine() {
    let expected: [SpeechEngineError.Code: (Int, String, Int?)] = [
      .engineUnavailable: (503, "engine_unavailable", 5), .queueFull: (503, "engine_busy", 1),
      .voiceUnknown: (422, "voice_unknown", nil), .textUnspeakable: (422, "text_unspeakable", nil),
      .speakerDied: (503, "speaker_died", 5), .requestRefused: (422, "request_refused", nil),
      .cancelled: (503, "stopping", 5), .speechMismatch: (500, "speech_mismatch", nil),
    ]
    for code in SpeechEngineError.Code.allCases {
      let problem = Problem(SpeechEngineError(code, "speaking", "b", remedy: "c"))
      #expect(problem.status.code == expected[code]?.0 && problem.code == expected[code]?.1)
      #expect(problem.retryAfter == expected[code]?.2)
    }
  }

  @Test("each error of mastering and of sound files has its HTTP status")
  func sound() {
    #expect(status(MasteringError(.silent, "r")) == 422)
    #expect(status(MasteringError(.loudnessUnreachable, "r")) == 422)
    #expect(status(MasteringError(.meterFailed, "r")) == 500)
    #expect(status(SoundFileError(.writingFailed, "r")) == 500)
  }

  @Test("each error of the sound library has its HTTP status, and no error reveals the folder")
  func library() {
    let folder = URL(filePath: "/secret/place")
    for code in SoundLibraryError.Code.allCases {
      let problem = Problem(SoundLibraryError(code: code, action: .publishing, folder: folder, systemError: 5))
      let expected: (Int, String) =
        switch code {
        case .noSpace: (507, "disk_full")
        case .busy, .tooManyOpenFiles: (503, "busy")
        case .invalidGroupName: (422, "option_invalid")
        default: (500, code.rawValue)
        }
      #expect(problem.status.code == expected.0 && problem.code == expected.1)
      #expect((problem.retryAfter != nil) == [503, 507].contains(expected.0))
      #expect(!problem.detail.contains("secret"), "\(problem.detail)")
    }
  }

  @Test("each error of a voice pack has the HTTP status 422")
  func packs() {
    for code in VoicePackError.Code.allCases {
      let problem = Problem(VoicePackError(code, "pack a", "b", remedy: "c"))
      #expect(problem.status.code == 422 && problem.code == code.rawValue)
    }
    for code in VoicePackIntegrityError.Code.allCases {
      let problem = Problem(VoicePackIntegrityError(code, pack: "a"))
      #expect(problem.status.code == 422 && problem.code == code.rawValue)
    }
  }

  @Test("each error of the ledger has its HTTP status, and no error reveals the file")
  func ledger() {
    let file = URL(filePath: "/secret/place/ledger.sqlite")
    for code in LedgerError.Code.allCases {
      let problem = Problem(LedgerError(code, while: .answering, in: file, field: "id"))
      let expected: (Int, String) =
        switch code {
        case .diskFull: (507, "disk_full")
        case .tooManyReplays: (429, "too_many_replays")
        case .busy, .waitingListFull, .tooManyCommands, .unreachable, .outcomeUnknown: (503, "busy")
        case .invalidValue: (422, "field_invalid")
        case .tooManyDevices, .tooManyEnumerators, .deviceNameTaken, .tooManyWebhookEndpoints, .webhookEndpointExists:
          (409, code.rawValue)
        default: (500, code.rawValue)
        }
      #expect(problem.status.code == expected.0 && problem.code == expected.1)
      #expect((problem.retryAfter != nil) == [429, 503, 507].contains(expected.0))
      #expect(!problem.detail.contains("secret"))
    }
  }

  @Test("an error of the ledger's server is a passing fault if the same request may succeed later")
  func ledgerOnServer() {
    for code in LedgerError.Code.allCases {
      let problem = Problem(LedgerError(code, while: .answering, on: "secret.example:5432", field: "id"))
      let isPassing = [
        .busy, .waitingListFull, .tooManyCommands, .unreachable, .outcomeUnknown, .readOnly, .notPermitted,
      ]
      .contains(code)
      #expect((problem.status.code == 503) == isPassing, "\(code)")
      #expect(!isPassing || problem.code == "busy" && problem.retryAfter == 1)
      #expect(!problem.detail.contains("secret"))
    }
  }

  @Test("each error of the player and of keys has its HTTP status")
  func playerAndKeys() {
    let players: [PlayerError.Code: Int] = [
      .notRunning: 503, .alreadyStarted: 503, .nothingToReplay: 409, .volumeInvalid: 422,
    ]
    for code in PlayerError.Code.allCases { #expect(status(PlayerError(code, lane: "counter")) == players[code]) }
    for code in AccessError.Code.allCases {
      let expected =
        switch code {
        case .tooManyRemembered: 429
        case .rateLimitInvalid, .secretTooShort, .notSignable: 500
        default: 401
        }
      #expect(status(AccessError(code)) == expected)
    }
  }

  @Test("a full disk is recognised, whichever error of the system's libraries reports it")
  func fullDisk() throws {
    let full = FileHandle(forWritingAtPath: "/dev/full")
    let told = #expect(throws: (any Error).self) { try full.orThrow("/dev/full").write(contentsOf: Data("x".utf8)) }
    let behind = [NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(EDQUOT))]
    for error in [
      try told.orThrow("an error"), CocoaError(.fileWriteOutOfSpace),
      NSError(domain: NSPOSIXErrorDomain, code: Int(ENOSPC)),
      NSError(domain: NSCocoaErrorDomain, code: CocoaError.fileWriteUnknown.rawValue, userInfo: behind),
    ] as [any Error] {
      #expect(Problem(error) == .diskFull, "\(error)")
    }
    for error in [CocoaError(.fileWriteNoPermission), CocoaError(.fileWriteUnknown)] { #expect(status(error) == 500) }
  }

  private struct Talkative: Error, CustomStringConvertible { var description: String { "张三 paid 12.50" } }

  @Test(
    "the problem for an unknown error reveals nothing, and the problem for a cancelled request says the service stops")
  func others() {
    let problem = Problem(Talkative())
    #expect(problem.status.code == 500 && problem.code == "internal_error")
    #expect(!problem.detail.contains("张三") && !problem.detail.contains("12.50"))
    #expect(Problem(CancellationError()) == .stopping)
    let own = Problem(.notFound, "not_found", "d")
    #expect(Problem(own) == own)
  }

  @Test("a problem document has the headers and fields that a client needs")
  func document() async throws {
    let answer = try await TestAnswer(Problem.diskFull.response(requestID: "r1"))
    #expect(answer.status == 507 && answer.header("Retry-After") == "30")
    #expect(answer.header("Content-Type") == "application/problem+json" && answer.header("Cache-Control") == "no-store")
    #expect(Set(try answer.object.keys) == ["type", "title", "status", "code", "detail", "request_id"])
    #expect(try answer.string("title") == "Insufficient Storage" && answer.number("status") == 507)
    #expect(try answer.string("request_id") == "r1" && answer.string("type") == "about:blank")
    let unknown = try await TestAnswer(Problem(.unauthorized, "key_unknown", "d").response(requestID: "r"))
    #expect(unknown.header("WWW-Authenticate")?.hasPrefix("Bearer") == true)
  }
}

// SPDX-License-Identifier: Apache-2.0

import Announcements
import Announcer
import Mastering
import SpeechEngine
import VoicePackIntegrity
import VoicePacks

/// The errors that the content of a request causes. Another request, for example in another language, may succeed.
package enum RequestFault {
  package static func isCause(of error: any Error) -> Bool {
    switch error {
    case let error as AnnouncementError:
      switch error.code {
      case .fieldMissing, .fieldInvalid, .fieldUnknown, .fieldsConflict, .localeUnknown, .currencyUnspeakable,
        .nothingToSay, .listEmpty:
        true
      case .payloadTooLarge, .payloadMalformed, .phraseBooksMissing, .phraseBookInvalid, .lexiconInvalid: false
      }
    case let error as AnnouncerError: error.code != .amountMismatch
    case let error as SpeechEngineError:
      [.voiceUnknown, .textUnspeakable, .requestRefused].contains(error.code)
    // The cause of these errors is the text of the announcement.
    case let error as MasteringError: [.silent, .loudnessUnreachable].contains(error.code)
    case is VoicePackError, is VoicePackIntegrityError: true
    case let error as AcceptanceError: ![.idConflict, .clipLost].contains(error.code)
    default: false
    }
  }
}

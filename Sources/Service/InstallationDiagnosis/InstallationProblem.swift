// SPDX-License-Identifier: Apache-2.0

/// A fault that keeps an installation from working, or that may do so later. It contains no key, amount or payer.
public struct InstallationProblem: Sendable, Hashable, Encodable {
  public enum Severity: String, Sendable, Hashable, Encodable {
    /// A part of Crier does not work.
    case fault
    /// Crier works, but something is unusual or may soon be missing.
    case warning
  }

  /// The codes for programs. docs/operations.md lists them.
  public enum Code: String, Sendable, Hashable, CaseIterable, Encodable {
    // The settings
    case settingsUnusable = "settings_unusable"
    case settingIgnored = "setting_ignored"
    case chimeUnusable = "chime_unusable"
    case providerKeyUnusable = "provider_key_unusable"
    case paymentProvidersUnusable = "payment_providers_unusable"

    // The home and its disk
    case homeMissing = "home_missing"
    case homeNotAFolder = "home_not_a_folder"
    case homeUnreachable = "home_unreachable"
    case foreignOwner = "foreign_owner"
    case writableByOthers = "writable_by_others"
    case readableByOthers = "readable_by_others"
    case homeNotWritable = "home_not_writable"
    case signingSecretDamaged = "signing_secret_damaged"
    case diskFull = "disk_full"
    case diskLow = "disk_low"
    case diskReadOnly = "disk_read_only"
    case diskUnknown = "disk_unknown"
    case networkFileSystem = "network_file_system"

    // The ledger and its keys
    case ledgerDamaged = "ledger_damaged"
    case ledgerNewer = "ledger_newer"
    case ledgerOlder = "ledger_older"
    case ledgerForeign = "ledger_foreign"
    case ledgerUnreadable = "ledger_unreadable"
    case ledgerLogUnindexed = "ledger_log_unindexed"
    case ledgerUnreachable = "ledger_unreachable"
    case ledgerAccessDenied = "ledger_access_denied"
    case ledgerDatabaseMissing = "ledger_database_missing"
    case ledgerPasswordUnusable = "ledger_password_unusable"
    case ledgerReadOnly = "ledger_read_only"
    case ledgerNotDurable = "ledger_not_durable"
    case nodesDiffer = "nodes_differ"
    case workSetAside = "work_set_aside"
    case noKey = "no_key"
    case noKeyInForce = "no_key_in_force"

    // The voices
    case phraseBooksMissing = "phrase_books_missing"
    case phraseBookInvalid = "phrase_book_invalid"
    case localeUnknown = "locale_unknown"
    case lexiconInvalid = "lexicon_invalid"
    case consoleMissing = "console_missing"
    case speakerMissing = "speaker_missing"
    case engineDataMissing = "engine_data_missing"
    case engineFailed = "engine_failed"
    case sandboxUnavailable = "sandbox_unavailable"
    case packUnusable = "pack_unusable"
    case packChanged = "pack_changed"
    case packChoicesUnreadable = "pack_choices_unreadable"
    case chosenPackMissing = "chosen_pack_missing"

    // The machine
    case outputInvalid = "output_invalid"
    case outputUnusable = "output_unusable"
    case outputBusy = "output_busy"
    case portTaken = "port_taken"
    case portNotPermitted = "port_not_permitted"
    case addressUnusable = "address_unusable"
    case serviceUnready = "service_unready"
    case serviceDegraded = "service_degraded"
    case pushServerUnreachable = "push_server_unreachable"
    case pushRefused = "push_refused"
    case publicURLUnusable = "public_url_unusable"
    case speechServerUnusable = "speech_server_unusable"
    case speechServerFailing = "speech_server_failing"
    case speechServerUntested = "speech_server_untested"
    case unitNetworkClosed = "unit_network_closed"
    case clockBehind = "clock_behind"
    case clockDiffers = "clock_differs"
    case clockNotSynchronized = "clock_not_synchronized"
    case openFilesTooFew = "open_files_too_few"
    case openFilesLow = "open_files_low"

    public var severity: Severity {
      switch self {
      case .settingIgnored, .diskLow, .ledgerOlder, .ledgerLogUnindexed, .workSetAside, .nodesDiffer, .outputBusy,
        .serviceDegraded, .publicURLUnusable, .speechServerFailing, .speechServerUntested, .clockDiffers,
        .clockNotSynchronized, .openFilesLow:
        .warning
      default: .fault
      }
    }
  }

  public let code: Code
  /// The severity of every problem with this code.
  public let severity: Severity
  /// A sentence that says what is wrong.
  public var message: String
  /// The shell command that fixes the problem. If no command can fix it, this is a sentence that says what to do.
  public var remedy: String

  public init(_ code: Code, _ message: String, remedy: String) {
    self.code = code
    severity = code.severity
    self.message = message
    self.remedy = remedy
  }
}

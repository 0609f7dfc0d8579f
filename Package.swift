// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// The condition that compiles `BlockingWatchdog`: in debug builds, and in the release builds of CI.
let watchdog: SwiftSetting =
  Context.environment["CRIER_WATCHDOG"] == nil
  ? .define("CRIER_WATCHDOG", .when(configuration: .debug)) : .define("CRIER_WATCHDOG")

/// The setting that makes warnings errors where the project itself is built: the Makefile, the scripts and CI set the
/// variable. Without the variable, there is no setting for warnings, because Xcode builds the packages of an app with
/// `-suppress-warnings`, and the compiler refuses both options together (swiftlang/swift-package-manager#9517).
let strictness: [SwiftSetting] =
  Context.environment["CRIER_WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

let settings: [SwiftSetting] =
  strictness + [
    watchdog,
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
  ]

/// Returns a product of another package.
func product(_ name: String, of package: String) -> Target.Dependency { .product(name: name, package: package) }

/// Returns a target that only Linux needs.
func onLinux(_ name: String) -> Target.Dependency { .target(name: name, condition: .when(platforms: [.linux])) }

/// Returns the name of the target in a folder.
func name(of folder: String) -> String { String(folder.split(separator: "/").last ?? "") }

/// Returns a target with the name of its folder. If it calls C, every unsafe expression must be marked.
func module(
  _ folder: String, _ dependencies: [Target.Dependency] = [], callsC: Bool = false, exclude: [String] = []
) -> Target {
  .target(
    name: name(of: folder), dependencies: dependencies, path: folder, exclude: exclude,
    swiftSettings: callsC ? settings + [.strictMemorySafety()] : settings)
}

/// Returns a target that is a program.
func program(
  _ folder: String, _ dependencies: [Target.Dependency] = [], callsC: Bool = false, exclude: [String] = [],
  links libraries: [String] = []
) -> Target {
  .executableTarget(
    name: name(of: folder), dependencies: dependencies, path: folder, exclude: exclude,
    swiftSettings: callsC ? settings + [.strictMemorySafety()] : settings,
    linkerSettings: libraries.map { .linkedLibrary($0) })
}

/// Returns a target of tests. Only Linux builds the files in `onLinux`, and the additional dependencies that each of
/// these files needs.
func tests(
  _ folder: String, _ dependencies: [Target.Dependency], onLinux files: KeyValuePairs<String, Target.Dependency> = [:]
) -> Target {
  #if os(Linux)
    let (all, excluded) = (dependencies + files.map(\.value), [String]())
  #else
    let (all, excluded) = (dependencies, files.map(\.key))
  #endif
  return .testTarget(
    name: name(of: folder), dependencies: all, path: folder, exclude: excluded, swiftSettings: settings)
}

/// Returns a module for a C library: a module map and a header.
func cLibrary(_ folder: String, pkgConfig: String? = nil, debian package: String? = nil) -> Target {
  .systemLibrary(
    name: name(of: folder), path: folder, pkgConfig: pkgConfig, providers: package.map { [.apt([$0])] })
}

let argumentParser = product("ArgumentParser", of: "swift-argument-parser")
let asyncAlgorithms = product("AsyncAlgorithms", of: "swift-async-algorithms")
let asyncHTTPClient = product("AsyncHTTPClient", of: "async-http-client")
let crypto = product("Crypto", of: "swift-crypto")
let cryptoExtras = product("CryptoExtras", of: "swift-crypto")
let dequeModule = product("DequeModule", of: "swift-collections")
let grdb = product("GRDB", of: "GRDB.swift")
let heapModule = product("HeapModule", of: "swift-collections")
let httpTypes = product("HTTPTypes", of: "swift-http-types")
let hummingbird = product("Hummingbird", of: "hummingbird")
let hummingbirdCore = product("HummingbirdCore", of: "hummingbird")
let logging = product("Logging", of: "swift-log")
let nioCore = product("NIOCore", of: "swift-nio")
let nioEmbedded = product("NIOEmbedded", of: "swift-nio")
let nioHPACK = product("NIOHPACK", of: "swift-nio-http2")
let nioHTTP1 = product("NIOHTTP1", of: "swift-nio")
let nioHTTP2 = product("NIOHTTP2", of: "swift-nio-http2")
let nioPosix = product("NIOPosix", of: "swift-nio")
let nioSSL = product("NIOSSL", of: "swift-nio-ssl")
let nioTLS = product("NIOTLS", of: "swift-nio")
let serviceLifecycle = product("ServiceLifecycle", of: "swift-service-lifecycle")
let serviceLifecycleTestKit = product("ServiceLifecycleTestKit", of: "swift-service-lifecycle")
let swiftASN1 = product("SwiftASN1", of: "swift-asn1")
let unixSignals = product("UnixSignals", of: "swift-service-lifecycle")
let x509 = product("X509", of: "swift-certificates")
let yams = product("Yams", of: "Yams")

/// Concurrency, files, JSON, lists, addresses, and functions of the C library.
let base: [Target] = [
  module("Sources/Base/CLinux"),
  module("Sources/Base/ConcurrencySupport"),
  module("Sources/Base/FileSystem", ["ConcurrencySupport", "TextFormats", onLinux("CLinux")], callsC: true),
  module("Sources/Base/HostAddresses", ["ConcurrencySupport"], callsC: true),
  module("Sources/Base/TextFormats"),
]

/// Payloads, money, the words of an announcement, the reader of amounts, the order of announcements, and push messages
/// as values. All are portable.
let words: [Target] = [
  module("Sources/Words/AmountReadback", ["ConcurrencySupport"]),
  module("Sources/Words/Announcements", ["ConcurrencySupport", "TextFormats"]),
  module("Sources/Words/PlaybackOrder"),
  module("Sources/Words/PhraseBookChecks", ["AmountReadback", "Announcements"]),
  module("Sources/Words/PushMessages", ["Announcements"]),
  module("Sources/Words/WeeklyTimes"),
]

/// Waveforms, their levels and formats, the sound library, and the report of faults in a sound file.
let sound: [Target] = [
  cLibrary("Sources/Sound/CEBUR128", pkgConfig: "libebur128", debian: "libebur128-dev"),
  cLibrary("Sources/Sound/CSndFile", pkgConfig: "sndfile", debian: "libsndfile1-dev"),
  cLibrary("Sources/Sound/CSoxr", pkgConfig: "soxr", debian: "libsoxr-dev"),
  module("Sources/Sound/Mastering", ["CEBUR128", "ConcurrencySupport", "Waveforms"], callsC: true),
  module("Sources/Sound/Resampling", ["CSoxr"], callsC: true),
  module(
    "Sources/Sound/SoundDoctor",
    [
      "Mastering", "Resampling", "SoundFiles", "SoundHeaders", "SoundLibrary", "TextFormats", "Waveforms",
    ]),
  module("Sources/Sound/SoundFiles", ["CSndFile", "SoundHeaders", "Waveforms"], callsC: true),
  module("Sources/Sound/SoundHeaders", ["ConcurrencySupport"]),
  module("Sources/Sound/SoundLibrary", ["ConcurrencySupport", "FileSystem"], callsC: true),
  module("Sources/Sound/ToneMaking", ["Mastering", "Waveforms"]),
  module("Sources/Sound/WaveformDrawing", ["Waveforms"]),
  module("Sources/Sound/Waveforms"),
]

/// Voices: voice packs and their making, the speech engine, speech servers, and the pipeline that makes all clips.
/// `speaker` is the only program of the product that links libespeak-ng. Its license is GPL-3.0-or-later.
let voices: [Target] = [
  module(
    "Sources/Voices/Announcer",
    [
      "AmountReadback", "Announcements", "ConcurrencySupport", "Mastering", "Resampling", "SoundFiles", "SoundLibrary",
      "SpeakingPlans", "SpeechEngine", "SpeechServers", "TextFormats", "VoicePackIntegrity", "VoicePacks", "Waveforms",
      onLinux("CLinux"), crypto,
    ]),
  program("Sources/Voices/speaker", exclude: ["COPYING"], links: ["espeak-ng", "seccomp"]),
  module("Sources/Voices/SpeakingPlans", ["AmountReadback", "Announcements", "VoicePacks", "Waveforms"]),
  module(
    "Sources/Voices/SpeechEngine", ["Announcements", "ConcurrencySupport", "TextFormats", "Waveforms"], callsC: true),
  module(
    "Sources/Voices/SpeechServers",
    [
      "AmountReadback", "Announcements", "ConcurrencySupport", "FileSystem", "HostAddresses", "Mastering", "Resampling",
      "SoundFiles", "SoundHeaders", "SpeakingPlans", "Waveforms", nioCore, nioHTTP1, nioPosix, nioSSL,
    ]),
  module("Sources/Voices/VoicePackIntegrity", ["TextFormats", "VoicePacks", crypto]),
  module(
    "Sources/Voices/VoicePackMaking",
    [
      "AmountReadback", "Announcements", "ConcurrencySupport", "CSndFile", "FileSystem", "Mastering", "Resampling",
      "SpeakingPlans", "SpeechEngine", "SpeechServers", "TextFormats", "VoicePackIntegrity", "VoicePacks", "Waveforms",
    ], callsC: true),
  module("Sources/Voices/VoicePacks", ["Announcements", "ConcurrencySupport", "Waveforms"], callsC: true),
]

/// The ledger, which survives crashes, the messages that it stores, and a client of PostgreSQL.
let store: [Target] = [
  cLibrary("Sources/Store/CPQ", pkgConfig: "libpq", debian: "libpq-dev"),
  module(
    "Sources/Store/Ledger",
    [
      "Announcements", "ConcurrencySupport", "FileSystem", "PlaybackOrder", "PushMessages", "TextFormats",
      "WebhookMessages",
    ]),
  module(
    "Sources/Store/LedgerMoving",
    ["ConcurrencySupport", "Ledger", "PostgreSQL", "PostgreSQLLedger", "SQLiteLedger", "TextFormats", crypto]),
  module("Sources/Store/PostgreSQL", ["ConcurrencySupport", "CPQ"], callsC: true),
  module(
    "Sources/Store/PostgreSQLLedger",
    [
      "ConcurrencySupport", "FileSystem", "Ledger", "PlaybackOrder", "PostgreSQL", "PushMessages", "TextFormats",
      "WebhookMessages",
    ]),
  module(
    "Sources/Store/SQLiteLedger",
    [
      "ConcurrencySupport", "FileSystem", "Ledger", "PlaybackOrder", "PushMessages", "WebhookMessages", grdb,
    ], callsC: true),
  module("Sources/Store/WebhookMessages", ["Announcements", "HostAddresses", "TextFormats", crypto]),
]

/// The player, pushes to phones, webhooks to accounts, and webhooks of payment providers. `APNSSimulator` is a stand-in
/// for Apple's push service, and shares no code with the client.
let delivery: [Target] = [
  cLibrary("Sources/Delivery/CALSA", pkgConfig: "alsa", debian: "libasound2-dev"),
  module(
    "Sources/Delivery/APNSSimulator",
    ["ConcurrencySupport", crypto, nioCore, nioHPACK, nioHTTP2, nioPosix, nioSSL, nioTLS, swiftASN1, x509]),
  module("Sources/Delivery/PaymentProviders", ["Announcements", "TextFormats", crypto, cryptoExtras, swiftASN1, x509]),
  module(
    "Sources/Delivery/Playback",
    [
      "Announcements", "Announcer", "ConcurrencySupport", "Ledger", "Mastering", "PlaybackOrder", "Resampling",
      "SoundFiles", "SoundLibrary", "SoundOutputs", "SpeechEngine", "Waveforms", "WeeklyTimes",
    ]),
  module("Sources/Delivery/ProviderSettings", ["Announcements", "FileSystem", "PaymentProviders", yams]),
  module(
    "Sources/Delivery/PushDelivery",
    [
      "ConcurrencySupport", "FileSystem", "Ledger", "PushMessages", "TextFormats", crypto, dequeModule, heapModule,
      nioCore, nioHPACK, nioHTTP2, nioPosix, nioSSL, nioTLS,
    ]),
  module(
    "Sources/Delivery/SoundOutputs", ["ConcurrencySupport", "FileSystem", "Resampling", "Waveforms", onLinux("CALSA")],
    callsC: true),
  module(
    "Sources/Delivery/WebhookDelivery",
    [
      "ConcurrencySupport", "HostAddresses", "Ledger", "WebhookMessages", asyncHTTPClient, dequeModule, heapModule,
      nioCore, nioHTTP1, nioPosix, nioSSL,
    ]),
]

/// The targets for an app and its extensions, which also link portable targets of other folders. On Linux, URLSession
/// is in FoundationNetworking, which links libcurl.
let phone: [Target] = [
  module(
    "Sources/Phone/DeviceClient",
    [
      "ConcurrencySupport", "FileSystem", "HostAddresses", "PushMessages", "SoundDownloads", "TextFormats",
    ]),
  module(
    "Sources/Phone/LibraryCopies",
    ["ConcurrencySupport", "DeviceClient", "FileSystem", "SoundDownloads", "SoundLibrary", "VoicePacks"]),
  module(
    "Sources/Phone/NotificationAttachments", ["ConcurrencySupport", "FileSystem", "HostAddresses", "SoundDownloads"]),
  module(
    "Sources/Phone/NotificationServiceKit",
    [
      "AmountReadback", "Announcements", "ConcurrencySupport", "DeviceClient", "FileSystem", "NotificationAttachments",
      "PlaybackOrder", "PushMessages", "SoundDownloads", "SoundHeaders", "SoundLibrary", "SpeakingPlans", "VoicePacks",
      "Waveforms",
    ], callsC: true),
  module(
    "Sources/Phone/PhoneRegistration",
    [
      "ConcurrencySupport", "DeviceClient", "FileSystem", "HostAddresses", "LibraryCopies", "NotificationAttachments",
      "NotificationServiceKit", "PushMessages", "SoundDownloads", "SoundLibrary", "Waveforms",
    ], callsC: true),
  module(
    "Sources/Phone/SoundDownloads", ["ConcurrencySupport", "FileSystem", "HostAddresses", "SoundLibrary"], callsC: true),
  module(
    "Sources/Phone/SoundDownloadsURLSession", ["ConcurrencySupport", "HostAddresses", "SoundDownloads"], callsC: true),
]

/// Authentication, the acceptance of announcements, the HTTP service, the doctor, and the command line.
let service: [Target] = [
  cLibrary("Sources/Service/CQRencode", pkgConfig: "libqrencode", debian: "libqrencode-dev"),
  module(
    "Sources/Service/AnnouncementServer",
    [
      "Announcements", "AnnouncementService", "Announcer", "ConcurrencySupport", "FileSystem", "HostAddresses",
      "InstallationDiagnosis", "Ledger", "Mastering", "PaymentProviders", "Playback", "PlaybackOrder", "PushDelivery",
      "PushMessages", "QRCodes", "ServiceAccess", "SoundDoctor", "SoundFiles", "SoundLibrary", "SoundOutputs",
      "SpeechEngine", "SpeechServers", "TextFormats", "VoicePackIntegrity", "VoicePackMaking", "VoicePacks",
      "Waveforms",
      "WebhookDelivery", "WebhookMessages", "WeeklyTimes", asyncAlgorithms, crypto, httpTypes, hummingbird,
      hummingbirdCore, logging, nioCore, nioHTTP1, serviceLifecycle,
    ]),
  module(
    "Sources/Service/AnnouncementService",
    [
      "Announcements", "Announcer", "ConcurrencySupport", "Ledger", "Mastering", "PaymentProviders", "Playback",
      "PushMessages", "SoundLibrary", "SpeechEngine", "TextFormats", "VoicePackIntegrity", "VoicePacks", "WeeklyTimes",
      crypto,
    ]),
  program(
    "Sources/Service/crier",
    [
      "AmountReadback", "Announcements", "AnnouncementServer", "Announcer", "APNSSimulator", "ConcurrencySupport",
      "FileSystem", "HostAddresses", "InstallationDiagnosis", "InstallationExamination", "Ledger", "LedgerMoving",
      "Mastering", "PaymentProviders", "PhraseBookChecks", "Playback", "PlaybackOrder", "PostgreSQL",
      "PostgreSQLLedger", "ProviderSettings", "PushDelivery", "PushMessages", "QRCodes", "ServiceAccess", "SoundDoctor",
      "SoundFiles",
      "SoundHeaders", "SoundLibrary", "SoundOutputs", "SpeechEngine", "SpeechServers", "SQLiteLedger", "TextFormats",
      "ToneMaking", "VoicePackIntegrity", "VoicePackMaking", "VoicePacks", "WaveformDrawing", "Waveforms",
      "WebhookDelivery", "WeeklyTimes", argumentParser, asyncHTTPClient, crypto, logging, nioCore, nioHTTP1,
      serviceLifecycle, unixSignals, yams,
    ]),
  module("Sources/Service/InstallationDiagnosis", ["TextFormats"]),
  module(
    "Sources/Service/InstallationExamination",
    [
      "AmountReadback", "Announcements", "CLinux", "ConcurrencySupport", "HostAddresses", "InstallationDiagnosis",
      "Ledger", "PostgreSQL", "PostgreSQLLedger", "PushDelivery", "SoundOutputs", "SpeechEngine", "SpeechServers",
      "SQLiteLedger", "TextFormats", "VoicePackIntegrity", "VoicePacks", "Waveforms",
    ], callsC: true),
  module("Sources/Service/QRCodes", ["CQRencode"], callsC: true),
  module("Sources/Service/ServiceAccess", ["HostAddresses", "TextFormats", crypto]),
]

/// Code that several tests use, and programs that tests kill at arbitrary moments. `notification-extension` and
/// `simulated-push-service` belong to the simulated phone.
let testSupport: [Target] = [
  module("Tests/Support/DownloadTestSupport", ["ConcurrencySupport", "HostAddresses", "SoundDownloads"]),
  program("Tests/Support/ledger-writer", ["Ledger", "PlaybackOrder", "SQLiteLedger"]),
  module(
    "Tests/Support/LedgerTestSupport",
    [
      "ConcurrencySupport", "Ledger", "PlaybackOrder", "PostgreSQL", "PostgreSQLLedger", "PostgreSQLTestSupport",
      "PushMessages", "SQLiteLedger", "TestSupport", "WebhookMessages", grdb,
    ], exclude: ["version-6.sql", "version-14.sql"]),
  program(
    "Tests/Support/notification-extension",
    [
      "ConcurrencySupport", "DeviceClient", "HostAddresses", "NotificationAttachments", "NotificationServiceKit",
      "SoundDownloads", "SoundDownloadsURLSession", "SoundLibrary",
    ]),
  program(
    "Tests/Support/play-log",
    ["Ledger", "Playback", "PlaybackOrder", "SoundOutputs", "SQLiteLedger", "Waveforms"]),
  module(
    "Tests/Support/PlaybackTestSupport",
    [
      "ConcurrencySupport", "Ledger", "Playback", "PlaybackOrder", "SoundOutputs", "SoundOutputTestSupport",
      "SQLiteLedger", "Waveforms",
    ]),
  module("Tests/Support/PostgreSQLTestSupport", ["ConcurrencySupport", "PostgreSQL", "TestSupport"]),
  program(
    "Tests/Support/push-sender",
    ["ConcurrencySupport", "Ledger", "PushDelivery", "PushTestSupport", "SQLiteLedger"]),
  module(
    "Tests/Support/PushTestSupport",
    [
      "APNSSimulator", "ConcurrencySupport", "Ledger", "PushDelivery", "PushMessages", "SQLiteLedger", "TestSupport",
      crypto,
    ]),
  program("Tests/Support/simulated-push-service", ["APNSSimulator"]),
  program("Tests/Support/sound-keeper", ["SoundLibrary", "TestSupport"]),
  module("Tests/Support/SoundMeasurement", ["CEBUR128", "CSndFile"], callsC: true),
  module("Tests/Support/SoundOutputTestSupport", ["ConcurrencySupport", "SoundOutputs", "TestSupport", "Waveforms"]),
  module(
    "Tests/Support/SpeechServerTestSupport",
    ["ConcurrencySupport", "SpeechServers", "TestSupport", nioCore, nioPosix, nioSSL]),
  module("Tests/Support/TestSupport"),
]

/// The programs of `make bench`.
let benchmarks: [Target] = [
  program("Benchmarks/bare-service", [httpTypes, hummingbird, hummingbirdCore, nioCore]),
  program(
    "Benchmarks/crier-bench",
    [
      "AmountReadback", "Announcements", "Announcer", "FileSystem", "PlaybackOrder", "SoundLibrary", "SpeechEngine",
      "VoicePacks", "Waveforms", argumentParser,
    ]),
  program("Benchmarks/in-process-limit", links: ["espeak-ng"]),
  program(
    "Benchmarks/ledger-bench",
    [
      "ConcurrencySupport", "Ledger", "PlaybackOrder", "PostgreSQL", "PostgreSQLLedger", "PushMessages", "SQLiteLedger",
      "WebhookMessages",
    ], callsC: true),
  program(
    "Benchmarks/provider-bench",
    ["AnnouncementService", "ConcurrencySupport", "Ledger", "PaymentProviders", "ProviderSettings", "SQLiteLedger"]),
  program("Benchmarks/push-bench", ["ConcurrencySupport", "Ledger", "PushDelivery", "PushMessages", "SQLiteLedger"]),
  program(
    "Benchmarks/speech-server-bench",
    [
      "AmountReadback", "Announcements", "Mastering", "SpeakingPlans", "SpeechServers", "VoicePackMaking", "VoicePacks",
      "Waveforms", argumentParser,
    ]),
  program("Benchmarks/year-of-announcements", ["Ledger", "PlaybackOrder", "SoundLibrary", "SQLiteLedger"]),
]

/// The code that `make fuzz` and `make check` run: the fuzzed readers of untrusted bytes, and a program that sends
/// hostile answers to Crier's clients.
let fuzzSupport: [Target] = [
  module(
    "Fuzzing/FuzzedReaders",
    [
      "AmountReadback", "Announcements", "Announcer", "PaymentProviders", "ProviderSettings", "PushMessages",
      "ServiceAccess", "SoundFiles", "SpeechEngine", "TestSupport", "TextFormats", "VoicePackMaking", "VoicePacks",
      "Waveforms", crypto, cryptoExtras,
    ]),
  program(
    "Fuzzing/hostile-answers",
    [
      "APNSSimulator", "ConcurrencySupport", "HostAddresses", "PushDelivery", "PushMessages", "TestSupport",
      "WebhookDelivery", "WebhookMessages", crypto, nioCore, nioPosix, nioSSL, nioTLS,
    ]),
]

/// The tests of `make test`, compiled in debug mode, and in release mode in CI.
let quickTests: [Target] = [
  tests("Tests/AmountReadbackTests", ["AmountReadback"]),
  tests(
    "Tests/AnnouncementServerTests",
    [
      "AmountReadback", "Announcements", "AnnouncementServer", "AnnouncementService", "Announcer", "APNSSimulator",
      "ConcurrencySupport", "FileSystem", "HostAddresses", "InstallationDiagnosis", "Ledger", "LedgerTestSupport",
      "Mastering", "PaymentProviders", "Playback", "PlaybackOrder", "PushDelivery", "PushMessages", "QRCodes",
      "ServiceAccess", "SoundFiles", "SoundLibrary", "SoundOutputs", "SoundOutputTestSupport", "SpeechEngine",
      "SpeechServers", "SpeechServerTestSupport", "SQLiteLedger", "TestSupport", "TextFormats", "VoicePackIntegrity",
      "VoicePackMaking", "VoicePacks", "Waveforms", "WebhookDelivery", "WebhookMessages", "WeeklyTimes", crypto,
      httpTypes, hummingbird, hummingbirdCore, logging, nioCore, nioEmbedded, nioHTTP1, nioPosix, serviceLifecycle,
      serviceLifecycleTestKit,
    ]),
  tests(
    "Tests/AnnouncementServiceTests",
    [
      "Announcements", "AnnouncementService", "Announcer", "ConcurrencySupport", "Ledger", "PaymentProviders",
      "SQLiteLedger", "TestSupport", "WeeklyTimes", crypto,
    ]),
  tests("Tests/AnnouncementsTests", ["AmountReadback", "Announcements", "TestSupport"]),
  tests(
    "Tests/AnnouncerTests",
    [
      "AmountReadback", "Announcements", "Announcer", "ConcurrencySupport", "FileSystem", "SoundFiles", "SoundLibrary",
      "SoundMeasurement", "speaker", "SpeakingPlans", "SpeechEngine", "SpeechServers", "SpeechServerTestSupport",
      "TestSupport", "VoicePackIntegrity", "VoicePackMaking", "VoicePacks", "Waveforms",
    ]),
  tests("Tests/APNSSimulatorTests", ["APNSSimulator", "ConcurrencySupport", crypto]),
  tests("Tests/ConcurrencySupportTests", ["ConcurrencySupport", "TestSupport"]),
  tests(
    "Tests/CrierCommandTests",
    [
      "ConcurrencySupport", "crier", "Ledger", "LedgerTestSupport", "PaymentProviders", "Playback", "PlaybackOrder",
      "PostgreSQL", "PostgreSQLLedger", "PostgreSQLTestSupport", "QRCodes", "ServiceAccess", "SoundMeasurement",
      "SoundOutputTestSupport", "speaker", "SpeechServerTestSupport", "SQLiteLedger", "TestSupport", "VoicePackMaking",
      "Waveforms", "WebhookMessages", crypto, grdb, logging,
    ]),
  tests(
    "Tests/DeviceClientTests",
    [
      "ConcurrencySupport", "DeviceClient", "FileSystem", "HostAddresses", "PushMessages", "SoundDownloads",
    ]),
  tests("Tests/FileSystemTests", ["FileSystem"], onLinux: ["SHA256Tests.swift": crypto]),
  tests("Tests/HostAddressesTests", ["HostAddresses"]),
  tests("Tests/InstallationDiagnosisTests", ["InstallationDiagnosis"]),
  tests(
    "Tests/InstallationExaminationTests",
    [
      "APNSSimulator", "HostAddresses", "InstallationDiagnosis", "InstallationExamination", "PostgreSQL",
      "PostgreSQLTestSupport", "PushDelivery", "ServiceAccess", "VoicePacks",
    ]),
  tests(
    "Tests/LedgerConformanceTests",
    [
      "ConcurrencySupport", "Ledger", "LedgerTestSupport", "PlaybackOrder", "PushMessages", "TestSupport",
      "WebhookMessages",
    ]),
  tests(
    "Tests/LedgerMovingTests",
    [
      "ConcurrencySupport", "Ledger", "ledger-writer", "LedgerMoving", "LedgerTestSupport", "PlaybackOrder",
      "PostgreSQL", "PostgreSQLLedger", "PostgreSQLTestSupport", "PushMessages", "SQLiteLedger", "TestSupport",
      "WebhookMessages", grdb,
    ]),
  tests(
    "Tests/LedgerTests",
    [
      "ConcurrencySupport", "FileSystem", "Ledger", "ledger-writer", "LedgerTestSupport", "PushMessages",
      "SQLiteLedger", "TestSupport", "WebhookMessages", grdb,
    ]),
  tests(
    "Tests/LibraryCopiesTests",
    [
      "ConcurrencySupport", "DeviceClient", "FileSystem", "HostAddresses", "LibraryCopies", "SoundDownloads",
      "SoundLibrary", "VoicePacks",
    ]),
  tests("Tests/MasteringTests", ["Mastering", "SoundMeasurement", "Waveforms"]),
  tests(
    "Tests/NotificationAttachmentsTests",
    [
      "ConcurrencySupport", "DownloadTestSupport", "FileSystem", "HostAddresses", "NotificationAttachments",
      "SoundDownloads",
    ]),
  tests(
    "Tests/NotificationServiceKitTests",
    [
      "Announcements", "ConcurrencySupport", "DeviceClient", "DownloadTestSupport", "FileSystem",
      "notification-extension", "NotificationAttachments", "NotificationServiceKit", "PlaybackOrder", "PushMessages",
      "SoundDownloads", "SoundHeaders", "SoundLibrary", "TestSupport", "VoicePacks", "Waveforms",
    ], onLinux: ["MessageLevelTests.swift": "SoundMeasurement"]),
  tests("Tests/PaymentProvidersTests", ["Announcements", "PaymentProviders", "TestSupport", crypto, cryptoExtras]),
  tests(
    "Tests/PhoneRegistrationTests",
    [
      "ConcurrencySupport", "DeviceClient", "DownloadTestSupport", "FileSystem", "HostAddresses", "LibraryCopies",
      "NotificationServiceKit", "PhoneRegistration", "PushMessages", "SoundDownloads", "SoundLibrary",
    ]),
  tests("Tests/PhraseBookChecksTests", ["AmountReadback", "Announcements", "PhraseBookChecks", "TestSupport"]),
  tests("Tests/PlaybackOrderTests", ["PlaybackOrder"]),
  tests(
    "Tests/PlaybackTests",
    [
      "Announcements", "Announcer", "ConcurrencySupport", "Ledger", "LedgerTestSupport", "Playback", "PlaybackOrder",
      "PlaybackTestSupport", "SoundLibrary", "SoundOutputs", "SoundOutputTestSupport", "SpeechEngine", "SQLiteLedger",
      "TestSupport", "Waveforms", "WeeklyTimes", grdb,
    ]),
  tests(
    "Tests/PostgreSQLLedgerTests",
    [
      "ConcurrencySupport", "Ledger", "LedgerTestSupport", "PlaybackOrder", "PostgreSQL", "PostgreSQLLedger",
      "PostgreSQLTestSupport", "PushMessages", "TestSupport", "WebhookMessages",
    ]),
  tests("Tests/PostgreSQLTests", ["ConcurrencySupport", "PostgreSQL", "PostgreSQLTestSupport", "TestSupport"]),
  tests(
    "Tests/ProviderSettingsTests",
    ["Announcements", "PaymentProviders", "ProviderSettings", "TestSupport", cryptoExtras]),
  tests(
    "Tests/PushDeliveryTests",
    [
      "APNSSimulator", "ConcurrencySupport", "FileSystem", "Ledger", "push-sender", "PushDelivery", "PushMessages",
      "PushTestSupport", "TestSupport", crypto, nioCore, nioEmbedded, nioHPACK, nioHTTP2,
    ]),
  tests("Tests/PushMessagesTests", ["Announcements", "PushMessages", "TestSupport"]),
  tests("Tests/QRCodesTests", ["QRCodes"]),
  tests("Tests/ResamplingTests", ["Resampling"]),
  tests("Tests/ServiceAccessTests", ["HostAddresses", "ServiceAccess", crypto]),
  tests("Tests/SoundDoctorTests", ["SoundDoctor", "SoundFiles", "SoundHeaders", "TestSupport", "Waveforms"]),
  tests(
    "Tests/SoundDownloadsTests",
    [
      "ConcurrencySupport", "DownloadTestSupport", "FileSystem", "HostAddresses", "SoundDownloads",
      "SoundDownloadsURLSession", "SoundLibrary", "TestSupport",
    ], onLinux: ["DoctorCheckTests.swift": "SoundDoctor"]),
  tests("Tests/SoundFilesTests", ["SoundFiles", "SoundMeasurement", "Waveforms"]),
  tests("Tests/SoundLibraryTests", ["ConcurrencySupport", "FileSystem", "SoundLibrary"]),
  tests("Tests/SoundOutputsTests", ["ConcurrencySupport", "SoundOutputs", "SoundOutputTestSupport", "Waveforms"]),
  tests("Tests/SpeechEngineTests", ["Announcements", "speaker", "SpeechEngine", "TestSupport", "Waveforms"]),
  tests(
    "Tests/SpeechServersTests",
    [
      "AmountReadback", "Announcements", "ConcurrencySupport", "Mastering", "SpeakingPlans", "SpeechServers",
      "SpeechServerTestSupport", "TestSupport", "Waveforms", nioCore, nioHTTP1,
    ]),
  tests("Tests/TextFormatsTests", ["TestSupport", "TextFormats"]),
  tests("Tests/ToneMakingTests", ["SoundMeasurement", "ToneMaking", "Waveforms"]),
  tests("Tests/VoicePackIntegrityTests", ["VoicePackIntegrity", "VoicePacks", "Waveforms"]),
  tests(
    "Tests/VoicePackMakingTests",
    [
      "AmountReadback", "Announcements", "ConcurrencySupport", "FileSystem", "Mastering", "SoundFiles",
      "SoundMeasurement", "SpeechEngine", "SpeechServers", "TestSupport", "VoicePackIntegrity", "VoicePackMaking",
      "VoicePacks", "Waveforms",
    ]),
  tests("Tests/VoicePacksTests", ["Announcements", "ConcurrencySupport", "VoicePacks", "Waveforms"]),
  tests("Tests/WaveformDrawingTests", ["WaveformDrawing", "Waveforms"]),
  tests(
    "Tests/WaveformsTests", ["TestSupport", "Waveforms"], onLinux: ["WaveformSplicingTests.swift": "SoundMeasurement"]),
  tests(
    "Tests/WebhookDeliveryTests",
    [
      "ConcurrencySupport", "HostAddresses", "Ledger", "SQLiteLedger", "TestSupport", "WebhookDelivery",
      "WebhookMessages",
    ]),
  tests("Tests/WebhookMessagesTests", ["Announcements", "TestSupport", "WebhookMessages"]),
  tests("Tests/WeeklyTimesTests", ["WeeklyTimes"]),
]

/// The long, exhaustive tests of `make check`, compiled in release mode.
let exhaustiveChecks: [Target] = [
  tests(
    "Tests/ExhaustiveChecks",
    [
      "AmountReadback", "Announcements", "Announcer", "ConcurrencySupport", "crier", "FuzzedReaders", "hostile-answers",
      "Ledger", "PhraseBookChecks", "play-log", "Playback", "PlaybackOrder", "PlaybackTestSupport", "push-sender",
      "PushTestSupport", "sound-keeper", "SoundLibrary", "SoundMeasurement", "SoundOutputs", "SoundOutputTestSupport",
      "speaker", "SpeechEngine", "SpeechServers", "SpeechServerTestSupport", "SQLiteLedger", "TestSupport",
      "VoicePackMaking", "VoicePacks", "Waveforms", "year-of-announcements",
    ])
]

/// The programs of `scripts/fuzz`, which libFuzzer runs. They have no `main` and link only with `--sanitize fuzzer`.
let fuzzing: [Target] = [
  program("Fuzzing/crier-fuzz", ["FuzzedReaders"], callsC: true),
  program("Fuzzing/speaker-fuzz"),
]

/// `CRIER_EXHAUSTIVE_CHECKS=only` leaves out the quick tests, and any other value adds the exhaustive checks to them.
/// `CRIER_TESTS` names the targets of tests to build, separated by commas; `make mutants` sets it, so that no other
/// tests are built.
let chosenTests =
  switch (Context.environment["CRIER_TESTS"], Context.environment["CRIER_EXHAUSTIVE_CHECKS"]) {
  case (let names?, _): quickTests.filter { names.split(separator: ",").contains(Substring($0.name)) }
  case (nil, nil): quickTests
  case (nil, "only"): exhaustiveChecks
  case (nil, _): quickTests + exhaustiveChecks
  }

let fuzzers = Context.environment["CRIER_FUZZING"] == nil ? [] : fuzzing

/// The libraries that an app and its extensions link.
let libraries = [
  "Announcements", "DeviceClient", "HostAddresses", "LibraryCopies", "NotificationAttachments",
  "NotificationServiceKit", "PhoneRegistration", "PushMessages", "SoundDownloads", "SoundDownloadsURLSession",
  "SoundHeaders", "SoundLibrary", "VoicePacks", "Waveforms",
]

/// The external packages that the service needs.
let packagesOfOthers: [Package.Dependency] = [
  .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
  .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
  .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
  .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
  .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
  .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
  .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
  .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
  .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
  .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
  .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
  .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
  .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
  .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
]

let wholeProject =
  base + words + sound + voices + store + delivery + phone + service + testSupport + benchmarks + fuzzSupport
  + chosenTests + fuzzers

// MARK: What each system builds

/// Returns the libraries of the phone with all targets that they need, and the tests that need no other targets.
func partForThePhone(of targets: [Target], tests: [Target]) -> [Target] {
  var names: Set<String> = []
  var open = libraries
  while let next = open.popLast() {
    guard names.insert(next).inserted else { continue }
    open += targets.filter { $0.name == next }.flatMap(\.dependencies).compactMap(name(of:))
  }
  names.formUnion(tests.map(\.name))
  // A test that needs any other target is removed, and so is every target that needs this test.
  while let other = targets.first(where: { target in
    names.contains(target.name) && !target.dependencies.allSatisfy { name(of: $0).map(names.contains) ?? false }
  }) {
    names.remove(other.name)
  }
  return targets.filter { names.contains($0.name) }
}

/// Returns the name of a dependency that is a target; nil if it is a product of another package.
func name(of dependency: Target.Dependency) -> String? {
  switch dependency {
  case .byNameItem(let name, _), .targetItem(let name, _): name
  default: nil
  }
}

// The service needs Linux: the speaker locks itself in with seccomp, and the player plays to ALSA. A Mac builds and
// tests the part for the phone, and Xcode reads the same part for an app. This part depends on no other packages.
#if os(Linux)
  let (targets, packages) = (wholeProject, packagesOfOthers)
  let programs: [Product] = [.executable(name: "crier", targets: ["crier"])]
#else
  let targets = partForThePhone(of: wholeProject, tests: testSupport + chosenTests)
  let (packages, programs): ([Package.Dependency], [Product]) = ([], [])
#endif

let package = Package(
  name: "crier",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: programs + libraries.map { .library(name: $0, targets: [$0]) },
  dependencies: packages,
  targets: targets,
  swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2
// SPDX-License-Identifier: Apache-2.0

import PackageDescription

/// The condition that compiles `BlockingWatchdog`: in debug builds, and in the release builds of CI.
let watchdog: SwiftSetting =
  Context.environment["CRIER_WATCHDOG"] == nil
  ? .define("CRIER_WATCHDOG", .when(configuration: .debug)) : .define("CRIER_WATCHDOG")

let settings: [SwiftSetting] = [
  watchdog,
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]
/// The settings of targets that call C. Every unsafe expression must be marked.
let settingsWithC: [SwiftSetting] = settings + [.strictMemorySafety()]

let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")
let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let cryptoExtras: Target.Dependency = .product(name: "CryptoExtras", package: "swift-crypto")
let asyncHTTPClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let hummingbirdCore: Target.Dependency = .product(name: "HummingbirdCore", package: "hummingbird")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let nioCore: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let nioHTTP1: Target.Dependency = .product(name: "NIOHTTP1", package: "swift-nio")
let dequeModule: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let heapModule: Target.Dependency = .product(name: "HeapModule", package: "swift-collections")
let asyncAlgorithms: Target.Dependency = .product(name: "AsyncAlgorithms", package: "swift-async-algorithms")
let serviceLifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let nioEmbedded: Target.Dependency = .product(name: "NIOEmbedded", package: "swift-nio")
let nioHPACK: Target.Dependency = .product(name: "NIOHPACK", package: "swift-nio-http2")
let nioHTTP2: Target.Dependency = .product(name: "NIOHTTP2", package: "swift-nio-http2")
let nioSSL: Target.Dependency = .product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS: Target.Dependency = .product(name: "NIOTLS", package: "swift-nio")
let nioPosix: Target.Dependency = .product(name: "NIOPosix", package: "swift-nio")
let swiftASN1: Target.Dependency = .product(name: "SwiftASN1", package: "swift-asn1")
let x509: Target.Dependency = .product(name: "X509", package: "swift-certificates")
let serviceLifecycleTestKit: Target.Dependency = .product(
  name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle")

/// The tests of `make test`, compiled in debug mode, and in release mode in CI.
let quickTests: [Target] = [
  .testTarget(
    name: "AnnouncementsTests", dependencies: ["Announcements", "AmountReadback", "TestSupport"],
    swiftSettings: settings),
  .testTarget(name: "AmountReadbackTests", dependencies: ["AmountReadback"], swiftSettings: settings),
  .testTarget(
    name: "WaveformsTests", dependencies: ["Waveforms", "SoundMeasurement", "TestSupport"], swiftSettings: settings),
  .testTarget(
    name: "VoicePacksTests", dependencies: ["Announcements", "ConcurrencySupport", "VoicePacks", "Waveforms"],
    swiftSettings: settings),
  .testTarget(
    name: "VoicePackIntegrityTests", dependencies: ["VoicePackIntegrity", "VoicePacks", "Waveforms"],
    swiftSettings: settings),
  .testTarget(
    name: "VoicePackMakingTests",
    dependencies: [
      "Announcements", "ConcurrencySupport", "FileSystem", "Mastering", "SoundFiles", "SoundMeasurement",
      "SpeechEngine", "TestSupport", "VoicePackIntegrity", "VoicePackMaking", "VoicePacks", "Waveforms",
    ],
    swiftSettings: settings),
  .testTarget(name: "QRCodesTests", dependencies: ["QRCodes"], swiftSettings: settings),
  .testTarget(
    name: "CommaSeparatedValuesTests", dependencies: ["CommaSeparatedValues", "TestSupport"],
    swiftSettings: settings),
  .testTarget(
    name: "ConcurrencySupportTests", dependencies: ["ConcurrencySupport", "TestSupport"], swiftSettings: settings),
  .testTarget(
    name: "InstallationDiagnosisTests", dependencies: ["InstallationDiagnosis"], swiftSettings: settings),
  .testTarget(
    name: "InstallationExaminationTests",
    dependencies: [
      "APNSSimulator", "HostAddresses", "InstallationDiagnosis", "InstallationExamination", "PushDelivery",
      "ServiceAccess", "VoicePacks",
    ],
    swiftSettings: settings),
  .testTarget(name: "JSONSupportTests", dependencies: ["JSONSupport"], swiftSettings: settings),
  .testTarget(
    name: "APNSSimulatorTests", dependencies: ["APNSSimulator", "ConcurrencySupport", crypto],
    swiftSettings: settings),
  .testTarget(
    name: "PushDeliveryTests",
    dependencies: [
      "APNSSimulator", "ConcurrencySupport", "FileSystem", "Ledger", "PushDelivery", "PushMessages", "PushTestSupport",
      "TestSupport", "push-sender", crypto, nioCore, nioEmbedded, nioHPACK, nioHTTP2,
    ],
    swiftSettings: settings),
  .testTarget(name: "ServiceAccessTests", dependencies: ["ServiceAccess", crypto], swiftSettings: settings),
  .testTarget(
    name: "LedgerTests",
    dependencies: [
      "ConcurrencySupport", "FileSystem", "Ledger", "LedgerTestSupport", "TestSupport", "WebhookMessages",
      "ledger-writer", grdb,
    ],
    swiftSettings: settings),
  .testTarget(
    name: "PaymentProvidersTests",
    dependencies: ["Announcements", "PaymentProviders", "TestSupport", crypto, cryptoExtras],
    swiftSettings: settings),
  .testTarget(
    name: "ProviderSettingsTests",
    dependencies: ["Announcements", "PaymentProviders", "ProviderSettings", "TestSupport", cryptoExtras],
    swiftSettings: settings),
  .testTarget(name: "PlaybackOrderTests", dependencies: ["PlaybackOrder"], swiftSettings: settings),
  .testTarget(name: "WeeklyTimesTests", dependencies: ["WeeklyTimes"], swiftSettings: settings),
  .testTarget(name: "PushMessagesTests", dependencies: ["PushMessages", "TestSupport"], swiftSettings: settings),
  .testTarget(name: "ResamplingTests", dependencies: ["Resampling"], swiftSettings: settings),
  .testTarget(
    name: "SoundOutputsTests",
    dependencies: ["ConcurrencySupport", "SoundOutputs", "SoundOutputTestSupport", "Waveforms"],
    swiftSettings: settings),
  .testTarget(
    name: "PlaybackTests",
    dependencies: [
      "Announcements", "Announcer", "ConcurrencySupport", "Ledger", "LedgerTestSupport", "Playback", "PlaybackOrder",
      "PlaybackTestSupport", "SoundLibrary", "SoundOutputs", "SoundOutputTestSupport", "SpeechEngine",
      "TestSupport", "Waveforms", "WeeklyTimes", grdb,
    ],
    swiftSettings: settings),
  .testTarget(name: "WaveformDrawingTests", dependencies: ["WaveformDrawing", "Waveforms"], swiftSettings: settings),
  .testTarget(name: "FileSystemTests", dependencies: ["FileSystem"], swiftSettings: settings),
  .testTarget(
    name: "SoundLibraryTests", dependencies: ["ConcurrencySupport", "FileSystem", "SoundLibrary"],
    swiftSettings: settings),
  .testTarget(
    name: "SoundDownloadsTests",
    dependencies: [
      "ConcurrencySupport", "DownloadTestSupport", "FileSystem", "HostAddresses", "SoundDoctor", "SoundDownloads",
      "SoundDownloadsURLSession", "SoundLibrary", "TestSupport", crypto,
    ],
    swiftSettings: settings),
  .testTarget(
    name: "NotificationServiceKitTests",
    dependencies: [
      "Announcements", "ConcurrencySupport", "DownloadTestSupport", "FileSystem", "NotificationAttachments",
      "NotificationServiceKit", "PlaybackOrder", "PushMessages", "SoundDownloads", "SoundHeaders", "SoundLibrary",
      "SoundMeasurement",
      "TestSupport", "VoicePacks", "Waveforms", "notification-extension",
    ],
    swiftSettings: settings),
  .testTarget(
    name: "NotificationAttachmentsTests",
    dependencies: [
      "ConcurrencySupport", "DownloadTestSupport", "FileSystem", "HostAddresses", "NotificationAttachments",
      "SoundDownloads",
    ],
    swiftSettings: settings),
  .testTarget(
    name: "DeviceClientTests", dependencies: ["ConcurrencySupport", "DeviceClient", "HostAddresses", "SoundDownloads"],
    swiftSettings: settings),
  .testTarget(
    name: "LibraryCopiesTests",
    dependencies: [
      "ConcurrencySupport", "DeviceClient", "FileSystem", "HostAddresses", "LibraryCopies", "SoundDownloads",
      "SoundLibrary", "VoicePacks",
    ],
    swiftSettings: settings),
  .testTarget(name: "HostAddressesTests", dependencies: ["HostAddresses"], swiftSettings: settings),
  .testTarget(
    name: "WebhookMessagesTests", dependencies: ["TestSupport", "WebhookMessages"], swiftSettings: settings),
  .testTarget(
    name: "WebhookDeliveryTests",
    dependencies: [
      "ConcurrencySupport", "HostAddresses", "Ledger", "TestSupport", "WebhookDelivery", "WebhookMessages",
    ],
    swiftSettings: settings),
  .testTarget(
    name: "MasteringTests", dependencies: ["Mastering", "Waveforms", "SoundMeasurement"], swiftSettings: settings),
  .testTarget(
    name: "ToneMakingTests", dependencies: ["SoundMeasurement", "ToneMaking", "Waveforms"], swiftSettings: settings),
  .testTarget(
    name: "SoundFilesTests", dependencies: ["SoundFiles", "Waveforms", "SoundMeasurement"], swiftSettings: settings),
  .testTarget(
    name: "SoundDoctorTests",
    dependencies: ["SoundDoctor", "SoundFiles", "SoundHeaders", "TestSupport", "Waveforms"], swiftSettings: settings),
  .testTarget(
    name: "SpeechEngineTests", dependencies: ["SpeechEngine", "Announcements", "Waveforms", "speaker"],
    swiftSettings: settings),
  .testTarget(
    name: "AnnouncerTests",
    dependencies: [
      "Announcer", "Announcements", "ConcurrencySupport", "FileSystem", "SoundFiles", "SoundLibrary",
      "SoundMeasurement",
      "SpeakingPlans", "SpeechEngine",
      "TestSupport",
      "VoicePackIntegrity", "VoicePackMaking", "VoicePacks", "Waveforms", "speaker",
    ],
    swiftSettings: settings),
  .testTarget(
    name: "AnnouncementServiceTests",
    dependencies: [
      "AnnouncementService", "Announcements", "Announcer", "ConcurrencySupport", "Ledger", "PaymentProviders",
      "TestSupport", "WeeklyTimes",
      crypto,
    ],
    swiftSettings: settings),
  .testTarget(
    name: "AnnouncementServerTests",
    dependencies: [
      "APNSSimulator", "AnnouncementServer", "AnnouncementService", "Announcements", "Announcer", "ConcurrencySupport",
      "FileSystem", "HostAddresses", "InstallationDiagnosis", "Ledger", "LedgerTestSupport",
      "Mastering", "PaymentProviders", "Playback", "PushDelivery", "PushMessages", "QRCodes", "ServiceAccess",
      "SoundFiles", "SoundLibrary",
      "SoundOutputTestSupport", "SoundOutputs",
      "SpeechEngine", "TestSupport", "VoicePackIntegrity", "VoicePackMaking", "VoicePacks", "Waveforms",
      "WebhookDelivery", "WebhookMessages", "WeeklyTimes", crypto,
      httpTypes, hummingbird, hummingbirdCore, logging, nioCore, nioEmbedded, nioHTTP1, nioPosix, serviceLifecycle,
      serviceLifecycleTestKit,
    ],
    swiftSettings: settings),
  .testTarget(
    name: "CrierCommandTests",
    dependencies: [
      "ConcurrencySupport", "Ledger", "LedgerTestSupport", "PaymentProviders", "Playback", "QRCodes", "ServiceAccess",
      "SoundMeasurement", "SoundOutputTestSupport", "TestSupport", "VoicePackMaking", "Waveforms", "WebhookMessages",
      "crier", "speaker", crypto, grdb, logging,
    ],
    swiftSettings: settings),
]

/// The long, exhaustive tests of `make check`, compiled in release mode.
let exhaustiveChecks: [Target] = [
  .testTarget(
    name: "ExhaustiveChecks",
    dependencies: [
      "Announcements", "AmountReadback", "Announcer", "ConcurrencySupport", "Ledger", "Playback", "PlaybackOrder",
      "PlaybackTestSupport", "PushTestSupport",
      "SoundLibrary", "SoundMeasurement", "SoundOutputs", "SoundOutputTestSupport", "SpeechEngine", "TestSupport",
      "VoicePackMaking", "VoicePacks", "Waveforms", "crier", "hostile-answers", "play-log", "push-sender",
      "sound-keeper", "speaker",
      "year-of-announcements",
    ],
    swiftSettings: settings)
]

/// `CRIER_EXHAUSTIVE_CHECKS=only` leaves out the quick tests, and any other value adds the exhaustive checks to them.
let tests =
  switch Context.environment["CRIER_EXHAUSTIVE_CHECKS"] {
  case nil: quickTests
  case "only": exhaustiveChecks
  default: quickTests + exhaustiveChecks
  }

/// The programs of `scripts/fuzz`, which libFuzzer runs. They have no `main` and link only with `--sanitize fuzzer`.
let fuzzing: [Target] = [
  .executableTarget(
    name: "crier-fuzz",
    dependencies: [
      "AmountReadback", "Announcements", "Announcer", "CommaSeparatedValues", "PaymentProviders", "ProviderSettings",
      "PushMessages", "ServiceAccess", "SoundFiles", "SpeechEngine", "TestSupport", "VoicePackMaking", "VoicePacks",
      "Waveforms", crypto, cryptoExtras,
    ],
    path: "Fuzzing/crier-fuzz", swiftSettings: settingsWithC),
  .executableTarget(name: "speaker-fuzz", path: "Fuzzing/speaker-fuzz"),
]

let fuzzers = Context.environment["CRIER_FUZZING"] == nil ? [] : fuzzing

let package = Package(
  name: "crier",
  platforms: [.macOS(.v15), .iOS(.v18)],
  products: [
    .executable(name: "crier", targets: ["crier"]),
    .library(name: "Announcements", targets: ["Announcements"]),
    .library(name: "DeviceClient", targets: ["DeviceClient"]),
    .library(name: "HostAddresses", targets: ["HostAddresses"]),
    .library(name: "NotificationServiceKit", targets: ["NotificationServiceKit"]),
    .library(name: "NotificationAttachments", targets: ["NotificationAttachments"]),
    .library(name: "LibraryCopies", targets: ["LibraryCopies"]),
    .library(name: "PushMessages", targets: ["PushMessages"]),
    .library(name: "SoundDownloads", targets: ["SoundDownloads"]),
    .library(name: "SoundDownloadsURLSession", targets: ["SoundDownloadsURLSession"]),
    .library(name: "SoundHeaders", targets: ["SoundHeaders"]),
    .library(name: "SoundLibrary", targets: ["SoundLibrary"]),
    .library(name: "VoicePacks", targets: ["VoicePacks"]),
    .library(name: "Waveforms", targets: ["Waveforms"]),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
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
  ],
  targets: [
    // C modules. Each has a module map and a header; CClock also has code.
    .systemLibrary(name: "CALSA", pkgConfig: "alsa", providers: [.apt(["libasound2-dev"])]),
    .systemLibrary(name: "CEBUR128", pkgConfig: "libebur128", providers: [.apt(["libebur128-dev"])]),
    .target(name: "CClock"),
    .systemLibrary(name: "CMalloc"),
    .systemLibrary(name: "CRename"),
    .systemLibrary(name: "CQRencode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
    .systemLibrary(name: "CSoxr", pkgConfig: "soxr", providers: [.apt(["libsoxr-dev"])]),
    .systemLibrary(name: "CSndFile", pkgConfig: "sndfile", providers: [.apt(["libsndfile1-dev"])]),

    // Portable targets. They import nothing but Foundation and the C library, which `scripts/check-targets` checks.
    .target(
      name: "Announcements", dependencies: ["CommaSeparatedValues", "ConcurrencySupport"], swiftSettings: settings),
    .target(name: "AmountReadback", dependencies: ["ConcurrencySupport"], swiftSettings: settings),
    .target(name: "Waveforms", swiftSettings: settings),
    .target(name: "WaveformDrawing", dependencies: ["Waveforms"], swiftSettings: settings),
    .target(name: "PlaybackOrder", swiftSettings: settings),
    .target(name: "WeeklyTimes", swiftSettings: settings),
    .target(name: "CommaSeparatedValues", swiftSettings: settings),
    .target(name: "ConcurrencySupport", swiftSettings: settings),
    .target(name: "JSONSupport", swiftSettings: settings),
    .target(name: "PushMessages", swiftSettings: settings),
    .target(name: "InstallationDiagnosis", swiftSettings: settings),
    .target(
      name: "VoicePacks", dependencies: ["Announcements", "ConcurrencySupport", "Waveforms"],
      swiftSettings: settingsWithC),
    .target(
      name: "SpeakingPlans", dependencies: ["AmountReadback", "Announcements", "VoicePacks", "Waveforms"],
      swiftSettings: settings),
    .target(
      name: "FileSystem",
      dependencies: ["ConcurrencySupport", .target(name: "CRename", condition: .when(platforms: [.linux]))],
      swiftSettings: settingsWithC),
    .target(name: "SoundLibrary", dependencies: ["ConcurrencySupport", "FileSystem"], swiftSettings: settingsWithC),
    .target(name: "HostAddresses", dependencies: ["ConcurrencySupport"], swiftSettings: settingsWithC),
    .target(
      name: "SoundDownloads", dependencies: ["ConcurrencySupport", "FileSystem", "HostAddresses", "SoundLibrary"],
      swiftSettings: settingsWithC),
    .target(
      name: "NotificationAttachments",
      dependencies: ["ConcurrencySupport", "FileSystem", "HostAddresses", "SoundDownloads"], swiftSettings: settings),

    .target(name: "SoundHeaders", dependencies: ["ConcurrencySupport"], swiftSettings: settings),

    // The work of an iOS notification service extension.
    .target(
      name: "NotificationServiceKit",
      dependencies: [
        "Announcements", "ConcurrencySupport", "DeviceClient", "FileSystem", "NotificationAttachments", "PlaybackOrder",
        "PushMessages", "SoundDownloads", "SoundHeaders", "SoundLibrary", "SpeakingPlans", "VoicePacks", "Waveforms",
      ],
      swiftSettings: settingsWithC),

    .target(
      name: "DeviceClient", dependencies: ["ConcurrencySupport", "FileSystem", "HostAddresses", "SoundDownloads"],
      swiftSettings: settings),
    .target(
      name: "LibraryCopies",
      dependencies: [
        "ConcurrencySupport", "DeviceClient", "FileSystem", "SoundDownloads", "SoundLibrary", "VoicePacks",
      ],
      swiftSettings: settings),

    // On Linux, URLSession is in FoundationNetworking, which links libcurl.
    .target(
      name: "SoundDownloadsURLSession", dependencies: ["ConcurrencySupport", "HostAddresses", "SoundDownloads"],
      swiftSettings: settingsWithC),

    // Targets that call C libraries.
    .target(
      name: "Mastering", dependencies: ["ConcurrencySupport", "Waveforms", "CEBUR128"], swiftSettings: settingsWithC),
    .target(name: "SoundFiles", dependencies: ["SoundHeaders", "Waveforms", "CSndFile"], swiftSettings: settingsWithC),
    .target(name: "Resampling", dependencies: ["CSoxr"], swiftSettings: settingsWithC),
    .target(name: "QRCodes", dependencies: ["CQRencode"], swiftSettings: settingsWithC),
    .target(name: "ToneMaking", dependencies: ["Mastering", "Waveforms"], swiftSettings: settings),
    .target(
      name: "SoundDoctor",
      dependencies: ["Mastering", "Resampling", "SoundFiles", "SoundHeaders", "SoundLibrary", "Waveforms"],
      swiftSettings: settings),
    .target(
      name: "SoundOutputs",
      dependencies: [
        "ConcurrencySupport", "FileSystem", "Resampling", "Waveforms",
        .target(name: "CALSA", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: settingsWithC),

    // The only program of the product that links libespeak-ng. Its license is GPL-3.0-or-later.
    .executableTarget(
      name: "speaker",
      exclude: ["COPYING"],
      linkerSettings: [.linkedLibrary("espeak-ng"), .linkedLibrary("seccomp")]),
    .target(
      name: "SpeechEngine", dependencies: ["Announcements", "ConcurrencySupport", "Waveforms"],
      swiftSettings: settingsWithC),

    .target(name: "VoicePackIntegrity", dependencies: ["VoicePacks", crypto], swiftSettings: settings),

    .target(
      name: "VoicePackMaking",
      dependencies: [
        "Announcements", "CommaSeparatedValues", "ConcurrencySupport", "FileSystem", "Mastering", "Resampling",
        "SpeechEngine", "VoicePackIntegrity", "VoicePacks", "Waveforms", "CSndFile",
      ],
      swiftSettings: settingsWithC),

    // The pipeline that makes all clips.
    .target(
      name: "Announcer",
      dependencies: [
        "Announcements", "ConcurrencySupport", "CommaSeparatedValues", "JSONSupport", "Waveforms",
        "Mastering", "Resampling", "SoundFiles",
        "SoundLibrary", "SpeakingPlans", "SpeechEngine", "VoicePacks", "VoicePackIntegrity", crypto,
        .target(name: "CMalloc", condition: .when(platforms: [.linux])),
      ],
      swiftSettings: settings),

    // The ledger, which survives crashes, and the player.
    .target(
      name: "Ledger", dependencies: ["ConcurrencySupport", "FileSystem", "WebhookMessages", grdb],
      swiftSettings: settingsWithC),
    .target(
      name: "Playback",
      dependencies: [
        "Announcements", "Announcer", "ConcurrencySupport", "Ledger", "Mastering", "PlaybackOrder", "Resampling",
        "SoundFiles",
        "SoundLibrary", "SoundOutputs", "SpeechEngine", "Waveforms", "WeeklyTimes",
      ],
      swiftSettings: settings),

    // The keys, signatures and limits of the service.
    .target(name: "ServiceAccess", dependencies: [crypto], swiftSettings: settings),

    // Pushes to phones.
    .target(
      name: "PushDelivery",
      dependencies: [
        "ConcurrencySupport", "FileSystem", "Ledger", "PushMessages", "ServiceAccess", crypto, dequeModule, heapModule,
        nioCore, nioHPACK, nioHTTP2, nioPosix, nioSSL, nioTLS,
      ],
      swiftSettings: settings),

    // Webhooks of payment providers to the service.
    .target(
      name: "PaymentProviders", dependencies: ["Announcements", crypto, cryptoExtras, swiftASN1, x509],
      swiftSettings: settings),

    // The files that say which providers' webhooks are taken, and what an unknown provider's mean.
    .target(
      name: "ProviderSettings",
      dependencies: ["Announcements", "FileSystem", "PaymentProviders", .product(name: "Yams", package: "Yams")],
      swiftSettings: settings),

    // Webhooks to the servers of accounts.
    .target(name: "WebhookMessages", dependencies: ["HostAddresses", crypto], swiftSettings: settings),
    .target(
      name: "WebhookDelivery",
      dependencies: [
        "ConcurrencySupport", "HostAddresses", "Ledger", "WebhookMessages", asyncHTTPClient, dequeModule, heapModule,
        nioCore, nioHTTP1, nioPosix, nioSSL,
      ],
      swiftSettings: settings),

    // What `crier doctor` looks at.
    .target(
      name: "InstallationExamination",
      dependencies: [
        "Announcements", "CClock", "ConcurrencySupport", "HostAddresses", "InstallationDiagnosis", "Ledger",
        "PushDelivery", "ServiceAccess", "SoundOutputs", "SpeechEngine", "VoicePackIntegrity", "VoicePacks",
        "Waveforms",
      ],
      swiftSettings: settingsWithC),

    // The acceptance of announcements, each once.
    .target(
      name: "AnnouncementService",
      dependencies: [
        "Announcements", "Announcer", "ConcurrencySupport", "Ledger", "Mastering", "PaymentProviders", "Playback",
        "PushMessages", "SoundLibrary", "SpeechEngine", "VoicePackIntegrity", "VoicePacks", "WeeklyTimes", crypto,
      ],
      swiftSettings: settings),

    // The HTTP service.
    .target(
      name: "AnnouncementServer",
      dependencies: [
        "AnnouncementService", "Announcements", "Announcer", "ConcurrencySupport", "FileSystem",
        "InstallationDiagnosis", "JSONSupport",
        "Ledger", "Mastering",
        "PaymentProviders", "Playback", "PushDelivery", "PushMessages", "QRCodes", "ServiceAccess",
        "SoundDoctor", "SoundFiles", "SoundLibrary", "SoundOutputs",
        "SpeechEngine", "VoicePackIntegrity", "VoicePackMaking", "VoicePacks", "Waveforms", "WebhookDelivery",
        "WebhookMessages", "WeeklyTimes", asyncAlgorithms, crypto,
        httpTypes,
        hummingbird, hummingbirdCore, logging, nioCore, nioHTTP1, serviceLifecycle,
      ],
      swiftSettings: settings),

    // A stand-in for Apple's push service. It shares no code with the client.
    .target(
      name: "APNSSimulator",
      dependencies: [
        "ConcurrencySupport", crypto, nioCore, nioHPACK, nioHTTP2, nioPosix, nioSSL, nioTLS, swiftASN1, x509,
      ],
      swiftSettings: settings),

    // The command line.
    .executableTarget(
      name: "crier",
      dependencies: [
        "APNSSimulator", "AnnouncementServer", "Announcements", "Announcer", "ConcurrencySupport", "FileSystem",
        "InstallationDiagnosis", "InstallationExamination", "JSONSupport", "Ledger", "Mastering", "PaymentProviders",
        "Playback", "PlaybackOrder", "ProviderSettings", "PushDelivery", "PushMessages", "QRCodes", "ServiceAccess",
        "SoundDoctor", "SoundFiles", "SoundHeaders", "SoundLibrary", "SoundOutputs", "SpeechEngine", "ToneMaking",
        "VoicePackIntegrity", "VoicePackMaking", "VoicePacks", "WaveformDrawing", "Waveforms", "WebhookDelivery",
        "WeeklyTimes", argumentParser, asyncHTTPClient, crypto, logging, nioCore, nioHTTP1, serviceLifecycle,
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "Yams", package: "Yams"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      swiftSettings: settings),

    // Support for tests: reproducible random numbers and sound measurement.
    .target(name: "TestSupport", path: "Tests/Support/TestSupport", swiftSettings: settings),
    .target(
      name: "DownloadTestSupport", dependencies: ["ConcurrencySupport", "HostAddresses", "SoundDownloads"],
      path: "Tests/Support/DownloadTestSupport", swiftSettings: settings),
    .target(
      name: "SoundMeasurement", dependencies: ["CEBUR128", "CSndFile"], path: "Tests/Support/SoundMeasurement",
      swiftSettings: settingsWithC),

    .target(
      name: "SoundOutputTestSupport",
      dependencies: ["ConcurrencySupport", "SoundOutputs", "TestSupport", "Waveforms"],
      path: "Tests/Support/SoundOutputTestSupport", swiftSettings: settings),
    .target(
      name: "LedgerTestSupport", dependencies: [grdb], path: "Tests/Support/LedgerTestSupport",
      exclude: ["version-6.sql", "version-14.sql"], swiftSettings: settings),
    .target(
      name: "PlaybackTestSupport",
      dependencies: [
        "ConcurrencySupport", "Ledger", "Playback", "SoundOutputs", "SoundOutputTestSupport", "Waveforms",
      ],
      path: "Tests/Support/PlaybackTestSupport", swiftSettings: settings),

    .target(
      name: "PushTestSupport",
      dependencies: [
        "APNSSimulator", "ConcurrencySupport", "Ledger", "PushDelivery", "PushMessages", "TestSupport", crypto,
      ],
      path: "Tests/Support/PushTestSupport", swiftSettings: settings),

    // Programs that tests kill at arbitrary moments.
    .executableTarget(
      name: "play-log", dependencies: ["Ledger", "Playback", "SoundOutputs", "Waveforms"],
      path: "Tests/Support/play-log",
      swiftSettings: settings),
    .executableTarget(
      name: "ledger-writer", dependencies: ["Ledger"], path: "Tests/Support/ledger-writer", swiftSettings: settings),

    // A program of `make fuzz` that no answer from outside may end.
    .executableTarget(
      name: "hostile-answers",
      dependencies: [
        "APNSSimulator", "ConcurrencySupport", "HostAddresses", "PushDelivery", "PushMessages", "TestSupport",
        "WebhookDelivery", "WebhookMessages", crypto, nioCore, nioPosix, nioSSL, nioTLS,
      ],
      path: "Fuzzing/hostile-answers", swiftSettings: settings),

    .executableTarget(
      name: "push-sender", dependencies: ["ConcurrencySupport", "Ledger", "PushDelivery", "PushTestSupport"],
      path: "Tests/Support/push-sender", swiftSettings: settings),

    .executableTarget(
      name: "sound-keeper", dependencies: ["SoundLibrary", "TestSupport"], path: "Tests/Support/sound-keeper",
      swiftSettings: settings),

    // A phone's extension process, and the push service of a simulated phone.
    .executableTarget(
      name: "notification-extension",
      dependencies: [
        "ConcurrencySupport", "DeviceClient", "HostAddresses", "NotificationAttachments", "NotificationServiceKit",
        "SoundDownloads", "SoundDownloadsURLSession", "SoundLibrary",
      ],
      path: "Tests/Support/notification-extension", swiftSettings: settings),
    .executableTarget(
      name: "simulated-push-service", dependencies: ["APNSSimulator"], path: "Tests/Support/simulated-push-service",
      swiftSettings: settings),

    // The programs of `make bench`.
    .executableTarget(
      name: "ledger-bench", dependencies: ["Ledger"], path: "Benchmarks/ledger-bench", swiftSettings: settingsWithC),
    .executableTarget(
      name: "year-of-announcements", dependencies: ["Ledger", "SoundLibrary"],
      path: "Benchmarks/year-of-announcements", swiftSettings: settings),
    .executableTarget(
      name: "push-bench", dependencies: ["ConcurrencySupport", "Ledger", "PushDelivery", "PushMessages"],
      path: "Benchmarks/push-bench", swiftSettings: settings),
    .executableTarget(
      name: "provider-bench",
      dependencies: ["AnnouncementService", "ConcurrencySupport", "Ledger", "PaymentProviders", "ProviderSettings"],
      path: "Benchmarks/provider-bench", swiftSettings: settings),
    .executableTarget(
      name: "bare-service", dependencies: [httpTypes, hummingbird, hummingbirdCore, nioCore],
      path: "Benchmarks/bare-service", swiftSettings: settings),
    .executableTarget(
      name: "crier-bench",
      dependencies: [
        "Announcements", "Announcer", "FileSystem", "PlaybackOrder", "SoundLibrary", "SpeechEngine", "VoicePacks",
        "Waveforms", argumentParser,
      ],
      path: "Benchmarks/crier-bench", swiftSettings: settings),
    .executableTarget(
      name: "in-process-limit", path: "Benchmarks/in-process-limit", linkerSettings: [.linkedLibrary("espeak-ng")]),
  ] + tests + fuzzers,
  swiftLanguageModes: [.v6]
)

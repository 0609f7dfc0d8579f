// SPDX-License-Identifier: Apache-2.0

import AnnouncementServer
import Announcements
import ArgumentParser
import Foundation
import HostAddresses
import Logging
import Playback
import PlaybackOrder
import ServiceAccess
import SoundLibrary
import SoundOutputs
import VoicePacks
import WeeklyTimes

/// The service's settings. Command-line flags take precedence over `CRIER_…` environment variables, which take
/// precedence over the YAML file, which takes precedence over the defaults.
struct ServiceConfiguration: Sendable {
  /// The names of the settings. Each setting has a default.
  enum Name: String, CaseIterable, Sendable {
    case host, port, hosts, output, locale, packs, group, groups, rate, burst, speakers, volume, gap, chime, chimes,
      batches
    case proxies, apns, ledger
    case ledgerPasswordFile = "ledger_password_file"
    case speechServers = "speech_servers"
    case leadIn = "lead_in_ms"
    case wakeSound = "wake_sound"
    case keepAwake = "keep_awake_seconds"
    case clipsAtOnce = "clips_at_once"
    case clipsADay = "clips_a_day"
    case clipMegabytesADay = "clips_mb_a_day"
    case eventStreams = "event_streams"
    case batchStreams = "batch_streams"
    case keyFailures = "key_failures"
    case publicURL = "public_url"
    case takeOver = "take_over"
    case resumeAfter = "resume_after_minutes"
    case resumeAtStart = "resume_at_start"
    case alarmDevice = "alarm_device_minutes"
    case alarmPaused = "alarm_paused_minutes"
    case alarmQueue = "alarm_queue"
    case alarmSilent = "alarm_silent_hours"
    case missingNumber = "missing_number_ms"
    case smallSums = "small_sums"
    case backlogPayments = "backlog_payments"
    case backlogSeconds = "backlog_seconds"
    case cacheMegabytes = "cache_mb"
    case urlDays = "url_days"
    case retentionDays = "retention_days"
    case soundMegabytes = "sounds_mb"
    case soundFiles = "sounds_files"
    case requestSeconds = "request_seconds"
    case stopSeconds = "stop_seconds"
    case connections
    case logLevel = "log_level"
    case pushMinutes = "push_minutes"
    case libraryPushSeconds = "library_push_seconds"
    case webhookPrivateAddresses = "webhook_private_addresses"
    case timeZone = "time_zone"
    case openingHours = "opening_hours"
    case quietHours = "quiet_hours"
    case quietSummary = "quiet_summary"
    case volumes

    /// The name of the setting's environment variable.
    var variable: String { "CRIER_\(rawValue.uppercased())" }
  }

  /// A setting's value and where it comes from.
  struct Setting: Sendable {
    var name: Name
    /// The value as YAML.
    var value: String
    var source: String
    /// The source and, if it is a file, the line of the setting, for errors.
    var place: String
  }

  /// The error for a setting that cannot be used.
  struct Fault: Error, CustomStringConvertible {
    var setting: String
    var source: String
    var rule: String
    var description: String { "\(setting) (\(source)): \(rule)\(rule.hasSuffix("?") ? "" : ".")" }
  }

  private(set) var settings = ServiceSettings(rate: ServiceConfiguration.defaultRate)
  private(set) var ledger = LedgerSetting.file
  /// The name of an output, or `none`.
  private(set) var output = "default"
  private(set) var speakers = ProcessInfo.processInfo.activeProcessorCount
  /// The settings of the player, without its chimes.
  private(set) var player = Player.Settings()
  private(set) var chime = ""
  private(set) var chimes: [Payment.Kind: String] = [:]
  private(set) var sink = SinkSettings()
  private(set) var logLevel = Logger.Level.info
  /// The sums that are said with “only”.
  private(set) var smallSums = SmallSums()
  /// The packs that speak, by locale.
  private(set) var packs = ChosenPacks()
  /// The apps to which pushes are sent, with their keys.
  private(set) var apns: [PushAppSetting] = []
  /// The speech servers, in the order in which they are preferred.
  private(set) var speechServers: [SpeechServerSetting] = []
  /// The time for which a push is worth sending, in minutes.
  private(set) var pushMinutes = 60
  /// Whether webhooks may go to private addresses, and over `http`.
  private(set) var allowsPrivateWebhooks = false
  /// The hours in which the shop is open; empty if they are not known.
  private(set) var openingHours = WeeklyTimes.never(in: .current)
  /// Every setting, in the order of ``Name``.
  private(set) var all: [Setting] = []
  /// A warning for each environment variable that looks like a setting but is not a setting, and for each app group
  /// with a name that no group on iOS can have.
  private(set) var warnings: [String] = []
  /// The warning about the URLs of clips in pushes, which is also in ``warnings``; nil if there is none.
  private(set) var publicURLWarning: String?

  /// Whether pushes to at least one app go through Apple's servers. Another server is for tests, in which phones fetch
  /// nothing.
  var usesApple: Bool { apns.contains { $0.server == nil } }

  private static var defaultRate: RateLimit {
    // Not from outside: both numbers are constants.
    guard let rate = try? RateLimit(rate: 200, burst: 400) else { preconditionFailure("200 a second is a rate.") }
    return rate
  }

  /// - Parameters:
  ///   - flags: The settings that were given as flags.
  ///   - file: The settings file from `--config`, which must exist. Nil means the home folder's file, which may be
  ///     missing.
  /// - Throws: ``Fault``.
  init(flags: [Name: String], environment: [String: String], file: URL?, home: CrierHome) throws {
    let place = file ?? home.configuration
    let settingsFile = SettingsFile(url: place, isRequired: file != nil)
    try settingsFile.checkNames()
    var values = try settingsFile.values()
    apns = try settingsFile.apns()
    if !apns.isEmpty { values[.apns] = apns.map(\.line).joined(separator: " ") }
    speechServers = try settingsFile.speechServers()
    if !speechServers.isEmpty { values[.speechServers] = speechServers.map(\.line).joined(separator: " ") }
    var variables: [Name: String] = [:]
    for name in Name.allCases { variables[name] = environment[name.variable] }
    var reader = SettingsReader(sources: [
      ("flag", flags, [:]), ("environment", variables, [:]),
      (place.lastPathComponent, values, settingsFile.lines()),
    ])
    try read(&reader)
    ledger = try LedgerSetting(&reader, environment: environment, folder: place.deletingLastPathComponent())
    all = reader.settings
    warnings = Self.warnings(about: environment)
    if ledger == .file, all.contains(where: { $0.name == .ledgerPasswordFile && $0.value != "''" }) {
      warnings.append(
        "ledger_password_file (\(self.place(of: .ledgerPasswordFile))): has no effect, because the setting 'ledger' "
          + "contains no server.")
    }
    if usesApple {
      publicURLWarning = Self.publicURLWarning(settings.publicURL)
      warnings += publicURLWarning.map { [$0] } ?? []
    }
    for (name, groups) in [(Name.group, [settings.group]), (.groups, settings.groups ?? [])] {
      warnings += GroupWarning.texts(about: groups, in: "\(name.rawValue) (\(self.place(of: name)))")
    }
  }

  private mutating func read(_ reader: inout SettingsReader) throws {
    settings.host = try reader.text(.host, settings.host, "give a name or an address")
    settings.port = try reader.number(.port, settings.port, 0...65_535)
    settings.hosts = try reader.names(
      .hosts, "", "give names or addresses without ports, separated by commas, such as till.example, 192.0.2.7"
    ) { ServiceSettings.isHost($0) ? $0 : nil }
    output = try reader.text(
      .output, output, "give default, alsa:NAME, null, file:PATH, or none for a service that plays nothing")
    settings.locale = try reader.text(.locale, settings.locale, "give a BCP 47 tag")
    packs = try reader.value(
      .packs, "",
      "give a language and a pack's id for each choice, such as en-US=my-shop, separated by spaces or commas",
      parse: PackSetting.choices(in:))
    smallSums = try reader.value(
      .smallSums, "",
      "give a currency and a limit below which its sums are small, such as VND=1000, separated by spaces or commas"
    ) { SmallSums($0) }
    settings.group = try reader.value(
      .group, settings.group, "give an app group: letters, digits, . and -, such as group.crier"
    ) { GroupContainer.isGroupName($0) ? $0 : nil }
    let groups = try reader.names(
      .groups, "", "give app groups with spaces or commas between them, such as 'group.till group.shop'"
    ) { GroupContainer.isGroupName($0) ? $0 : nil }
    settings.groups = groups.isEmpty ? nil : groups
    let publicURL = try reader.value(
      .publicURL, "", "give the public base URL, such as https://pay.example, without a query, a fragment or a user"
    ) { $0.isEmpty || Self.isBase($0) ? $0 : nil }
    settings.publicURL = publicURL.isEmpty ? nil : publicURL
    let rate = try reader.decimal(.rate, settings.rate.rate, RateLimit.rates)
    let burst = try reader.number(.burst, min(RateLimit.bursts.upperBound, max(1, Int(rate * 2))), RateLimit.bursts)
    settings.rate = try RateLimit(rate: rate, burst: burst)
    try readLimits(&reader)
    try readHours(&reader)
    speakers = try reader.number(.speakers, speakers, 1...256)
    player.volume = try reader.number(.volume, player.volume, 0...100)
    player.gap = Int64(try reader.number(.gap, Int(player.gap), 0...60_000))
    // The sound itself is checked later, when its file is read.
    chime = try reader.value(.chime, chime, "") { $0 }
    chimes = try reader.value(.chimes, "", ChimeSounds.rule, parse: ChimeSounds.choices(in:))
    sink.leadIn = try reader.number(.leadIn, sink.leadIn, SinkSettings.leadIns)
    sink.sound = try reader.choice(.wakeSound, sink.sound)
    sink.keepAwake = try reader.value(.keepAwake, "\(sink.keepAwake)", KeepAwake.rule) { KeepAwake($0) }
    player.idleRelease = sink.keepAwake.milliseconds
    settings.takesOver = try reader.flag(.takeOver, true)
    // 0 minutes mean that a pause never ends by itself.
    let pause = try reader.number(.resumeAfter, 0, 0...10_080)
    if pause > 0 { player.resumeAfter = Int64(pause) * 60_000 }
    player.resumesAtStart = try reader.flag(.resumeAtStart, false)
    var alarms = settings.alarms
    alarms.deviceMinutes = try reader.number(.alarmDevice, alarms.deviceMinutes, 0...10_080)
    alarms.pausedMinutes = try reader.number(.alarmPaused, alarms.pausedMinutes, 0...10_080)
    alarms.longestQueue = try reader.number(.alarmQueue, alarms.longestQueue, 0...1_000_000)
    // The alarm looks back at most 14 days, which are 336 hours.
    alarms.silentHours = try reader.number(.alarmSilent, alarms.silentHours, 0...336)
    settings.alarms = alarms
    player.order.sequencePatience = Int64(try reader.number(.missingNumber, 2_000, 0...600_000))
    // If more than these are waiting, payments are summarised. 0 means never.
    let payments = try reader.number(.backlogPayments, 0, 0...1_000_000)
    if payments > 0 { player.order.longestBacklog = payments }
    let seconds = try reader.number(.backlogSeconds, 0, 0...86_400)
    if seconds > 0 { player.order.longestBacklogMilliseconds = Int64(seconds) * 1000 }
    settings.cacheBytes = try reader.number(.cacheMegabytes, settings.cacheBytes >> 20, 1...65_536) << 20
    settings.urlLifetime = Double(try reader.number(.urlDays, Int(settings.urlLifetime / 86_400), 1...3_650)) * 86_400
    settings.retention =
      Double(try reader.number(.retentionDays, Int(settings.retention / 86_400), 1...36_500)) * 86_400
    let bytes = try reader.number(.soundMegabytes, (settings.mostSoundBytes ?? 0) >> 20, 0...1_000_000_000) << 20
    settings.mostSoundBytes = bytes > 0 ? bytes : nil
    let files = try reader.number(.soundFiles, settings.mostSounds ?? 0, 0...1_000_000_000)
    settings.mostSounds = files > 0 ? files : nil
    let apps = try reader.value(
      .apns, "", "is a list of entries with keys, so set it in the settings file"
    ) { [apns] in $0.isEmpty || !apns.isEmpty ? $0 : nil }
    if apps.isEmpty { apns = [] }
    let servers = try reader.value(
      .speechServers, "", "is a list of entries, so set it in the settings file"
    ) { [speechServers] in $0.isEmpty || !speechServers.isEmpty ? $0 : nil }
    if servers.isEmpty { speechServers = [] }
    pushMinutes = try reader.number(.pushMinutes, pushMinutes, 1...1_440)
    settings.libraryPushInterval = Double(
      try reader.number(.libraryPushSeconds, Int(settings.libraryPushInterval), 10...86_400))
    allowsPrivateWebhooks = try reader.flag(.webhookPrivateAddresses, false)
    settings.requestDeadline = Double(try reader.number(.requestSeconds, Int(settings.requestDeadline), 1...3_600))
    settings.stopDeadline = Double(try reader.number(.stopSeconds, Int(settings.stopDeadline), 1...3_600))
    settings.mostConnections = try reader.number(.connections, settings.mostConnections, 16...1_000_000)
    logLevel = try reader.choice(.logLevel, logLevel)
  }

  /// Reads the limits on the work of an account and on requests without a valid key.
  private mutating func readLimits(_ reader: inout SettingsReader) throws {
    var work = settings.work
    work.clipsAtOnce = try reader.number(.clipsAtOnce, work.clipsAtOnce, 1...1_000)
    work.clipsADay = try reader.number(.clipsADay, work.clipsADay, 1...1_000_000_000)
    work.bytesADay = try reader.number(.clipMegabytesADay, work.bytesADay >> 20, 1...1_000_000_000) << 20
    work.eventStreams = try reader.number(.eventStreams, work.eventStreams, 1...100)
    work.batchStreams = try reader.number(.batchStreams, work.batchStreams, 1...100)
    work.batches = try reader.number(.batches, work.batches, 1...16)
    settings.work = work
    let failures = try reader.number(.keyFailures, 10, 0...100_000)
    settings.keyFailures = failures > 0 ? try RateLimit(rate: Double(failures), burst: 5 * failures) : nil
    settings.proxies = Set(
      try reader.names(
        .proxies, "127.0.0.1 ::1", "give addresses with spaces or commas between them, such as '127.0.0.1 ::1'",
        parse: { IPAddress($0) }))
  }

  /// Reads the settings that depend on the time of day.
  private mutating func readHours(_ reader: inout SettingsReader) throws {
    let zone = try reader.value(
      .timeZone, "",
      "give a name of the IANA database, such as Europe/Berlin, or nothing for the time zone of this machine"
    ) { [settings] in $0.isEmpty ? settings.timeZone : TimeZone.named($0) }
    settings.timeZone = zone
    openingHours = try reader.times(.openingHours) { text throws(WeeklyTimesError) in
      try WeeklyTimes(text, zone: zone)
    }
    player.quietHours = try reader.times(.quietHours) { text throws(WeeklyTimesError) in
      try WeeklyTimes(text, zone: zone)
    }
    player.summarisesQuietPayments = try reader.flag(.quietSummary, false)
    player.volumes = try reader.times(.volumes) { text throws(WeeklyTimesError) in try VolumeRules(text, zone: zone) }
  }

  /// The environment variables that begin with `CRIER_` and are not settings. The documented examples of clients read
  /// `CRIER_KEY` and `CRIER_URL`, and a client may run in the same environment.
  private static let otherVariables = ["CRIER_HOME", "CRIER_DATA", "CRIER_KEY", "CRIER_URL"]

  private static func warnings(about environment: [String: String]) -> [String] {
    let settings = Name.allCases.map(\.variable)
    return environment.keys.filter { $0.hasPrefix("CRIER_") && !(settings + otherVariables).contains($0) }.sorted()
      .map { name in
        let meant = SimilarNames.name(like: name, among: settings)
        return "\(Terminal.printable(name)) (environment): is not a setting and has no effect"
          + (meant.map { "; did you mean \($0)?" } ?? ".")
      }
  }

  /// Whether the text is a base URL that paths can be appended to. A query or a fragment would make that impossible,
  /// and a user name in it would be shown to everyone.
  static func isBase(_ text: String) -> Bool {
    // Foundation repairs some malformed URLs, so the text must equal the parsed URL.
    guard let url = URL(string: text), url.absoluteString == text, ["https", "http"].contains(url.scheme),
      url.host() != nil
    else { return false }
    return url.query() == nil && url.fragment() == nil && url.user() == nil && url.password() == nil
  }

  /// Returns the error for a setting whose value turns out to be unusable only when it is used.
  ///
  /// - Parameter rule: What is wrong and what to do next, without a full stop.
  func fault(in name: Name, _ rule: String) -> Fault {
    Fault(setting: name.rawValue, source: place(of: name), rule: rule)
  }

  /// Reads the chimes.
  ///
  /// - Throws: ``Fault``.
  func chimes(_ sounds: ChimeSounds) throws(Fault) -> Chimes {
    var chimes = Chimes()
    do { chimes.all = try sounds.chime(chime) } catch { throw fault(in: .chime, ChimeSounds.rule(of: error)) }
    do { chimes.own = try sounds.own(self.chimes) } catch { throw fault(in: .chimes, ChimeSounds.rule(of: error)) }
    return chimes
  }

  func invalidOutput(_ error: OutputError) -> Fault {
    fault(in: .output, "“\(output)” is not an output: \(error.reason); \(error.remedy)")
  }

  /// Returns where a setting comes from, with its line in a file.
  func place(of name: Name) -> String { all.first { $0.name == name }?.place ?? "default" }

  /// The settings as YAML, each with its source in a comment.
  var yaml: String {
    let width = (all.map { $0.name.rawValue.count + $0.value.count }.max() ?? 0) + 4
    return all.map { setting in
      let line = "\(setting.name.rawValue): \(setting.value)"
      return line + String(repeating: " ", count: max(1, width - line.count)) + "# \(setting.source)"
    }.joined(separator: "\n")
  }
}

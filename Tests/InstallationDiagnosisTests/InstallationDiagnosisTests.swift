// SPDX-License-Identifier: Apache-2.0

import Foundation
import InstallationDiagnosis
import Testing

@Suite("Diagnosis of an installation")
struct InstallationDiagnosisTests {
  @Test("a healthy installation has one check for each part, every check is ok, and the exit status is 0")
  func healthy() {
    let diagnosis = InstallationFacts.diagnosis { _ in }
    #expect(diagnosis.checks.map(\.part) == InstallationCheck.Part.allCases)
    #expect(diagnosis.checks.allSatisfy { $0.verdict == .ok && $0.problems.isEmpty })
    #expect(diagnosis.verdict == .ok && diagnosis.exitStatus == 0)
    #expect(diagnosis.lines.last == "17 checks: no faults, no warnings.")
    #expect(diagnosis.lines.count == 18, "one line for each check, and the count")
  }

  @Test(
    "crier doctor ends with 73 for a fault of the home, its disk or the ledger, 69 for other faults, 0 for a warning")
  func exitStatus() {
    #expect(InstallationFacts.diagnosis { $0.home.place = .missing(.thisUser) }.exitStatus == 73)
    #expect(InstallationFacts.diagnosis { $0.disk?.freeBytes = 0 }.exitStatus == 73)
    #expect(InstallationFacts.diagnosis { $0.ledger = .unreadable(.damaged) }.exitStatus == 73)
    #expect(InstallationFacts.diagnosis { $0.engine = .dataMissing }.exitStatus == 69)
    #expect(InstallationFacts.diagnosis { $0.port?.outcome = .otherProgram }.exitStatus == 69)
    let both = InstallationFacts.diagnosis {
      $0.engine = .dataMissing
      $0.ledger = .unreadable(.newer)
    }
    #expect(both.exitStatus == 73)
    let warned = InstallationFacts.diagnosis { $0.clock.isSynchronized = false }
    #expect(warned.exitStatus == 0 && warned.verdict == .warning)
  }

  /// Each broken part, with the code of its problem and the remedy.
  private static let faults: [(InstallationProblem.Code, String, @Sendable (inout InstallationFacts) -> Void)] = [
    (.settingsUnusable, "crier serve --print-config --home '/srv/my home'", { $0.settings.fault = "prot: no" }),
    (.settingIgnored, "crier serve --print-config", { $0.settings.warnings = ["CRIER_PROT is not a setting."] }),
    (.chimeUnusable, "crier serve --print-config", { $0.settings.chimeFault = "There is no such file." }),
    (.paymentProvidersUnusable, "crier providers list", { $0.settings.paymentProviderFault = "providers.yaml:3: …" }),
    (.providerKeyUnusable, "key file", { $0.settings.providerKeyFaults = ["The key is readable by others."] }),
    (.homeMissing, "\ninstall -d -m 700 '/srv/my home'", { $0.home.place = .missing(.thisUser) }),
    (
      .homeMissing, "\nsudo install -d -m 700 -o \"$(id -un)\" -g \"$(id -gn)\" '/srv/my home'",
      { $0.home.place = .missing(.root) }
    ),
    (
      .homeMissing, "\ninstall -d -m 700 -o crier -g crier '/srv/my home'",
      { $0.home.place = .missing(.rootFor(account: "crier")) }
    ),
    (.homeNotAFolder, "--home", { $0.home.place = .notAFolder }),
    (.homeUnreachable, "runuser -u USER -- crier doctor", { $0.home.place = .unreachable }),
    (.foreignOwner, "runuser -u crier -- crier doctor --home '/srv/my home'", { $0.home.foreignOwner = "crier" }),
    (
      .writableByOthers, "chmod go-w /srv",
      { $0.home.unsafeFiles = [InstallationProblem(.writableByOthers, "It is.", remedy: "chmod go-w /srv")] }
    ),
    (
      .readableByOthers, "chmod go= /srv",
      { $0.home.unsafeFiles = [InstallationProblem(.readableByOthers, "It is.", remedy: "chmod go= /srv")] }
    ),
    (.homeNotWritable, "chmod u+rwx '/srv/my home'", { $0.home.isWritable = false }),
    (.signingSecretDamaged, "rm '/srv/my home/signing-secret'", { $0.home.secretBytes = 31 }),
    (.diskFull, "du -xh --max-depth=1 '/srv/my home'", { $0.disk?.freeBytes = 8 << 20 - 1 }),
    (.diskFull, "du -xh", { $0.disk?.freeFiles = 0 }),
    (.diskLow, "du -xh", { $0.disk?.freeBytes = 1 << 30 - 1 }),
    (.diskLow, "du -xh", { $0.disk?.freeFiles = 500 }),
    (.diskReadOnly, "mount -o remount,rw", { $0.disk?.isReadOnly = true }),
    (.diskUnknown, "df '/srv/my home'", { $0.disk?.freeBytes = nil }),
    (.networkFileSystem, "local disk", { $0.disk?.network = "NFS" }),
    (.ledgerDamaged, "cp -a BACKUP/ledger.sqlite '/srv/my home'", { $0.ledger = .unreadable(.damaged) }),
    (.ledgerNewer, "Install that version again", { $0.ledger = .unreadable(.newer) }),
    (.ledgerOlder, "crier keys list --home '/srv/my home'", { $0.ledger = .unreadable(.older) }),
    (.ledgerForeign, "mv -n '/srv/my home/ledger.sqlite'", { $0.ledger = .unreadable(.foreign) }),
    (.ledgerUnreadable, "ls -l '/srv/my home/ledger.sqlite'", { $0.ledger = .unreadable(.other("busy")) }),
    (.ledgerLogUnindexed, "crier keys list", { $0.ledger = .unreadable(.unindexed) }),
    (
      .ledgerUnreachable, "Start it.",
      { $0.ledger = .failed(InstallationProblem(.ledgerUnreachable, "It is down.", remedy: "Start it.")) }
    ),
    (
      .ledgerAccessDenied, "Let it in.",
      { $0.ledger = .failed(InstallationProblem(.ledgerAccessDenied, "It refuses.", remedy: "Let it in.")) }
    ),
    (
      .ledgerDatabaseMissing, "Make it.",
      { $0.ledger = .failed(InstallationProblem(.ledgerDatabaseMissing, "There is none.", remedy: "Make it.")) }
    ),
    (
      .ledgerPasswordUnusable, "chmod 600",
      { $0.ledger = .failed(InstallationProblem(.ledgerPasswordUnusable, "It is open.", remedy: "chmod 600 x")) }
    ),
    (.ledgerReadOnly, "Give all servers", { $0.ledger = .answered { $0.isStandby = true } }),
    (
      .nodesDiffer, "Copy",
      {
        $0.ledger = .answered {
          $0.differences = [.init(thing: "lexicon", machines: [["shop-1"], ["shop-2"]], isOfUpgrade: false)]
        }
      }
    ),
    (.ledgerNotDurable, "postgresql.conf", { $0.ledger = .answered { $0.unsafeSettings = "fsync=off" } }),
    (
      .ledgerOlder, "crier keys list --home '/srv/my home'",
      { $0.ledger = .answered { ($0.tables, $0.contents) = (.older(missing: 1), nil) } }
    ),
    (
      .ledgerForeign, "setting 'ledger'",
      { $0.ledger = .answered { ($0.tables, $0.contents) = (.foreign, nil) } }
    ),
    (.workSetAside, "journalctl -u crier", { $0.ledger = .answered { $0.contents?.setAside = 2 } }),
    (
      .noKeyInForce, "crier keys create",
      { $0.ledger = .answered { $0.contents?.keys = LedgerFacts.Keys(inForce: 0, ended: 1) } }
    ),
    (
      .workSetAside, "journalctl -u crier",
      { $0.ledger = .sound(bytes: 1, isOpen: true, keys: LedgerFacts.Keys(inForce: 1, ended: 0), setAside: 2) }
    ),
    (
      .noKey, "crier keys create --home '/srv/my home'",
      {
        $0.settings.isReachable = true
        $0.ledger = .missing
      }
    ),
    (
      .noKeyInForce, "crier keys create",
      { $0.ledger = .sound(bytes: 1, isOpen: true, keys: LedgerFacts.Keys(inForce: 0, ended: 1)) }
    ),
    (.phraseBooksMissing, "--data", { $0.phraseBooks.missing = "There are none." }),
    (
      .phraseBookInvalid, "Install Crier again",
      { $0.phraseBooks.broken = [PhraseBookFacts.Broken(locale: "zh-CN", error: "It is broken.")] }
    ),
    (.localeUnknown, "setting 'locale'", { $0.phraseBooks.defaultLocaleFault = "There is none." }),
    (.lexiconInvalid, "mv -n '/srv/my home/lexicon.csv'", { $0.phraseBooks.lexiconFault = "Line 2 is wrong." }),
    (.consoleMissing, "Install Crier again", { $0.console.isComplete = false }),
    (
      .speakerMissing, "apt-get install --reinstall ./crier_",
      { $0.engine = .speakerMissing(program: "/usr/libexec/crier/speaker") }
    ),
    (.engineDataMissing, "apt-get install --reinstall espeak-ng-data", { $0.engine = .dataMissing }),
    (.engineFailed, "Try again.", { $0.engine = .failed(problem: "it died", remedy: "try again") }),
    (.sandboxUnavailable, "grep Seccomp_filters /proc/self/status", { $0.engine = .sandboxUnavailable }),
    (
      .packUnusable, "crier voices remove my-shop",
      { $0.packs.packs = [VoicePackFacts.Pack(id: "my-shop", isUsers: true, condition: .unusable("no manifest"))] }
    ),
    (
      .packChanged, "Install Crier again",
      { $0.packs.packs = [VoicePackFacts.Pack(id: "en", isUsers: false, condition: .changed(file: "one.wav"))] }
    ),
    (.packChoicesUnreadable, "mv -n '/srv/my home/packs.json'", { $0.packs.choicesFault = "it is not JSON" }),
    (
      .chosenPackMissing, "crier voices list",
      { $0.packs.missingChoices = [VoicePackFacts.MissingChoice(locale: "en-US", id: "gone", isSetting: false)] }
    ),
    (.outputInvalid, "Write “alsa:hw:0”.", { $0.output?.outcome = .invalidName("no", remedy: "write “alsa:hw:0”") }),
    (.outputUnusable, "aplay -L", { $0.output?.outcome = .failed("no such device", remedy: "choose another") }),
    (.outputUnusable, "crier queue", { $0.output?.outcome = .played(process: 12, lostDevice: "device_lost") }),
    (.outputBusy, "fuser -v", { $0.output?.outcome = .busy("it is busy") }),
    (.portTaken, "ss -ltnp 'sport = :8080'", { $0.port?.outcome = .otherProgram }),
    (.portNotPermitted, "crier serve --port 8081", { $0.port?.outcome = .notPermitted }),
    (.addressUnusable, "ip -brief address", { $0.port?.outcome = .unusable("it is not of this machine") }),
    (
      .serviceUnready, "curl -sS http://127.0.0.1:8080/readyz",
      { $0.port?.outcome = .service(status: "unready", failing: ["disk"]) }
    ),
    (.serviceDegraded, "/readyz", { $0.port?.outcome = .service(status: "degraded", failing: ["device"]) }),
    (
      .pushRefused, "restart the service",
      {
        $0.port?.outcome = .service(
          status: "degraded", failing: ["pushes"], pushRefusal: "TopicDisallowed: The team does not own the app.")
      }
    ),
    (
      .pushServerUnreachable, "curl -sS -o /dev/null --http2 https://api.push.apple.com:443/",
      { $0.pushes?.servers[0].outcome = .failed("api.push.apple.com:443 cannot be reached.") }
    ),
    (.speechServerUnusable, "setting 'speech_servers'", { $0.settings.speechServerFault = "The key cannot be read." }),
    (
      .speechServerFailing, "Start the speech server",
      { $0.speechServers?[0].outcome = .failed("The speech server joe cannot be reached.") }
    ),
    (
      .speechServerUntested, "crier voices test joe --locale en-US",
      { $0.speechServers?[0].outcome = .answered(identity: "piper 1.9.0, joe", milliseconds: 3, tested: []) }
    ),
    (.publicURLUnusable, "public_url: https://", { $0.pushes?.publicURLFault = "Phones cannot fetch the clips." }),
    (
      .unitNetworkClosed,
      "as root:\ninstall -D -m 644 /usr/share/crier/Deployment/network.conf "
        + "/etc/systemd/system/crier.service.d/network.conf\n"
        + "systemctl daemon-reload && systemctl restart crier.service",
      { $0.unit?.isClosed = true }
    ),
    (
      .unitNetworkClosed, "IPAddressAllow= in systemctl edit crier.service",
      { $0.unit?.blockedServers = ["api.push.apple.com"] }
    ),
    (
      .unitNetworkClosed, "IPAddressAllow= in systemctl edit crier.service",
      { $0.unit?.blockedLedgerHosts = ["db1.example"] }
    ),
    (.clockBehind, "timedatectl", { $0.clock.now = 1_000 }),
    (.clockBehind, "timedatectl", { $0.clock.ledgerChangedAt = $0.clock.now + 61 }),
    (.clockDiffers, "timedatectl set-ntp true", { $0.clock.serverAheadBy = 61 }),
    (.clockDiffers, "timedatectl set-ntp true", { $0.clock.serverAheadBy = -61 }),
    (.clockNotSynchronized, "timedatectl set-ntp true", { $0.clock.isSynchronized = false }),
    (.openFilesTooFew, "LimitNOFILE=65536", { $0.openFiles.limit = 151 }),
    (.openFilesLow, "ulimit -n 8328", { $0.openFiles.limit = 152 }),
  ]

  @Test("each fault of an installation, alone, leads to exactly one problem with its code and remedy")
  func eachFault() {
    for (code, remedy, change) in Self.faults {
      let diagnosis = InstallationFacts.diagnosis(change)
      #expect(diagnosis.problems.map(\.code) == [code], "\(code)")
      #expect(diagnosis.problems.allSatisfy { $0.remedy.contains(remedy) }, "\(diagnosis.problems)")
      #expect(diagnosis.verdict == (code.severity == .fault ? .fault : .warning))
    }
    #expect(Set(Self.faults.map(\.0)) == Set(InstallationProblem.Code.allCases), "every code is tested")
  }

  @Test("each problem of an installation has a message that is a sentence, and a remedy")
  func sentences() {
    for (_, _, change) in Self.faults {
      for problem in InstallationFacts.diagnosis(change).problems {
        #expect(!problem.remedy.isEmpty && !problem.message.isEmpty)
        #expect(
          problem.message.first?.isLowercase == false || problem.code == .settingsUnusable
            || problem.code == .signingSecretDamaged)
      }
    }
  }

  @Test("a value that is exactly at its limit is not reported as a problem")
  func limits() {
    for change: (inout InstallationFacts) -> Void in [
      { $0.disk?.freeBytes = 1 << 30 }, { $0.disk?.freeFiles = 10_000 }, { $0.disk?.freeFiles = nil },
      { $0.openFiles.limit = 8_328 }, { $0.clock.ledgerChangedAt = $0.clock.now + 60 },
      { $0.clock.ledgerChangedAt = nil }, { $0.clock.isSynchronized = nil }, { $0.clock.serverAheadBy = -60 },
      { $0.home.secretBytes = nil },
    ] {
      #expect(InstallationFacts.diagnosis(change).verdict == .ok)
    }
    #expect(InstallationFacts.diagnosis { $0.disk?.freeBytes = 8 << 20 }.problems.map(\.code) == [.diskLow])
  }

  @Test(
    "the time by which the clock is behind the ledger has the largest unit that fits",
    arguments: [
      (61, "1 minute"), (120, "2 minutes"), (3_599, "59 minutes"), (3_600, "1 hour"), (86_399, "23 hours"),
      (86_400, "1 day"), (259_200, "3 days"),
    ])
  func clockBehind(seconds: Int, duration: String) {
    let diagnosis = InstallationFacts.diagnosis { $0.clock.ledgerChangedAt = $0.clock.now + seconds }
    #expect(diagnosis.problems.count == 1)
    #expect(diagnosis.problems.allSatisfy { $0.message.contains(" changed \(duration) after the time") })
  }

  @Test(
    "a service that is not ready is reported, unless the only cause is refused pushes, which have their own problem")
  func unreadyService() {
    func codes(_ failing: [String], _ refusal: String? = nil) -> [InstallationProblem.Code] {
      InstallationFacts.diagnosis {
        $0.port?.outcome = .service(status: "unready", failing: failing, pushRefusal: refusal)
      }.problems.map(\.code)
    }
    #expect(codes([]) == [.serviceUnready])
    #expect(codes(["disk"]) == [.serviceUnready])
    #expect(codes(["pushes"], "TopicDisallowed") == [.pushRefused])
    #expect(codes(["disk", "pushes"], "TopicDisallowed") == [.pushRefused, .serviceUnready])
  }

  @Test("a new home without a ledger is healthy, because the service makes the ledger and the key")
  func newHome() {
    let diagnosis = InstallationFacts.diagnosis { $0.ledger = .missing }
    #expect(diagnosis.verdict == .ok)
    #expect(diagnosis[.keys]?.found.contains("makes one at its first start") == true)
  }

  @Test("the checks of parts that depend on a broken part are skipped, and the fault is still reported")
  func skipped() {
    let home = InstallationFacts.diagnosis {
      $0.home = HomeFacts(place: .folder(owner: "crier", mode: 0o700), foreignOwner: "crier")
      $0.ledger = .skipped
    }
    #expect(home.checks.filter { $0.verdict == .skipped }.map(\.part) == [.ledger, .keys])
    #expect(home.exitStatus == 73 && home.lines.last == "17 checks: 1 fault, no warnings, 2 skipped.")
    let settings = InstallationFacts.diagnosis {
      $0.settings.fault = "prot: is not a setting; did you mean port?"
      ($0.output, $0.port, $0.pushes, $0.speechServers) = (nil, nil, nil, nil)
    }
    #expect(
      settings.checks.filter { $0.verdict == .skipped }.map(\.part) == [.sound, .port, .pushes, .speechServers])
    let engine = InstallationFacts.diagnosis { $0.engine = .sandboxUnavailable }
    #expect(engine[.engine]?.verdict == .skipped && engine[.sandbox]?.verdict == .fault)
    #expect(InstallationFacts.diagnosis { $0.engine = .dataMissing }[.sandbox]?.verdict == .skipped)
    #expect(InstallationFacts.diagnosis { $0.disk = nil }[.disk]?.verdict == .skipped)
    let output = InstallationFacts.diagnosis { $0.output?.outcome = .notTried("the ledger cannot be read") }
    #expect(output[.sound]?.verdict == .skipped && output[.sound]?.found == "the ledger cannot be read")
  }

  @Test("a running service on the port is not a problem, and neither is an output that needs no device")
  func runningService() {
    for change: (inout InstallationFacts) -> Void in [
      { $0.port?.outcome = .service(status: "ready", failing: []) }, { $0.port?.outcome = .any },
      { $0.output?.outcome = .none }, { $0.output?.outcome = .noDevice },
      { $0.output?.outcome = .played(process: 12, lostDevice: nil) }, { $0.packs.packs = [] },
      { $0.pushes = PushFacts() }, { $0.speechServers = [] }, { $0.unit = nil },
    ] {
      #expect(InstallationFacts.diagnosis(change).verdict == .ok)
    }
  }

  @Test("a pack that lacks words is not a problem, and the text names the command that lists the words")
  func lackingPack() {
    func found(lacking: Int) -> (verdict: InstallationCheck.Verdict?, text: String?) {
      let diagnosis = InstallationFacts.diagnosis {
        $0.packs.packs = [
          VoicePackFacts.Pack(
            id: "my-shop", isUsers: true,
            condition: .sound(digest: "0123456789abcdef", locale: "en-US", lacking: lacking))
        ]
      }
      return (diagnosis[.voicePacks]?.verdict, diagnosis[.voicePacks]?.found)
    }
    let lacking = found(lacking: 5)
    #expect(lacking.verdict == .ok)
    #expect(lacking.text?.contains("my-shop (01234567, lacks 5 words)") == true, "\(lacking.text ?? "")")
    #expect(lacking.text?.contains("voices sheet --locale en-US --missing my-shop") == true, "\(lacking.text ?? "")")
    #expect(found(lacking: 1).text?.contains("voices sheet --locale en-US --missing my-shop") == true)
    let whole = found(lacking: 0)
    #expect(whole.verdict == .ok && whole.text == "every clip matches its digest: my-shop (01234567)")
  }

  @Test("the text of a diagnosis has a line for each check, and each problem and its remedy below the line")
  func text() {
    let diagnosis = InstallationFacts.diagnosis {
      $0.home.unsafeFiles = [InstallationProblem(.writableByOthers, "Others can write to it.", remedy: "chmod go-w x")]
      $0.disk?.freeBytes = 900 << 20
    }
    #expect(
      diagnosis.lines.prefix(8).joined(separator: "\n") == """
        ok       settings        /srv/crier/crier.yaml
        fault    home            /srv/my home, owner crier, mode 0700
          fault writable_by_others: Others can write to it.
            chmod go-w x
        warning  disk            900.0 MiB free of 40.0 GiB
          warning disk_low: Little space is left for clips and the ledger.
            See what fills the disk, and remove it:
            du -xh --max-depth=1 '/srv/my home'
        """)
  }

  @Test(
    "the JSON of a diagnosis has the verdict, the exit status, and the problems of each check with codes and remedies")
  func json() throws {
    let diagnosis = InstallationFacts.diagnosis { $0.engine = .dataMissing }
    let object = try #require(
      try JSONSerialization.jsonObject(with: try JSONEncoder().encode(diagnosis)) as? [String: Any])
    #expect(object["verdict"] as? String == "fault" && object["exit_status"] as? Int == 69)
    let checks = try #require(object["checks"] as? [[String: Any]])
    #expect(checks.map { $0["part"] as? String } == InstallationCheck.Part.allCases.map(\.rawValue))
    let engine = try #require(checks.first { $0["part"] as? String == "engine" })
    let problem = try #require((engine["problems"] as? [[String: String]])?.first)
    #expect(problem["code"] == "engine_data_missing" && problem["severity"] == "fault")
    #expect(problem["remedy"] == "apt-get install --reinstall espeak-ng-data" && problem["message"] != nil)
  }
}

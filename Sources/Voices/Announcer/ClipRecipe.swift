// SPDX-License-Identifier: Apache-2.0

import Announcements
import Crypto
import Mastering
import SpeakingPlans
import SpeechEngine
import TextFormats
import VoicePacks

/// One way to speak an announcement: the parts that are left out, the script that remains, and the voice of each part
/// of that script.
struct Way {
  var attempt: Shortenings.Attempt
  var script: Script
  var plan: SpeakingPlan
}

/// The recipe of a clip: everything that the clip's bytes depend on, and nothing else. The recipe's digest is the
/// clip's name. Equal recipes therefore give the same file everywhere, and different recipes give different files.
struct ClipRecipe {
  /// The version of the recipe. It must be increased when the same recipe would give different bytes for a reason that
  /// is not part of the recipe.
  static let version = 4

  /// All ways that may be needed to speak the announcement. The unshortened way comes first. The clip uses a way that
  /// fits into 30 s. The choice depends on all ways, so all ways affect the clip's bytes.
  var ways: [Way]
  /// The engine; `nil` if recorded clips say everything.
  var engine: EngineIdentity?
  var format: String
  var encoding: String
  /// The sample rate in Hz; `nil` if the sound keeps the rate of the voices.
  var convertedRate: Int?

  /// The SHA-256 digest of the recipe's parts, as 64 hexadecimal digits. Before each part its length is hashed, so that
  /// different lists of parts never give the same bytes.
  var digest: String {
    var hash = SHA256()
    func add(_ part: String) {
      hash.update(data: Array("\(part.utf8.count):".utf8))
      hash.update(data: Array(part.utf8))
    }
    // These rules shape a clip in addition to its words. If a rule changes, the names of the clips change.
    let rules = [
      SpeakingPlan.pauseBetweenVoicesMilliseconds, Announcer.longestBlock, Shortenings.limitMilliseconds,
      Shortenings.fastestPercent, Shortenings.marginMilliseconds,
    ]
    for rule in rules { add("\(rule)") }
    for part in [
      "crier", "\(Self.version)", engine?.description ?? "no engine", "\(Mastering.version)", format, encoding,
    ] {
      add(part)
    }
    if let convertedRate { add("converted to \(convertedRate) Hz") }
    for way in ways {
      let script = way.script
      add("way")
      add(way.attempt.taken.map(\.rawValue).joined(separator: " "))
      add(way.attempt.pace.rawValue)
      add(script.locale)
      add("\(script.rate)")
      if let recording = way.plan.recording {
        add("pack")
        add(recording.pack.manifest.digest)
        add("\(VoicePack.stitchingVersion)")
        for (name, milliseconds) in recording.pauses.named { add("\(name) \(milliseconds)") }
      }
      for part in way.plan.parts {
        add("\(part.pauseMilliseconds)")
        switch part.source {
        case .recorded(let clips):
          add("clips")
          for clip in clips {
            add(clip.file)
            add(clip.pause.rawValue)
          }
        case .spoken(let run):
          add("run")
          add(run.voice ?? "")
          for segment in run.segments {
            add(segment.role.rawValue)
            add(segment.text)
            add(segment.spelling)
          }
        }
      }
    }
    return hash.finalize().hexadecimal
  }

  /// Returns the name of a clip that speech servers spoke, as 64 hexadecimal digits. Such a clip cannot be made again
  /// with the same bytes, so its samples are part of its name: a clip that is made again has another name, and never
  /// replaces a clip that a push or a URL names.
  static func digest(of samples: [Int16], spokenBy servers: String, instead recipe: String) -> String {
    var hash = SHA256()
    for part in ["crier", "speech servers", servers, recipe] {
      hash.update(data: Array("\(part.utf8.count):\(part)".utf8))
    }
    samples.withUnsafeBytes { hash.update(bufferPointer: $0) }
    return hash.finalize().hexadecimal
  }
}

// SPDX-License-Identifier: Apache-2.0

import Announcements
import Crypto
import Mastering
import SpeechEngine
import VoicePackIntegrity
import VoicePacks

/// One way to say an announcement: what is left out, what is left, and who says it.
struct Way {
  var attempt: Shortenings.Attempt
  var script: Script
  var plan: SpeakingPlan
}

/// Everything that a clip's bytes depend on, and nothing else. Its digest is the clip's name, so that the same recipe
/// is the same file for everybody, and another recipe never is.
struct Recipe {
  /// Rises when the same recipe would make other bytes for a reason that no part of it tells.
  static let version = 4

  /// Every way to say it that may be needed, the whole one first: which of them fits into 30 s follows from them.
  var ways: [Way]
  /// `nil` when clips say everything.
  var engine: EngineIdentity?
  var format: String
  var encoding: String

  /// 64 hexadecimal digits: SHA-256 over the parts, each behind its length, so that no two lists of parts run together
  /// into the same bytes.
  var digest: String {
    var hash = SHA256()
    func add(_ part: String) {
      hash.update(data: Array("\(part.utf8.count):".utf8))
      hash.update(data: Array(part.utf8))
    }
    // What shapes a clip besides its words; a rule that changes changes the names.
    let rules = [
      Announcer.pauseBetweenVoicesMilliseconds, Announcer.longestBlock, Shortenings.limitMilliseconds,
      Shortenings.fastestPercent, Shortenings.marginMilliseconds,
    ]
    for rule in rules { add("\(rule)") }
    for part in [
      "crier", "\(Self.version)", engine?.description ?? "no engine", "\(Mastering.version)", format, encoding,
    ] {
      add(part)
    }
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
          add(run.voice)
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
}

// SPDX-License-Identifier: Apache-2.0

import Foundation
import Ledger
import Logging
import SoundLibrary

extension AnnouncementServer {
  /// Maintains the stored data until the task is cancelled. Every minute, it calls ``keepHouseEveryMinute()``. Every
  /// ten minutes, it removes clips that are over the budget, and looks for new tones. Every hour, it removes old
  /// announcements, responses and batches, and reports the folders that a person should look at.
  func keepHouse() async {
    var minutes = 0
    while !Task.isCancelled {
      if minutes % 60 == 0 {
        await prune()
        // Other programs may have removed clips.
        await library.settle()
        await tellFoldersSetAside()
      }
      if minutes % 10 == 0 {
        await pruneClips()
        await library.lookForTones()
      }
      minutes += 1
      // If the task is cancelled, this throws at once, and the loop ends after the last records.
      try? await Task.sleep(for: .seconds(60))
      await keepHouseEveryMinute()
    }
  }

  /// Records which keys and which clips in memory were used, deletes signed requests that are too old, and saves the
  /// accounts' usage.
  func keepHouseEveryMinute() async {
    await keys.recordUse()
    // An error is ignored: the next attempt is in a minute.
    try? await keys.forgetSignedRequests()
    await clips.recordUses()
    await saveWork()
  }

  /// Saves the accounts' daily usage. A failure is only logged.
  func saveWork() async {
    do {
      try await work.save()
    } catch {
      logger.warning("The daily usage of the accounts could not be saved. The service tries again in a minute.")
    }
  }

  /// Removes the clips that are over the budget of their folder, or that nobody asked for during the retention time.
  func pruneClips() async {
    let keeping = SoundKeeping(
      mostBytes: settings.mostSoundBytes, mostFiles: settings.mostSounds, longestUnused: settings.retention,
      keptAfterUse: settings.clipLifetime)
    do {
      let removed = try await clips.prune(keeping) { [ledger, batches] names in
        let running = try await batches.unfinished
        return try await ledger.neededClips(ofBatches: running.ids, among: names).union(running.clips)
      } failed: { [logger] error in
        logger.warning(
          "An old clip could not be removed. The service tries again in ten minutes.",
          metadata: ["error": "\(Problem.loggable(error))"])
      }
      guard !removed.isEmpty else { return }
      await library.settle()
      logger.info(
        "Clips that nobody asked for, or that exceeded the budget, were removed.",
        metadata: [
          "clips": "\(removed.count)", "bytes": "\(removed.reduce(0) { $0 + $1.sound.byteCount })",
          "over_budget": "\(removed.count { $0.reason == .budget })",
        ])
    } catch {
      logger.warning(
        "Old clips could not be removed. The service tries again in ten minutes.",
        metadata: ["error": "\(Problem.loggable(error))"])
    }
  }

  /// Logs the folders that had the name of a clip, were moved away, and still exist.
  func tellFoldersSetAside() async {
    let folders = await clips.foldersSetAside()
    guard let first = folders.first else { return }
    logger.warning(
      "Folders that had the name of a clip were moved away and are not removed. Look at what they hold, and remove them.",
      metadata: ["folders": "\(folders.count)", "first": "\(first.path(percentEncoded: false))"])
  }

  private func prune() async {
    let moment = Date(timeIntervalSinceNow: -settings.retention)
    do {
      try await ledger.prune(finishedBefore: moment)
      while try await ledger.pruneAnswers(before: moment) > 0 { try Task.checkCancellation() }
    } catch is CancellationError {
    } catch {
      logger.warning(
        "Old records could not be removed. The service tries again in an hour.", metadata: ["error": "\(error)"])
    }
    await batches.prune()
  }
}

// SPDX-License-Identifier: Apache-2.0

import NIOHTTP1

/// The requests that are answered from memory, on the thread that read them.
struct HotRequests: Sendable {
  let clips: HotClips
  let announcements: HotAnnouncements

  /// Returns how to answer a request.
  ///
  /// - Returns: nil if the request must take the usual path.
  func decision(about head: HTTPRequestHead) -> HotDecision? {
    switch head.method {
    case .GET: clips.answer(to: head).map(HotDecision.answer)
    case .POST: announcements.decision(about: head)
    default: nil
    }
  }
}

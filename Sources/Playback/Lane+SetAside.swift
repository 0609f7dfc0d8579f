// SPDX-License-Identifier: Apache-2.0

import Ledger
import PlaybackOrder

extension Lane {
  /// An announcement that was under way at two ends of the process in a row; see `InterruptedWork`.
  struct SetAside {
    var item: PlaybackItem
    var isReplay: Bool
  }

  /// Sets an announcement aside if it was under way at two ends of the process in a row.
  ///
  /// - Returns: Whether it is set aside. Its sequence number is not waited for then.
  func setAside(_ entry: Ledger.Entry) -> Bool {
    guard let pause = InterruptedWork.pause(afterStarts: entry.starts, isHeard: true) else { return false }
    let item = item(entry)
    // An order takes back what was removed from it, and waits for no number that has arrived.
    order.accept(item)
    _ = order.remove(item.number)
    setAside.add(SetAside(item: item, isReplay: entry.isReplay), until: clock.now() + Int64(pause * 1000))
    return true
  }

  /// Lets the next announcement that is set aside wait for its turn, when its moment has come and nothing else is there
  /// to be heard.
  func takeBackSetAside(at now: Int64) {
    guard let moment = setAside.nextMoment else { return }
    guard now >= moment else { return wake(at: moment) }
    guard current == nil, summary == nil, waiting.isEmpty, renders.isEmpty, let one = setAside.next(at: now) else {
      return
    }
    waiting[one.item.number] = Waiting(category: Ledger.Category(one.item.category), isReplay: one.isReplay)
    alone = one.item.number
    order.restore(one.item)
  }

  /// Whether an announcement may be rendered now.
  ///
  /// While one that was set aside is rendered, no other is. Of those that were under way at one end of the process, one
  /// may have caused it. They are rendered one after the other, so that a second end tells which one it was.
  func mayRender(_ number: Int64) -> Bool {
    // It was taken back while nothing else waited, so its rendering begins before that of any other.
    if let alone, waiting[alone]?.isRendering == true { return number == alone }
    return waiting[number]?.isSuspect != true
      || !waiting.contains { $0.key != number && $0.value.isSuspect && $0.value.isRendering }
  }
}

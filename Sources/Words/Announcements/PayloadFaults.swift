// SPDX-License-Identifier: Apache-2.0

/// The faults of a payload that is refused, so that its sender learns of all of them at once.
///
/// A payload without faults is read once, up to its end. After a fault, the parts of the payload are read again, each
/// by itself.
struct PayloadFaults {
  private var found: [AnnouncementError] = []

  /// - Parameter first: The fault for which the payload is refused. The faults in its `others` are recorded too.
  init(_ first: AnnouncementError) { note(first) }

  /// Reads a part of the payload that can be read without the other parts, and records its faults.
  mutating func read<Value>(_ part: () throws(AnnouncementError) -> Value) {
    do throws(AnnouncementError) { _ = try part() } catch { note(error) }
  }

  private mutating func note(_ error: AnnouncementError) {
    var single = error
    single.others = []
    for fault in [single] + error.others where !found.contains(fault) { found.append(fault) }
  }

  /// The first fault, with the other faults in its `others`. A missing key may only be misspelt, so it is not reported
  /// next to an unknown key.
  var error: AnnouncementError {
    var first = found[0]
    let hasUnknownKey = found.contains { $0.code == .fieldUnknown }
    let others = found.dropFirst().filter { !hasUnknownKey || $0.code != .fieldMissing }
    first.others = Array(others.prefix(AnnouncementError.mostOthers))
    return first
  }
}

// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// The progress of an operation with a known number of steps that takes from seconds to minutes.
struct StepProgress: Sendable {
  private let name: String
  private let start = ContinuousClock.now
  /// The display of the progress; nil if nothing is shown.
  private let display: Locked<ProgressDisplay>?

  init(name: String, isQuiet: Bool = false) {
    self.name = name
    display = isQuiet ? nil : Locked(ProgressDisplay(style: Terminal.canRedrawMessages ? .bar : .lines))
  }

  func show(_ done: Int, of total: Int) {
    let text = "\(name): \(done) of \(total)"
    write { $0.update(at: ContinuousClock.now - start, bar: text, line: text) }
  }

  func end() { write { $0.end() } }

  private func write(_ bytes: (inout ProgressDisplay) -> String) {
    guard let text = display?.withLock(bytes), !text.isEmpty else { return }
    Terminal.writeMessage(text)
  }
}

// SPDX-License-Identifier: Apache-2.0

/// A limited number of permits. Tasks that need one wait in the order in which they ask.
package actor Permits {
  private var free: Int
  private var waiting: [AwaitedAnswer<Void>] = []

  package init(_ count: Int) { free = count }

  private func take() async {
    if free > 0 {
      free -= 1
      return
    }
    let _: Void = await waitForAnswer { waiting.append($0) }
  }

  private func giveBack() {
    if waiting.isEmpty { free += 1 } else { waiting.removeFirst().give(()) }
  }

  /// Waits for a permit, and holds it during the work. A cancelled task also waits for its permit, so the work must
  /// check whether its task is cancelled.
  package nonisolated func withOne<Value: Sendable>(_ work: @Sendable () async -> Value) async -> Value {
    await take()
    let value = await work()
    await giveBack()
    return value
  }
}

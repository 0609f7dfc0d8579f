// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport

/// Work with a time limit. The first of three ends it: the work, the limit, or the cancellation of the caller's task.
///
/// The caller goes on at once, even if the work takes no notice of its cancellation. What the work returns afterwards
/// is released.
final class LimitedWork<Value: Sendable>: Sendable {
  typealias Outcome = Result<Value, DeviceClientError>

  private struct State {
    var answer: AwaitedAnswer<Outcome>?
    var outcome: Outcome?
    var tasks: [Task<Void, Never>] = []
  }

  private let state = Locked(State())

  /// Runs the work and returns its outcome.
  ///
  /// - Parameter failure: Makes the error for a code.
  static func run(
    within limit: Duration, clock: any Clock<Duration>,
    failure: @escaping @Sendable (DeviceClientError.Code) -> DeviceClientError,
    _ work: @escaping @Sendable () async throws(DeviceClientError) -> Value
  ) async throws(DeviceClientError) -> Value {
    let race = LimitedWork()
    let outcome = await withTaskCancellationHandler {
      await waitForAnswer { answer in
        race.start(answer) {
          let alarm = Task.detached {
            do { try await clock.sleep(for: limit) } catch { return }
            race.end(.failure(failure(.tookTooLong)))
          }
          let job = Task.detached {
            do throws(DeviceClientError) {
              race.end(.success(try await work()))
            } catch {
              race.end(.failure(error))
            }
          }
          return [alarm, job]
        }
      }
    } onCancel: {
      race.end(.failure(failure(.cancelled)))
    }
    return try outcome.get()
  }

  private func start(_ answer: AwaitedAnswer<Outcome>, tasks: () -> [Task<Void, Never>]) {
    let outcome: Outcome? = state.withLock { state in
      if let outcome = state.outcome { return outcome }
      state.answer = answer
      // The tasks begin on other threads, so they cannot end before the lock is released.
      state.tasks = tasks()
      return nil
    }
    if let outcome { answer.give(outcome) }
  }

  private func end(_ outcome: Outcome) {
    let (answer, tasks): (AwaitedAnswer<Outcome>?, [Task<Void, Never>]) = state.withLock { state in
      guard state.outcome == nil else { return (nil, []) }
      state.outcome = outcome
      defer { (state.answer, state.tasks) = (nil, []) }
      return (state.answer, state.tasks)
    }
    for task in tasks { task.cancel() }
    answer?.give(outcome)
  }
}

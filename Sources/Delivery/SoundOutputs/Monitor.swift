// SPDX-License-Identifier: Apache-2.0

private import Glibc

/// A lock and a condition variable that waits by the monotonic clock.
///
/// `NSCondition` waits until a date of the wall clock. A machine whose clock has no battery may set the clock back by
/// an hour when it reaches a time server. With `NSCondition`, a sound would then wait for an hour.
@safe  // Both pointers are private, created in `init` and freed in `deinit`.
final class Monitor: @unchecked Sendable {  // pthread objects may be used by several threads.
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

  init() {
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe condition.initialize(to: pthread_cond_t())
    unsafe pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  func withLock<Value>(_ body: () -> Value) -> Value {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return body()
  }

  /// Wakes all waiting threads.
  func broadcast() { unsafe pthread_cond_broadcast(condition) }

  /// Waits with the lock released until a broadcast or the end of the timeout (`nil`: no timeout). The wait may also
  /// end early without either. Call it only inside `withLock`.
  func wait(timeout: Duration?) {
    guard let timeout else {
      unsafe pthread_cond_wait(condition, mutex)
      return
    }
    guard timeout > .zero else { return }
    let (seconds, attoseconds) = timeout.components
    var time = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    var now = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &now)
    time.tv_sec += now.tv_sec
    time.tv_nsec += now.tv_nsec
    if time.tv_nsec >= 1_000_000_000 {
      time.tv_sec += 1
      time.tv_nsec -= 1_000_000_000
    }
    unsafe pthread_cond_timedwait(condition, mutex, &time)
  }
}

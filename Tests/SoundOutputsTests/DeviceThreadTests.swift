// SPDX-License-Identifier: Apache-2.0

import ConcurrencySupport
import Foundation
import Testing

@testable import SoundOutputs

/// Tests of the thread that keeps a hanging device from blocking its caller.
@Suite(.timeLimit(.minutes(2))) struct DeviceThreadTests {
  @Test("the caller of a job that hangs gives up after the time limit, and continues while the job still hangs")
  func abandoned() {
    let thread = DeviceThread()
    defer { thread.end() }
    let (isReleased, isDone) = (DispatchSemaphore(value: 0), Locked(false))
    let answer: Int? = thread.run(patience: .milliseconds(1)) { _, _ in
      isReleased.wait()
      isDone.withLock { $0 = true }
    }
    #expect(answer == nil)
    #expect(!isDone.withLock { $0 })
    isReleased.signal()
    #expect(thread.run(patience: .seconds(60)) { _, answer in answer.give(isDone.withLock { $0 }) } == true)
  }

  @Test("the caller waits for a job that has no time limit until the job ends")
  func unlimited() {
    let answer = PendingAnswer<Int>()
    answer.noteProgress(false)
    Thread.detachNewThread { answer.give(7) }
    #expect(answer.wait(patience: .zero) == 7)
  }

  @Test("a job can see that its caller no longer waits for the answer")
  func givenUp() {
    let answer = PendingAnswer<Int>()
    #expect(!answer.isAbandoned)
    #expect(answer.wait(patience: .zero) == nil)
    #expect(answer.isAbandoned)
    answer.noteProgress(true)
    #expect(answer.isAbandoned, "progress comes too late")
  }

  @Test("the caller of a job gets only the first answer of the job")
  func once() {
    let answer = PendingAnswer<Int>()
    answer.give(1)
    answer.give(2)
    #expect(answer.wait(patience: .zero) == 1)
  }

  @Test("no single wait for a device is longer than the 3 s that a call to the device may take")
  func limits() {
    let limits = [ALSAOutput.openingPatience, ALSAOutput.releasingPatience, ALSAOutput.playingPatience]
    #expect(limits.allSatisfy { $0 < .seconds(3) })
    #expect(ALSAOutput.releasingPatience <= .seconds(2), "`SoundOutput.release` promises this")
    #expect(ALSAOutput.playingPatience > DevicePlaying.patience, "the job itself reports a device that stands still")
  }
}

// SPDX-License-Identifier: Apache-2.0

import ServiceAccess
import Testing

@Suite("Sampling of identical log lines")
struct LogSamplingTests {
  @Test(
    "the first log lines of each kind in a second are written, and the number of the omitted lines is reported later")
  func sampled() {
    var sampling = LogSampling<String>(most: 2)
    #expect((0..<5).map { _ in sampling.take("a", at: .seconds(7)).isWritten } == [true, true, false, false, false])
    #expect(sampling.take("b", at: .milliseconds(7_999)) == (true, [:]))
    #expect(sampling.finish(at: .milliseconds(7_999)).isEmpty)
    #expect(sampling.take("b", at: .seconds(8)) == (true, ["a": 3]))
    #expect(sampling.finish(at: .seconds(20)).isEmpty, "each number is reported once")
  }

  @Test("the number of omitted log lines is reported even if no line follows")
  func finished() {
    var sampling = LogSampling<String>(most: 1)
    for kind in ["a", "b", "b", "b", "c", "c"] { _ = sampling.take(kind, at: .zero) }
    #expect(sampling.isLeavingOut)
    #expect(sampling.finish(at: .milliseconds(999)).isEmpty && sampling.isLeavingOut, "the second is not over")
    #expect(sampling.finish(at: .seconds(1)) == ["b": 2, "c": 1] && !sampling.isLeavingOut)
    #expect(sampling.finish(at: .seconds(2)).isEmpty)
    #expect(sampling.take("b", at: .seconds(2)) == (true, [:]))
  }

  @Test("every log line is either written or counted")
  func complete() {
    var sampling = LogSampling<Int>()
    var (written, told) = (0, 0)
    for step in 0..<10_000 {
      let (isWritten, leftOut) = sampling.take(step % 3, at: .milliseconds(step))
      written += isWritten ? 1 : 0
      told += leftOut.values.reduce(0, +)
    }
    told += sampling.finish(at: .seconds(60)).values.reduce(0, +)
    #expect(written + told == 10_000 && written <= 10 * 3 * 11)
  }
}

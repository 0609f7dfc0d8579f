// SPDX-License-Identifier: Apache-2.0

import ServiceAccess
import Testing

@Suite("Which of many lines alike are written")
struct LogSamplingTests {
  @Test("the first of each kind in a second, and how many more there were when it is over")
  func sampled() {
    var sampling = LogSampling<String>(most: 2)
    #expect((0..<5).map { _ in sampling.take("a", at: .seconds(7)).isWritten } == [true, true, false, false, false])
    #expect(sampling.take("b", at: .milliseconds(7_999)) == (true, [:]))
    #expect(sampling.finish(at: .milliseconds(7_999)).isEmpty)
    #expect(sampling.take("b", at: .seconds(8)) == (true, ["a": 3]))
    #expect(sampling.finish(at: .seconds(20)).isEmpty, "each is told once")
  }

  @Test("what was left out is told though nothing comes any more")
  func finished() {
    var sampling = LogSampling<String>(most: 1)
    for kind in ["a", "b", "b", "b", "c", "c"] { _ = sampling.take(kind, at: .zero) }
    #expect(sampling.finish(at: .seconds(1)) == ["b": 2, "c": 1])
    #expect(sampling.finish(at: .seconds(2)).isEmpty)
    #expect(sampling.take("b", at: .seconds(2)) == (true, [:]))
  }

  @Test("all that came is written or told")
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

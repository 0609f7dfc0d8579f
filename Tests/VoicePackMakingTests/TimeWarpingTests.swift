// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import VoicePackMaking

@Suite("TimeWarping")
struct TimeWarpingTests {
  private func frames(_ values: [Float]) -> [SpectralFrame] {
    values.map { value in
      var frame = SpectralFrame.zero
      frame[0] = value
      return frame
    }
  }

  @Test("the distance of a sound from itself is 0, at the same speed and at another speed")
  func speed() {
    let sound = frames([1, 5, 2, 7, 3, 3, 9, 4])
    let slower = frames([1, 5, 5, 2, 7, 7, 3, 3, 3, 9, 4, 4])
    #expect(TimeWarping.distance(sound, sound) == 0)
    #expect(TimeWarping.distance(sound, slower) == 0)
    #expect(TimeWarping.distance(slower, sound) == 0)
  }

  @Test("the distance of two sounds is the mean of the distances of their frames")
  func distance() {
    #expect(TimeWarping.distance(frames([0, 0, 0]), frames([2, 2, 2])) == 2)
    #expect(TimeWarping.distance(frames([0]), frames([3, 3])) == 3 * 3 / 3)
  }

  @Test("the alignment of two sounds assigns every frame of both, in order")
  func path() {
    let path = TimeWarping.path(frames([1, 5, 2, 7]), frames([1, 1, 5, 2, 2, 7]))
    #expect(path.map(\.0) == [0, 0, 1, 2, 2, 3])
    #expect(path.map(\.1) == [0, 1, 2, 3, 4, 5])
  }

  @Test("sounds of any two lengths can be compared", arguments: [1, 2, 3, 10, 57])
  func lengths(first: Int) {
    for second in [1, 2, 5, 31, 100] {
      let (short, long) = (frames(Array(repeating: 1, count: first)), frames(Array(repeating: 2, count: second)))
      let distance = TimeWarping.distance(short, long)
      #expect(distance.isFinite && distance > 0)
      let path = TimeWarping.path(short, long)
      #expect(path[0] == (0, 0) && path[path.count - 1] == (first - 1, second - 1))
    }
  }
}

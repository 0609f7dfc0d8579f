// SPDX-License-Identifier: Apache-2.0

/// A linear map from one voice to another. It estimates the other voice's frame from this voice's frame and the frames
/// before and after it. It is found by ridge regression from pairs of frames in which both voices say the same.
struct VoiceMapping: Sendable {
  typealias Frame = SpeechFeatures.Frame

  /// Three consecutive frames. The constant lane of the middle frame is 1, so that the map may have a constant part.
  struct Context: Sendable {
    fileprivate var before: Frame
    fileprivate var middle: Frame
    fileprivate var after: Frame

    /// The numbers in use, in the order of ``VoiceMapping/inputs``.
    fileprivate var values: [Float]

    fileprivate init(before: Frame, middle: Frame, after: Frame) {
      self.before = before
      self.middle = middle
      self.middle[Frame.constantLane] = 1
      self.after = after
      let frames = [self.before, self.middle, self.after]
      values = VoiceMapping.inputs.map { frames[$0.frame][$0.lane] }
    }
  }

  /// For each number of a context in use, its share in the mapped frame.
  private var rows: [Frame]

  /// The lanes of a context that are in use, as the number of the frame and the lane.
  private static let inputs: [(frame: Int, lane: Int)] =
    (0..<3).flatMap { frame in (0..<Frame.width).map { (frame, $0) } } + [(1, Frame.constantLane)]

  /// The strength, in frames, with which the map is drawn to zero. Without this force, a map from few recordings would
  /// repeat the recordings instead of generalising.
  private static let ridge = 50.0

  /// Returns the context of each frame. The first frame has no predecessor, and the last frame has no successor, so
  /// these frames are repeated.
  static func contexts(_ frames: [Frame]) -> [Context] {
    frames.indices.map { index in
      Context(
        before: frames[max(0, index - 1)], middle: frames[index], after: frames[min(frames.count - 1, index + 1)])
    }
  }

  /// The sums from which a map is found. Sums of several recordings can be added and subtracted.
  struct Sums: Sendable {
    /// For each number of a context, its products with all numbers of the context.
    fileprivate var products = Array(repeating: Frame.zero, count: 3 * VoiceMapping.inputs.count)
    /// For each number of a context, its products with the other voice's frame.
    fileprivate var targets = Array(repeating: Frame.zero, count: VoiceMapping.inputs.count)

    /// Adds a pair of frames in which both voices say the same.
    mutating func add(_ context: Context, _ target: Frame) {
      for (row, value) in context.values.enumerated() {
        products[3 * row].add(value, times: context.before)
        products[3 * row + 1].add(value, times: context.middle)
        products[3 * row + 2].add(value, times: context.after)
        targets[row].add(value, times: target)
      }
    }

    static func += (sums: inout Sums, other: Sums) {
      for index in sums.products.indices { sums.products[index] += other.products[index] }
      for index in sums.targets.indices { sums.targets[index] += other.targets[index] }
    }

    static func - (sums: Sums, other: Sums) -> Sums {
      var result = sums
      for index in sums.products.indices { result.products[index] -= other.products[index] }
      for index in sums.targets.indices { result.targets[index] -= other.targets[index] }
      return result
    }
  }

  /// Finds the map with the least squared error.
  init(_ sums: Sums) {
    let inputs = Self.inputs
    var matrix = SquareMatrix(size: inputs.count)
    for row in inputs.indices {
      for (column, input) in inputs.enumerated() {
        matrix[row, column] = Double(sums.products[3 * row + input.frame][input.lane])
      }
      matrix[row, row] += inputs[row].lane == Frame.constantLane ? 1e-3 : Self.ridge
    }
    let factor = matrix.choleskyFactor
    rows = Array(repeating: .zero, count: inputs.count)
    for lane in 0..<Frame.width {
      let column = factor.solve(sums.targets.map { Double($0[lane]) })
      for row in rows.indices { rows[row][lane] = Float(column[row]) }
    }
  }

  /// Returns the other voice's frame.
  func callAsFunction(_ context: Context) -> Frame {
    var frame = Frame.zero
    for (row, value) in zip(rows, context.values) { frame.add(value, times: row) }
    return frame
  }
}

/// Scales frames such that the errors of a map have the same size in every direction. Frequent errors of the map then
/// count little, and rare ones count much (Mahalanobis's distance).
struct ErrorScaling: Sendable {
  typealias Frame = SpeechFeatures.Frame

  /// For each lane of a frame, its share in the scaled frame.
  private var columns: [Frame]

  /// The share of the mean variance in the scale; the rest is the measured covariance. Without this share, a direction
  /// could seem exact because only few errors were measured.
  private static let shrinkage = 0.1

  init(errors: [Frame]) {
    let width = Frame.width
    let count = Float(max(1, errors.count))
    let mean = (1 / count) * errors.reduce(Frame.zero, +)
    var products = Array(repeating: Frame.zero, count: width)
    for error in errors {
      let difference = error - mean
      for lane in 0..<width { products[lane].add(difference[lane], times: difference) }
    }
    var matrix = SquareMatrix(size: width)
    let variance = (0..<width).reduce(0.0) { $0 + Double(products[$1][$1] / count) } / Double(width)
    for row in 0..<width {
      for column in 0..<width {
        matrix[row, column] = (1 - Self.shrinkage) * Double(products[row][column] / count)
      }
      matrix[row, row] += Self.shrinkage * variance + 1e-9
    }
    let factor = matrix.choleskyFactor
    columns = (0..<width).map { lane in
      var unit = Array(repeating: 0.0, count: width)
      unit[lane] = 1
      var column = Frame.zero
      for (row, value) in factor.solveLower(unit).enumerated() { column[row] = Float(value) }
      return column
    }
  }

  func callAsFunction(_ frame: Frame) -> Frame {
    var scaled = Frame.zero
    for (lane, column) in columns.enumerated() { scaled.add(frame[lane], times: column) }
    return scaled
  }
}

/// A small square matrix. For matrices of this size, a library of linear algebra would be larger than this code.
private struct SquareMatrix {
  let size: Int
  private var values: [Double]

  init(size: Int) {
    self.size = size
    values = Array(repeating: 0, count: size * size)
  }

  subscript(row: Int, column: Int) -> Double {
    get { values[row * size + column] }
    set { values[row * size + column] = newValue }
  }

  /// The lower triangular matrix L for which L Lᵀ is this matrix (Cholesky).
  ///
  /// - Precondition: the matrix is symmetric and positive definite. All matrices in this file meet this condition,
  ///   because a positive number is added to the diagonal of a sum of squares.
  var choleskyFactor: SquareMatrix {
    var factor = SquareMatrix(size: size)
    for row in 0..<size {
      for column in 0...row {
        var sum = self[row, column]
        for index in 0..<column { sum -= factor[row, index] * factor[column, index] }
        // Rounding may leave a tiny negative number where the exact result is tiny.
        factor[row, column] = row == column ? max(sum, 1e-12).squareRoot() : sum / factor[column, column]
      }
    }
    return factor
  }

  /// Returns x for which this lower triangular matrix times x is the vector.
  func solveLower(_ vector: [Double]) -> [Double] {
    var solution = vector
    for row in 0..<size {
      for index in 0..<row { solution[row] -= self[row, index] * solution[index] }
      solution[row] /= self[row, row]
    }
    return solution
  }

  /// Returns x for which L Lᵀ x is the vector, where L is this lower triangular matrix.
  func solve(_ vector: [Double]) -> [Double] {
    var solution = solveLower(vector)
    for row in (0..<size).reversed() {
      for index in row + 1..<size { solution[row] -= self[index, row] * solution[index] }
      solution[row] /= self[row, row]
    }
    return solution
  }
}

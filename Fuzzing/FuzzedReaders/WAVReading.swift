// SPDX-License-Identifier: Apache-2.0

import Waveforms

/// Checks that a clip of a voice pack is refused, or that its samples lie within its bytes and are the same after being
/// written and read again.
enum WAVReading {
  @Sendable static func check(_ bytes: [UInt8]) {
    guard let layout = try? WAVFile.layout(of: bytes.span) else {
      require((try? WAVFile.decode(bytes)) == nil, "a file without a layout is not decoded")
      return
    }
    require(layout.data.lowerBound >= 0 && layout.data.upperBound <= bytes.count, "samples lie within the file")
    let count = layout.withSamples(in: bytes.span) { $0.count }
    require(count == layout.sampleCount, "the layout's sample count matches the samples")
    guard let (waveform, comment) = try? WAVFile.decode(bytes) else { return }
    require(waveform.samples.count == layout.sampleCount, "the decoder and the layout have the same sample count")
    guard let (again, sameComment) = try? WAVFile.decode(WAVFile.encode(waveform, comment: comment)) else {
      fatalError("Broken rule: a written file can be read")
    }
    require(again.samples == waveform.samples && sameComment == comment, "a written file reads as the same sound")
  }
}

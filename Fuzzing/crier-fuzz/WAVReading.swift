// SPDX-License-Identifier: Apache-2.0

import Waveforms

/// A clip of a voice pack: it is refused, or its samples lie within its bytes and survive being written.
enum WAVReading {
  @Sendable static func check(_ bytes: [UInt8]) {
    guard let layout = try? WAVFile.layout(of: bytes.span) else {
      require((try? WAVFile.decode(bytes)) == nil, "a file without a layout is not decoded")
      return
    }
    require(layout.data.lowerBound >= 0 && layout.data.upperBound <= bytes.count, "samples lie within the file")
    let count = layout.withSamples(in: bytes.span) { $0.count }
    require(count == layout.sampleCount, "the layout counts the samples that it lends")
    guard let (waveform, comment) = try? WAVFile.decode(bytes) else { return }
    require(waveform.samples.count == layout.sampleCount, "the decoder and the layout count alike")
    guard let (again, sameComment) = try? WAVFile.decode(WAVFile.encode(waveform, comment: comment)) else {
      fatalError("Broken rule: what was written can be read")
    }
    require(again.samples == waveform.samples && sameComment == comment, "what was written reads as it was")
  }
}

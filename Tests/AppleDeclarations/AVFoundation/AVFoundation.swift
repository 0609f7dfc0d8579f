// SPDX-License-Identifier: Apache-2.0

public import Foundation

open class AVAudioPlayer: NSObject {
  public init(contentsOf url: URL) throws { fatalError() }
  @discardableResult open func play() -> Bool { fatalError() }
  open func stop() { fatalError() }
}

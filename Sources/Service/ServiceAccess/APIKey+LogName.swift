// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation
import TextFormats

extension APIKey {
  /// Returns the name that stands for a key in logs: 8 hexadecimal digits. `crier keys list` shows it beside the key's
  /// id.
  ///
  /// The key's id is not used in logs: anyone who knows an id can make the service read a request body, and more people
  /// see logs than keys.
  public static func logName(ofDigest digest: Data) -> String {
    SHA256.hash(data: Data("crier log name\n".utf8) + digest).prefix(4).hexadecimal
  }
}

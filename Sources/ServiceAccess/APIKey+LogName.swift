// SPDX-License-Identifier: Apache-2.0

import Crypto
public import Foundation

extension APIKey {
  /// What stands for a key in logs: 8 hexadecimal digits. `crier keys list` shows it beside the key's id.
  ///
  /// It is not the id: whoever knows an id can have the service read a body, and logs go to more people than keys do.
  public static func logName(ofDigest digest: Data) -> String {
    SHA256.hash(data: Data("crier log name\n".utf8) + digest).prefix(4)
      .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

// SPDX-License-Identifier: Apache-2.0

import ProviderSettings
import Testing

@Test("an error of a settings file names the file, the line, and what to do")
func description() {
  let error = ProviderSettingsError(
    .keyMissing, file: "providers.yaml", line: 3, "secrets is missing", remedy: "add it")
  #expect(error.description == "providers.yaml:3: secrets is missing; add it.")
}

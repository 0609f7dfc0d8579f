// SPDX-License-Identifier: Apache-2.0

import SoundOutputTestSupport
import Testing

@testable import SoundOutputs

@Suite("The list of outputs")
struct ListedOutputTests {
  @Test("the default output comes first in the list, and each output is listed once with a name that can be chosen")
  func listed() throws {
    TestPCMs.install()
    let outputs = ListedOutput.all
    #expect(outputs.first?.id == "default")
    #expect(Set(outputs.map(\.id)).count == outputs.count)
    for output in outputs {
      #expect(try OutputName(output.id).description == output.id && !output.name.isEmpty)
      #expect(!output.name.contains("\n"))
    }
  }

  @Test("the list has no PCM that discards its sound and no plugins, and the PCM 'default' has one name")
  func names() {
    #expect(ListedOutput.id(ofPCM: "null") == nil && ListedOutput.id(ofPCM: "") == nil)
    #expect(ListedOutput.id(ofPCM: "speexrate") == nil && ListedOutput.id(ofPCM: "usbstream:CARD=USB") == nil)
    #expect(ListedOutput.id(ofPCM: "default") == "default")
    #expect(ListedOutput.id(ofPCM: "plughw:CARD=USB,DEV=0") == "alsa:plughw:CARD=USB,DEV=0")
  }
}

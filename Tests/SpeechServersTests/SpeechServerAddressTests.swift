// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import SpeechServers

@Suite("Addresses of speech servers")
struct SpeechServerAddressTests {
  @Test("a Wyoming address names a host with a port, or a socket")
  func wyoming() throws {
    #expect(try SpeechServerAddress(wyoming: "tcp://127.0.0.1:10200") == .wyoming(host: "127.0.0.1", port: 10_200))
    #expect(try SpeechServerAddress(wyoming: "tcp://[::1]:10200") == .wyoming(host: "::1", port: 10_200))
    #expect(try SpeechServerAddress(wyoming: "unix:///run/piper/s") == .wyomingSocket(path: "/run/piper/s"))
  }

  @Test("the address of a server with OpenAI's protocol is a base URL, which may omit the default port")
  func openAI() throws {
    #expect(
      try SpeechServerAddress(openAI: "http://127.0.0.1:8880/v1")
        == .openAI(host: "127.0.0.1", port: 8_880, path: "/v1", isEncrypted: false))
    #expect(
      try SpeechServerAddress(openAI: "https://tts.example/a/v1/")
        == .openAI(host: "tts.example", port: 443, path: "/a/v1", isEncrypted: true))
    #expect(
      try SpeechServerAddress(openAI: "http://[::1]") == .openAI(host: "::1", port: 80, path: "", isEncrypted: false))
  }

  @Test(
    "a Wyoming address in any other form is refused",
    arguments: [
      "", "127.0.0.1:10200", "tcp://127.0.0.1", "tcp://:10200", "tcp://h:0", "tcp://h:65536", "tcp://h:1/path",
      "tcp://u@h:1", "tcp://h:1?x", "http://h:1", "unix://relative", "unix:///" + String(repeating: "a", count: 107),
      "tcp://h h:1", "ftp://h/v1",
    ])
  func refusedWyoming(text: String) {
    #expect { try SpeechServerAddress(wyoming: text) } throws: { ($0 as? SpeechServerError)?.code == .addressInvalid }
  }

  @Test(
    "a base URL with a user, a query, a fragment, no host, or a scheme other than http and https is refused",
    arguments: [
      "http://u:p@h/v1", "http://h/v1?k=v", "http://h/v1#x", "ftp://h/v1", "http:///v1", "h:8880", "tcp://h:1",
    ])
  func refusedOpenAI(text: String) {
    #expect { try SpeechServerAddress(openAI: text) } throws: { ($0 as? SpeechServerError)?.code == .addressInvalid }
  }

  @Test("by default, names are sent only to a speech server on a loopback address or a Unix socket")
  func loopback() throws {
    for text in ["tcp://127.0.0.1:1", "tcp://127.9.9.9:1", "tcp://[::1]:1", "tcp://localhost:1", "unix:///s"] {
      let address = try SpeechServerAddress(wyoming: text)
      #expect(address.isLoopback && SpeechServer(id: "a", address: address, voice: "v", locales: []).hearsNames)
    }
    for text in ["tcp://192.168.1.2:1", "tcp://piper:1", "tcp://0.0.0.0:1", "tcp://localhost.example:1"] {
      let address = try SpeechServerAddress(wyoming: text)
      #expect(!address.isLoopback && !SpeechServer(id: "a", address: address, voice: "v", locales: []).hearsNames)
    }
  }

  @Test(
    "a speech server speaks each locale in its settings, and a language without a region stands for all its regions")
  func locales() throws {
    let address = try SpeechServerAddress(wyoming: "unix:///s")
    let server = SpeechServer(id: "a", address: address, voice: "v", locales: ["en-US", "de"])
    #expect(server.speaks("en-US") && server.speaks("de-AT") && server.speaks("de"))
    #expect(!server.speaks("en-GB") && !server.speaks("fr"))
  }
}

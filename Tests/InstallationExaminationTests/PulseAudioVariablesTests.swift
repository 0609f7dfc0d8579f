// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import InstallationExamination

@Suite("The variables that keep PulseAudio's library from changing anything")
struct PulseAudioVariablesTests {
  /// Returns the variables for the files of a machine, by their paths.
  private func variables(
    _ files: [String: String] = [:], _ environment: [String: String] = [:], serverAnswers: Bool = false
  ) -> PulseAudioVariables {
    PulseAudioVariables(
      PulseAudioVariables.Situation(
        environment: ["HOME": "/home/ada"].merging(environment) { $1 }, serverAnswers: serverAnswers,
        exists: { files[$0] != nil },
        names: { folder in
          files.keys.filter { $0.hasPrefix("\(folder)/") }.map { String($0.dropFirst(folder.count + 1)) }
        },
        text: { files[$0] }))
  }

  @Test("if no sound server answers, PulseAudio's library starts none, writes no cookie and makes no folder")
  func nothing() {
    let variables = variables()
    #expect(variables.settings == "autospawn = no\n")
    #expect(variables.values == ["PULSE_COOKIE": "/dev/zero", "PULSE_SERVER": "unix:/nonexistent"])
  }

  @Test("PulseAudio's library may ask a server if one answers, or if the environment or the settings name one")
  func server() {
    #expect(variables(serverAnswers: true).values["PULSE_SERVER"] == nil)
    #expect(variables([:], ["PULSE_SERVER": "tcp:shop"]).values["PULSE_SERVER"] == nil)
    #expect(variables([:], ["DISPLAY": ":0"]).values["PULSE_SERVER"] == nil)
    let settings = "/etc/pulse/client.conf"
    #expect(variables([settings: "# a server\n default-server = tcp:shop\n"]).values["PULSE_SERVER"] == nil)
    for comment in ["; default-server = tcp:shop\n", "# default-server = x", "default-server", ""] {
      #expect(variables([settings: comment]).values["PULSE_SERVER"] != nil)
    }
  }

  @Test(
    "an existing cookie of PulseAudio is used",
    arguments: ["/home/ada/.config/pulse/cookie", "/home/ada/.pulse/cookie", "/home/ada/.pulse-cookie"])
  func cookie(file: String) {
    #expect(variables([file: ""]).values["PULSE_COOKIE"] == nil)
  }

  @Test("a PulseAudio cookie is used if the environment, another settings folder or the settings name it")
  func otherCookie() {
    #expect(variables([:], ["PULSE_COOKIE": "/run/cookie"]).values["PULSE_COOKIE"] == nil)
    #expect(variables(["/x/pulse/cookie": ""], ["XDG_CONFIG_HOME": "/x"]).values["PULSE_COOKIE"] == nil)
    #expect(variables(["/etc/pulse/client.conf": "cookie-file=/run/cookie"]).values["PULSE_COOKIE"] == nil)
  }

  @Test("PulseAudio's valid settings and their drop-ins are kept, and one more line turns off the start of a server")
  func settings() {
    let system = [
      "/etc/pulse/client.conf": "", "/etc/pulse/client.conf.d/b.conf": "autospawn = yes",
      "/etc/pulse/client.conf.d/a.conf": "", "/etc/pulse/client.conf.d/a.conf.bak": "",
    ]
    #expect(
      variables(system).settings == """
        .include /etc/pulse/client.conf
        .include /etc/pulse/client.conf.d/a.conf
        .include /etc/pulse/client.conf.d/b.conf
        autospawn = no

        """)
    let user = system.merging(["/home/ada/.config/pulse/client.conf": ""]) { $1 }
    #expect(variables(user).settings == ".include /home/ada/.config/pulse/client.conf\nautospawn = no\n")
    #expect(
      variables(user.merging(["/run/c": ""]) { $1 }, ["PULSE_CLIENTCONFIG": "/run/c"]).settings
        == ".include /run/c\nautospawn = no\n")
    #expect(variables(user, ["PULSE_CLIENTCONFIG": "/run/missing"]).settings == "autospawn = no\n")
  }
}

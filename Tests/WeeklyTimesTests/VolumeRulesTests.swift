// SPDX-License-Identifier: Apache-2.0

import Foundation
import Testing
import WeeklyTimes

@Suite struct VolumeRulesTests {
  private func rules(_ text: String) throws -> VolumeRules { try VolumeRules(text, zone: try zone("UTC")) }

  @Test("a volume rule applies within its time, and the rule that began last takes precedence")
  func nested() throws {
    let rules = try rules("08:00-20:00=80, 12:00-13:00 = 40")
    let expected: [(String, Int?, String)] = [
      ("07:59", nil, "08:00"), ("08:00", 80, "12:00"), ("12:00", 40, "13:00"), ("13:00", 80, "20:00"),
      ("20:00", nil, "08:00"),
    ]
    for (time, percent, until) in expected {
      let setting = rules.setting(at: try at("2026-11-20T\(time):00Z"))
      #expect(setting.percent == percent)
      #expect(try #require(setting.until).formatted(.iso8601).contains("T\(until):"))
    }
  }

  @Test("of two volume rules that begin at the same moment, the later rule in the list applies")
  func order() throws {
    let rules = try rules("08:00-20:00=80, 08:00-09:00=10")
    #expect(try rules.setting(at: at("2026-11-20T08:30:00Z")).percent == 10)
  }

  @Test("a volume that a person sets lasts until the next rule begins, and the usual volume returns after a rule")
  func choices() throws {
    let rules = try rules("22:00-07:00=20")
    var choice = VolumeChoice()
    func volume(_ moment: String) throws -> String {
      let (percent, isByTime) = choice.volume(rules.setting(at: try at(moment)), orElse: 100)
      return "\(percent)\(isByTime ? " by time" : "")"
    }
    #expect(try volume("2026-11-20T12:00:00Z") == "100")
    #expect(try volume("2026-11-20T22:00:00Z") == "20 by time")
    choice.choose(60, at: try at("2026-11-20T12:00:00Z"), rules)
    #expect(try volume("2026-11-20T21:59:59Z") == "60")
    #expect(try volume("2026-11-20T22:00:00Z") == "20 by time")
    choice.choose(5, at: try at("2026-11-20T23:00:00Z"), rules)
    #expect(try volume("2026-11-21T06:59:59Z") == "5")
    #expect(try volume("2026-11-21T07:00:00Z") == "60")
    #expect(try volume("2026-11-21T22:00:00Z") == "20 by time")
    choice.choose(nil, at: try at("2026-11-21T23:00:00Z"), rules)
    #expect(try volume("2026-11-21T23:00:00Z") == "20 by time")
    #expect(try volume("2026-11-22T12:00:00Z") == "100")
  }

  @Test("without volume rules, the person and the settings decide on the volume")
  func none() throws {
    let rules = try rules(" ")
    #expect(rules.isEmpty && rules == VolumeRules())
    var choice = try #require(VolumeChoice(usual: 30, passing: nil, since: nil))
    let moment = try at("2026-11-20T12:00:00Z")
    #expect(choice.volume(rules.setting(at: moment), orElse: 100) == (30, false))
    choice.choose(0, at: moment, rules)
    #expect(choice.volume(rules.setting(at: moment), orElse: 100) == (0, false))
  }

  @Test(
    "a volume rule without a volume is refused",
    arguments: [
      "22:00-07:00", "22:00-07:00=", "22:00-07:00=101", "22:00-07:00=-1", "22:00-07:00=1=2", "22:00-07:00=٥",
      "22:00-07:00=20%",
    ])
  func refused(text: String) throws {
    let error = try #require(throws: WeeklyTimesError.self) { try rules(text) }
    #expect(error.code == .volumeInvalid && error.description.contains(text))
  }

  @Test("a volume rule without times is refused", arguments: ["=20", "mon=20", "20", ","])
  func withoutTimes(text: String) {
    #expect(throws: WeeklyTimesError.self) { try rules(text) }
  }
}

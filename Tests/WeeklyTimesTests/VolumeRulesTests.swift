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

  @Test("a volume that a person sets at the moment at which a rule begins replaces that rule")
  func chosenAtTheBeginning() throws {
    let rules = try rules("22:00-07:00=20")
    let begin = try at("2026-11-20T22:00:00Z")
    var choice = VolumeChoice()
    choice.choose(5, at: begin, rules)
    #expect(choice.volume(rules.setting(at: begin), orElse: 100) == (5, false))
    let earlier = try #require(VolumeChoice(usual: nil, passing: 5, since: begin - 1))
    #expect(earlier.volume(rules.setting(at: begin), orElse: 100) == (20, true))
  }

  @Test("a setting of the volume holds from the moment for which it was computed until the next rule begins")
  func holding() throws {
    let moment = try at("2026-11-20T12:00:00Z")
    let setting = try rules("22:00-07:00=20").setting(at: moment)
    let begin = try at("2026-11-20T22:00:00Z")
    #expect([moment, begin - 1].allSatisfy(setting.holds))
    #expect(![moment - 1, begin].contains(where: setting.holds))
    #expect(VolumeRules().setting(at: moment).holds(at: begin + 1e6))
  }

  @Test("the time at which volume rules next change is the earliest one of all rules", arguments: [false, true])
  func earliestChange(isReversed: Bool) throws {
    let texts = ["08:00-20:00=100", "12:00-13:00=0", "07:00-22:00=50"]
    let rules = try rules((isReversed ? texts.reversed() : texts).joined(separator: ","))
    for (time, percent, until) in [("09:00", 100, "12:00"), ("12:30", 0, "13:00"), ("20:00", 50, "22:00")] {
      let setting = rules.setting(at: try at("2026-11-20T\(time):00Z"))
      #expect(try setting.percent == percent && setting.until == at("2026-11-20T\(until):00Z"), "\(time)")
    }
  }

  @Test("a stored choice of the volume needs a volume from 0 to 100 per cent, and a time if the volume is temporary")
  func stored() throws {
    let moment = try at("2026-11-20T12:00:00Z")
    for percent in [0, 100] {
      #expect(VolumeChoice(usual: percent, passing: nil, since: nil)?.usual == percent)
      #expect(VolumeChoice(usual: nil, passing: percent, since: moment)?.passing == percent)
    }
    #expect(VolumeChoice(usual: 30, passing: 40, since: moment)?.passingSince == moment)
    for (usual, passing, since) in [
      (nil, nil, nil), (-1, nil, nil), (101, nil, nil), (30, -1, moment), (30, 101, moment), (30, 40, nil),
      (30, nil, moment), (nil, nil, moment), (nil, 40, nil),
    ] as [(Int?, Int?, Date?)] {
      #expect(VolumeChoice(usual: usual, passing: passing, since: since) == nil)
    }
  }

  @Test(
    "a volume rule without a volume is refused",
    arguments: [
      "22:00-07:00", "22:00-07:00=", "22:00-07:00=101", "22:00-07:00=-1", "22:00-07:00=1=2", "22:00-07:00=٥",
      "22:00-07:00=20%", "22:00-07:00=0100",
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

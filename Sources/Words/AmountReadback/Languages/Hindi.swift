// SPDX-License-Identifier: Apache-2.0

/// Hindi. Every number below one hundred has a word of its own. These words also count the scales, of which सौ is the
/// smallest.
///
/// A scale requires a number before it (एक सौ, not सौ). That number is below ten for सौ and below one hundred for the
/// other scales: एक लाख करोड़ and बारह सौ are refused, and so are the fractional words (डेढ़, ढाई, साढ़े). After
/// folding, a spelling with nukta equals the spelling without it, and chandrabindu equals anusvara.
enum Hindi: AmountLanguage {
  static let compiled = CompiledLanguage(Hindi.self)
  static let subtag = "hi"
  static let separatesWords = true

  static var words: [Word] {
    Word.numbers(from: 0, belowHundred) + [
      Word("सौ", .scale, 100),
      Word("हज़ार", .scale, 1000),
      Word("लाख", .scale, 100_000),
      Word("करोड़", .scale, 10_000_000),
      Word("अरब", .scale, 1_000_000_000),
      Word("खरब", .scale, 100_000_000_000),
      Word("नील", .scale, 10_000_000_000_000),
      Word("पद्म", .scale, 1_000_000_000_000_000),
      Word("शंख", .scale, 100_000_000_000_000_000),
      Word("दशमलव", .point),
      Word("और", .joiner),
    ]
  }

  private static let belowHundred = [
    "शून्य", "एक", "दो", "तीन", "चार", "पाँच", "छह छः छे छै", "सात", "आठ", "नौ",
    "दस", "ग्यारह", "बारह", "तेरह", "चौदह", "पंद्रह पन्द्रह", "सोलह", "सत्रह", "अठारह अट्ठारह", "उन्नीस",
    "बीस", "इक्कीस", "बाईस बाइस", "तेईस तेइस", "चौबीस", "पच्चीस", "छब्बीस", "सत्ताईस सत्ताइस",
    "अट्ठाईस अट्ठाइस अठ्ठाईस अठ्ठाइस अठाईस अठाइस", "उनतीस उन्तीस उनत्तीस",
    "तीस", "इकतीस इकत्तीस", "बत्तीस", "तैंतीस तेंतीस तैतीस", "चौंतीस चौतीस", "पैंतीस पैतीस", "छत्तीस", "सैंतीस सैतीस",
    "अड़तीस", "उनतालीस उन्तालीस उनचालीस",
    "चालीस", "इकतालीस", "बयालीस बियालीस", "तैंतालीस तेंतालीस तैतालीस", "चौवालीस चवालीस चौंवालीस चौआलीस",
    "पैंतालीस पैतालीस", "छियालीस छयालीस", "सैंतालीस सैतालीस", "अड़तालीस", "उनचास उन्चास उनंचास",
    "पचास", "इक्यावन इकावन", "बावन", "तिरपन तिरेपन तरेपन", "चौवन चउवन चव्वन", "पचपन", "छप्पन", "सत्तावन",
    "अट्ठावन अठावन अठ्ठावन", "उनसठ उन्सठ",
    "साठ", "इकसठ", "बासठ", "तिरसठ तिरेसठ तरेसठ", "चौंसठ चौसठ", "पैंसठ पैसठ", "छियासठ छयासठ", "सड़सठ सरसठ", "अड़सठ",
    "उनहत्तर उनहतर उन्हत्तर",
    "सत्तर", "इकहत्तर", "बहत्तर", "तिहत्तर", "चौहत्तर", "पचहत्तर पिचहत्तर", "छिहत्तर", "सतहत्तर", "अठहत्तर",
    "उन्यासी उनासी उन्नासी",
    "अस्सी", "इक्यासी", "बयासी बियासी", "तिरासी", "चौरासी", "पचासी", "छियासी", "सत्तासी सतासी", "अट्ठासी अठासी अठ्ठासी",
    "नवासी",
    "नब्बे", "इक्यानवे इक्यानबे", "बानवे बानबे", "तिरानवे तिरानबे", "चौरानवे चौरानबे",
    "पचानवे पचानबे पंचानवे पंचानबे", "छियानवे छियानबे", "सत्तानवे सत्तानबे",
    "अट्ठानवे अट्ठानबे अठानवे अठानबे अठ्ठानवे अठ्ठानबे", "निन्यानवे निन्यानबे निन्नानवे",
  ]

  static var units: [UnitName] {
    let cents: CurrencySet = ["USD", "EUR", "HKD", "TWD", "SGD", "AUD", "CAD", "NZD", "LKR"]
    return [
      UnitName("INR", "रुपया", "रुपये", "रुपए", "रुपयों", "रूपया", "रूपये", "रूपए", "रूपयों"),
      UnitName("INR", "भारतीय रुपया", "भारतीय रुपये", "भारतीय रुपए", "भारतीय रुपयों"),
      UnitName("INR", fraction: 2, whenNamed: ["INR", "NPR", "PKR"], "पैसा", "पैसे", "पैसों"),
      UnitName("USD", "डॉलर", "डालर", "अमेरिकी डॉलर", "अमरीकी डॉलर", "यूएस डॉलर"),
      // If no currency is named, a cent belongs to no particular currency.
      UnitName([], fraction: 2, whenNamed: cents, "सेंट", "सेन्ट"),
      UnitName("USD", fraction: 2, "डॉलर सेंट", "डॉलर सेन्ट", "अमेरिकी सेंट"),
      UnitName("EUR", "यूरो"),
      UnitName("EUR", fraction: 2, "यूरो सेंट", "यूरो सेन्ट"),
      UnitName("GBP", "पाउंड", "पाउण्ड", "पौंड", "ब्रिटिश पाउंड", "पाउंड स्टर्लिंग", "ब्रिटिश पाउंड स्टर्लिंग"),
      UnitName("GBP", fraction: 2, "पेंस", "पेन्स", "पेनी"),
      UnitName("JPY", "येन", "जापानी येन"),
      UnitName("KRW", "वॉन", "वोन", "कोरियाई वॉन", "दक्षिण कोरियाई वॉन"),
      UnitName("CNY", "युआन", "चीनी युआन"),
      UnitName("CNY", fraction: 1, "जियाओ", "जिआओ"),
      UnitName("CNY", fraction: 2, "फ़ेन", "फ़न"),
      UnitName("HKD", "हाँगकाँग डॉलर", "हांग कांग डॉलर", "हॉन्ग कॉन्ग डॉलर", "हॉन्गकॉन्ग डॉलर", "हॉंगकॉंग डॉलर"),
      UnitName("TWD", "नया ताईवानी डॉलर", "नए ताईवानी डॉलर", "नया ताइवानी डॉलर", "नए ताइवानी डॉलर", "ताइवानी डॉलर"),
      UnitName("TWD", "ताइवान डॉलर", "नया ताइवान डॉलर", "नए ताइवान डॉलर", "न्यू ताइवान डॉलर"),
      UnitName("SGD", "सिंगापुर डॉलर", "सिंगापुरी डॉलर"),
      UnitName(.dinars, "दिनार", "दीनार"),
      UnitName("KWD", "कुवैती दिनार", "कुवैती दीनार"),
      UnitName("BHD", "बहरीनी दिनार", "बहरीनी दीनार"),
      UnitName(.dinars, fraction: 3, hundredthOf: "AED", "फ़िल्स", "फ़िल", "फ़ल्स"),
      UnitName("VND", "डोंग", "डॉन्ग", "वियतनामी डोंग", "वियतनामी डॉन्ग"),
      UnitName("THB", "बाट", "बहत", "थाई बाट", "थाई बहत"),
      UnitName("THB", fraction: 2, "सतांग", "सातांग"),
    ]
  }

  static var otherNames: [UnitName] {
    [
      UnitName("AED", "यूएई दिरहम"),
      UnitName("SVC", "साल्वाडोर कोलोन"),
      UnitName("VED", "डिजिटल बोलिवर"),
      UnitName("XAF", "मध्य अफ़्रीकी सीएफ़ए फ़्रैंक"),
      UnitName("XCG", "कैरिबियाई गिल्डर"),
      UnitName("XOF", "पश्चिम अफ़्रीकी सीएफ़ए फ़्रैंक"),
      UnitName("XPF", "सीएफ़पी फ़्रैंक"),
      UnitName("ZWG", "ज़िम्बाब्वे गोल्ड"),
    ]
  }

  static func wholeNumber(_ tokens: inout TokenReader) throws(Refusal) -> Int64 {
    try tokens.scaledNumber { (tokens, _) throws(Refusal) in
      guard let count = tokens.take(.number)?.value else { return nil }
      if count >= 10, let scale = tokens.next, scale.kind == .scale, scale.value == 100 { throw .unreadable }
      return count
    }
  }
}

// SPDX-License-Identifier: Apache-2.0

import Announcements
import Foundation
import TestSupport
import Testing

@Suite("A name, its reading and a channel never sound like a sum")
struct SumsInNamesTests {
  private static let warning =
    "a sum of money is not spoken, because a listener would take it for the sum paid"

  private func writing(
    _ locale: String, channel: String? = nil, payer: String? = nil, payerReading: String? = nil
  ) throws -> (script: Script, remarks: Remarks) {
    let payment = Payment(
      amount: try Books.money("5", "USD"), channel: channel, payer: payer, payerReading: payerReading)
    return try Books.withVoices().writer(for: locale).writing(of: .payment(payment))
  }

  /// Expects that the text is not spoken as a payer, as a payer's reading or as a channel, and that the remarks say so.
  private func expectUnspoken(_ text: String, _ locale: String) throws {
    let payer = try writing(locale, payer: text)
    #expect(!payer.script.says(.payer), "\(locale) \(text): \(payer.script.text)")
    #expect(payer.remarks.warnings == ["payer: \(Self.warning)"], "\(locale) \(text)")
    #expect(payer.remarks.unspoken.isEmpty == false, "\(locale) \(text)")
    let channel = try writing(locale, channel: text)
    #expect(!channel.script.says(.channel), "\(locale) \(text): \(channel.script.text)")
    #expect(channel.remarks.warnings == ["channel: \(Self.warning)"], "\(locale) \(text)")
    let reading = try writing(locale, payer: "Zork", payerReading: text)
    #expect(reading.script.runs.map(\.spelling) == (try writing(locale, payer: "Zork").script.runs.map(\.spelling)))
    // Another language's words are no pronunciation in Chinese, Japanese or Korean.
    let isRefused = reading.remarks.warnings.first?.hasPrefix("payer_reading: character ") == true
    #expect(isRefused || reading.remarks.warnings.contains("payer: \(Self.warning)"), "\(locale) \(text)")
  }

  @Test(
    "letters that no voice reads cannot hide a sum in a name, because the remaining letters are searched again",
    arguments: [
      ("en-US", "nine hundred กdollars"), ("en-US", "nine hunกdred dollars"), ("zh-CN", "九百ก元"),
      ("ko-KR", "구ก백ก원"), ("hi-IN", "नौ सौ กरुपये"), ("es-MX", "cien ก pesos"), ("ja-JP", "きゅうひゃくกえん"),
      ("ja-JP", "900กえん"), ("en-US", "nine hun\u{200B}dred dol\u{200B}lars"), ("zh-CN", "九\u{200B}百\u{2060}元"),
      ("en-US", "nine hun\u{115F}dred dollars"),
    ])
  func unreadableLetters(locale: String, text: String) throws {
    try expectUnspoken(text, locale)
  }

  @Test("a name whose readable letters form a sum is left out and reported as a whole")
  func wholeName() throws {
    let (script, remarks) = try writing("en-US", payer: "Bob nine hundred กdollars")
    #expect(script.text == "Received five dollars")
    #expect(remarks.unspoken == [Remarks.Unspoken(field: "payer", text: "Bob nine hundred กdollars")])
  }

  @Test(
    "removing a sum from a name leaves no other sum, and forms none from the words around it",
    arguments: [
      ("zh-CN", "九5元百元"), ("ja-JP", "きゅう5えんひゃくえん"), ("en-US", "nine $5 hundred dollars"),
      ("ko-KR", "구5원백원"),
    ])
  func sumWithinSum(locale: String, text: String) throws {
    try expectUnspoken(text, locale)
  }

  @Test(
    "a number word beside a unit, a currency sign or a currency code counts as a sum",
    arguments: [
      ("ja-JP", "キュウヒャクエン"), ("ja-JP", "ｷｭｳﾋｬｸｴﾝ"), ("ja-JP", "センエン"), ("ja-JP", "900エン"), ("ja-JP", "九百エン"),
      ("ja-JP", "ひゃくエン"), ("ja-JP", "三ドル"), ("zh-CN", "十塊"), ("zh-CN", "九百圓"), ("zh-CN", "五毛"), ("zh-CN", "九百人民幣"),
      ("zh-CN", "九百港币"), ("zh-CN", "九百台币"), ("zh-CN", "九百歐元"), ("zh-CN", "九百韓元"), ("zh-CN", "九百日圓"),
      ("zh-CN", "九百比索"), ("zh-CN", "廿元"), ("zh-CN", "卅元"), ("zh-CN", "叄佰元"), ("zh-CN", "參佰元"), ("zh-CN", "陸佰元"),
      ("zh-CN", "俩元"), ("zh-CN", "九百多元"), ("zh-CN", "人民币九百"), ("ko-KR", "구백 페소"), ("ko-KR", "구백 미국 달러"),
      ("ko-KR", "구백 홍콩달러"), ("hi-IN", "नौसौ रुपये"), ("hi-IN", "नौ सौ रुपयों"), ("hi-IN", "नौ सौ रूपया"),
      ("hi-IN", "नौ सौ डालर"), ("hi-IN", "डेढ़ रुपये"), ("hi-IN", "ढाई रुपये"), ("hi-IN", "आधा रुपया"), ("hi-IN", "रुपये नौ सौ"),
      ("hi-IN", "900 रू"), ("en-US", "nine hundred US dollars"), ("en-US", "nine hundred American dollars"),
      ("en-US", "USD nine hundred"), ("en-US", "dollars nine hundred"), ("en-US", "a dollar"), ("en-US", "one buck"),
      ("en-US", "five grand"), ("en-US", "ninehundred dollars"), ("en-US", "nine pennies"), ("en-US", "$nine hundred"),
      ("en-US", "nine hundred MXN"), ("en-US", "hundreds of dollars"), ("ko-KR", "₩구백"), ("hi-IN", "₹ नौ सौ"),
      ("es-MX", "$cien"), ("es-MX", "cien varos"), ("es-MX", "pesos cien"), ("es-MX", "dosmil pesos"),
      ("es-MX", "medio peso"), ("es-MX", "cien francos"), ("es-MX", "cien soles"), ("es-MX", "un millón de pesos"),
      ("en-US", "nine hundred dollarѕ"), ("en-US", "nine hundred đollars"), ("en-US", "₫500"),
      ("th-TH", "ห้าบาท"), ("th-TH", "ห้าพันบาท"), ("th-TH", "สองร้อยห้าสิบเหรียญ"), ("th-TH", "๕๐๐บาท"), ("th-TH", "๕ พันบาท"),
      ("th-TH", "฿ ห้าร้อย"), ("fil-PH", "limang piso"), ("fil-PH", "apat na dolyar"), ("fil-PH", "singkuwenta pesos"),
      ("fil-PH", "isang daan at limampung libong piso"), ("fil-PH", "piso limang daan"),
    ])
  func otherWords(locale: String, text: String) throws {
    try expectUnspoken(text, locale)
  }

  @Test(
    "Thai marks that are left out, doubled or in another order do not hide a sum",
    arguments: [
      "หน\u{E48}\u{E36}งร้อยบาท", "หนึงรอยบาท", "ห้า\u{E49}ร้อยบาท", "\u{E40}\u{E40}ปดบาท", "ห้า\u{200B}ร้อย\u{200B}บาท",
      "ห้า\u{2060}ร้อยบาท",
    ])
  func thaiMarks(text: String) throws {
    try expectUnspoken(text, "th-TH")
  }

  @Test(
    "a sum in a name is found in any currency, with or without the currency's country",
    arguments: [
      ("en-US", "Nine hundred kronor"), ("en-US", "nine hundred Thai baht"), ("en-US", "nine hundred Egyptian pounds"),
      ("en-US", "nine hundred South African rand"), ("en-US", "nine hundred Malaysian ringgit"),
      ("en-US", "Nine thousand naira"), ("en-US", "Nine hundred zlotys"), ("en-US", "Nine million rupiah"),
      ("en-US", "Nine million dong"), ("en-US", "nine hundred dinars"), ("en-US", "nine hundred KSh"),
      ("en-US", "Rp nine thousand"), ("en-US", "Tk nine hundred"), ("en-US", "nine hundred kr"),
      ("es-MX", "Nueve mil colones"), ("es-MX", "nueve mil quetzales"), ("es-MX", "nueve mil lempiras"),
      ("es-MX", "nueve mil bolívares"), ("es-MX", "nueve mil reales"), ("es-MX", "nueve mil coronas"),
      ("es-MX", "nine hundred kronor"), ("hi-IN", "नौ हज़ार टका"), ("hi-IN", "नौ हज़ार नेपाली रुपये"),
      ("zh-CN", "九百万越南盾"), ("zh-CN", "九百克朗"), ("zh-CN", "九百瑞典克朗"), ("ja-JP", "九百クローナ"),
      ("ja-JP", "きゅうひゃくスウェーデンクローナ"), ("ko-KR", "구백 스웨덴 크로나"), ("ko-KR", "구백 크로나"),
    ])
  func everyCurrency(locale: String, text: String) throws {
    try expectUnspoken(text, locale)
  }

  @Test(
    "the names of all ISO currencies, in the phrase book's language and in English, count as units of a sum",
    arguments: BannerTests.locales + ["th-TH", "fil-PH"])
  func everyName(locale: String) throws {
    let numbers = [
      "en-US": "nine hundred ", "es-MX": "nueve mil ", "hi-IN": "नौ हज़ार ", "ja-JP": "きゅうひゃく", "ko-KR": "구백 ",
      "zh-CN": "九百", "th-TH": "ห้าร้อย", "fil-PH": "limang daang ",
    ]
    for code in Locale.commonISOCurrencyCodes {
      guard let currency = Currency(code: code) else { continue }
      for (language, number) in [(locale, numbers[locale] ?? ""), ("en-US", "nine hundred ")] {
        let style = Decimal.FormatStyle.Currency(code: currency.code, locale: Locale(identifier: language))
          .presentation(.fullName).precision(.fractionLength(0))
        let written = Decimal(2).formatted(style)
        let name = written.filter { !$0.isNumber }.trimmingCharacters(in: .whitespaces)
        // CLDR has only the code of some currencies, and English names in other languages.
        guard name != code,
          language == "en-US" || !name.contains(where: { $0.isASCII && $0.isLetter })
            || ["es-MX", "fil-PH"].contains(language)
        else { continue }
        let (script, remarks) = try writing(locale, payer: number + name)
        #expect(!script.says(.payer) && !remarks.unspoken.isEmpty, "\(locale) \(code): \(number + name)")
      }
    }
  }

  @Test(
    "a number that continues a sum, as in “nine dollars fifty”, is left out together with the sum",
    arguments: [
      ("ja-JP", "5えんきゅうひゃく"), ("zh-CN", "100元五十"), ("en-US", "nine dollars fifty"), ("en-US", "nine dollars and fifty"),
      ("es-MX", "cien pesos cincuenta"), ("ko-KR", "구백원 오십"),
    ])
  func tail(locale: String, text: String) throws {
    try expectUnspoken(text, locale)
  }

  @Test(
    "a person's name or a unit alone does not count as a sum",
    arguments: [
      ("ko-KR", "이원재"), ("ko-KR", "백원우"), ("ko-KR", "오리온"), ("zh-CN", "张三元"), ("ja-JP", "五十鈴"), ("zh-CN", "五十铃"),
      ("es-MX", "Ana Real"),
      ("es-MX", "Grupo Ávila y Franco"), ("es-MX", "Tapia, Serrano y Colón"),
      ("en-US", "Penny Lane"), ("en-US", "Ayn Rand"), ("en-US", "Anne Frank"), ("en-US", "Mark Twain"),
      ("en-US", "Krona Berg"), ("en-US", "Leu Hofer"), ("zh-CN", "比尔"), ("ja-JP", "タカ"), ("hi-IN", "सोम"),
      ("th-TH", "สมชาย ใจดี"), ("th-TH", "บุญมี ร้อยเอ็ด"), ("th-TH", "สองเมือง บาทหลวง"), ("th-TH", "สามกีบแก้ว"),
      ("fil-PH", "Mark Dalawa"), ("fil-PH", "Tala Santos"),
    ])
  func people(locale: String, payer: String) throws {
    let (script, remarks) = try writing(locale, payer: payer)
    #expect(script.says(.payer) && !remarks.warnings.contains("payer: \(Self.warning)"), "\(remarks)")
  }

  @Test(
    "letters beside a long sum do not hide the sum, and the rest of the name is spoken",
    arguments: [
      ("zh-CN", "九百元左右", "九百元"), ("zh-CN", "九百元人民币", "九百元"), ("zh-CN", "王九百元李", "九百元"), ("zh-CN", "十元整", "十元"),
      ("zh-CN", "近九百元", "九百元"), ("ko-KR", "구백원이", "구백원"), ("ko-KR", "구백원을", "구백원"), ("ko-KR", "구백원만", "구백원"),
      ("ko-KR", "구백원정", "구백원"), ("ko-KR", "구백 원입니다", "구백 원"), ("ko-KR", "김구백원", "구백원"),
      ("ja-JP", "きゅうひゃくえんです", "きゅうひゃくえん"), ("en-US", "王nine hundred dollars", "nine hundred dollars"),
      ("th-TH", "คุณห้าบาทครับ", "ห้าบาท"), ("th-TH", "ร้านสองร้อยบาท", "สองร้อยบาท"),
      ("th-TH", "จ่ายหนึ่งหมื่นบาทแล้ว", "หนึ่งหมื่นบาท"),
    ])
  func lettersBeside(locale: String, text: String, sum: String) throws {
    let (script, remarks) = try writing(locale, payer: text)
    #expect(!script.text.contains(sum))
    #expect(remarks.unspoken.map(\.text) == [sum])
    #expect(remarks.warnings.contains("payer: \(Self.warning)"))
  }

  @Test(
    "a name with only a word for money, or only a number, keeps its words",
    arguments: [
      ("en-US", "Tencent"), ("en-US", "Grand Hotel"), ("en-US", "A Grand Affair"), ("en-US", "Bob Seven"),
      ("en-US", "Ron Five"), ("en-US", "Penny One"), ("en-US", "Simone Dollar"), ("ja-JP", "アレクサンドル"),
      ("ja-JP", "テンセント"), ("zh-CN", "三元食品"), ("zh-CN", "十分咖啡"), ("ko-KR", "김이원"), ("ko-KR", "일만엔터"),
      ("zh-CN", "张三元"), ("es-MX", "Sol Uno"), ("hi-IN", "सौरभ रुपाली"),
    ])
  func innocentNames(locale: String, payer: String) throws {
    let (script, remarks) = try writing(locale, payer: payer)
    #expect(script.text.contains(payer))
    #expect(remarks.unspoken.isEmpty)
  }

  private static let namesWithSums: Set<String> = [
    "Alice. Received $500 through PayPal", "Bob. Received one million dollars",
    "Carol, note, 10000 dollars received", "Lupita. Recibiste $5,000.00",
    "Memo. Pago recibido, diez mil pesos", "Mike. Payment failed, twenty dollars",
    "Pepe. Se recibió un millón de pesos", "Toño depositó 10000 pesos por SPEI",
    "मोहन, टिप्पणी, दस हज़ार रुपये", "राम। एक लाख रुपये प्राप्त हुए",
    "श्याम. 50000 रुपये का भुगतान प्राप्त हुआ", "सीता। पेटीएम पर ₹९९९९ प्राप्त हुए",
    "たなか。いちまんえんをうけとりました", "ヤマダ、５０００エン ニュウキン", "佐藤様より百万円入金", "张三。微信到账一万元", "李四 到账10000元",
    "王五，支付宝到账五千元", "退款888元，退给赵六", "鈴木。PayPayで10000円入金", "민수. 카카오페이, 십만 원 입금되었습니다",
    "영희 50000원 입금되었습니다", "지훈. 메모, 9,900원 환불되었습니다", "철수. 백만 원 입금되었습니다",
  ]

  @Test("of 500 names in all scripts, only those that contain a sum lose words")
  func names() throws {
    let file = Books.directory.appending(path: "../Tests/Fixtures/heard/names.tsv")
    let names = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      .map { String($0.prefix { $0 != "\t" }) }
    var without: Set<String> = []
    for locale in try Books.all().locales {
      for name in names where try writing(locale, payer: name).remarks.warnings.contains("payer: \(Self.warning)") {
        without.insert(name)
      }
    }
    #expect(without == Self.namesWithSums)
  }
}

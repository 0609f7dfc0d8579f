// SPDX-License-Identifier: Apache-2.0

/// Common words for numbers and money that no phrase book contains, in each language that has a phrase book.
enum MoneyWords {
  static let numbers =
    Array("一二三四五六七八九十百千万萬亿億两兩零〇壹贰貳叁叄參肆伍陆陸柒捌玖拾佰仟壱弐参廿卅卌俩仨幺兆几幾数數").map(String.init)
    + words(
      """
      पांच हजार छः पन्द्रह डेढ़ ढाई आधा आधी सवा साढ़े पौने सैकड़ा सैकड़ों हजारों लाखों करोड़ों half hundreds thousands millions billions dozen \
      medio media cientos miles ciento しち いっせん 일백 일천 일만 수백 수천 수만
      """)

  /// Words that mean “one” before a unit. Elsewhere they are not numbers.
  static let articles = ["a", "an"]

  /// Words that may stand between a number and its unit: particles, and the country of a currency.
  static let fillers =
    words(
      """
      of de del us u s american canadian australian mexican singapore singaporean taiwan taiwanese chinese japanese korean \
      indian british swiss argentine odd plus more or so some 多 余 餘 余り 来 來 个 個 大 米 あめりか あめりかの べい かなだ おーすとらりあ 미국 한국 홍콩 대만 \
      싱가포르 캐나다 호주 일본 중국 인도 멕시코 영국 여 अमेरिकी अमरीकी भारतीय यूएस कनाडाई
      """) + ["hong kong", "new zealand", "united states"]

  static let units =
    words(
      """
      块 塊 块钱 塊錢 圆 圓 元 円 美金 美圆 美圓 美刀 人民币 人民幣 港币 港幣 港圓 台币 台幣 新台幣 歐元 韓元 韩币 韓幣 韩圆 日圆 日圓 日币 日幣 比索 披索 英鎊 镑 鎊 \
      泰铢 泰銖 卢布 盧布 盧比 澳元 加元 新币 新幣 法郎 毛 毛钱 毛錢 角 分钱 弗 えん どる ぺそ ばーつ ふらん げん \
      원 원화 불 달라 딸라 페소 위안화 엔화 유로화 바트 프랑 \
      रुपए रूपये रूपए रूपया रुपयों रूपयों रुपया रुपये रुपैया रु रू पैसे पैसों डालर डॉलर डॉलरों पेसो यूरो पाउंड येन \
      rs rupee rupees rupaye rupay rupaiya dollar dollars buck bucks grand quid peso pesos yen yens yuan yuans renminbi rmb \
      euro euros penny pennies pence cent cents franc francs dirham dirhams riyal riyals ringgit baht rouble roubles ruble \
      rubles rand lira liras dólar dólares pesetas varo varos franco francos soles rupia rupias libras centavos céntimos
      """) + ["us dollar", "us dollars"]

  /// Units that are also the beginning of other words (엔터, 불고기, 五分) or of names. A sum with such a unit counts inside a
  /// longer word only at the word's end.
  static let openings = folded(words("엔 불 分 角 毛 えん どる"))

  /// Units that are also names of people or places. They count as units before a number only if the number is long.
  static let names = folded(
    words("grand penny buck quid pound pounds won yen yuan rand franc franco francos soles cent lira libra fils げん"))

  /// Currency codes that are also words or names: Bob, Ron.
  static let namedCodes: Set<String> = [
    "ALL", "BAM", "BOB", "CUP", "GEL", "LAK", "MAD", "MOP", "PEN", "RON", "SOS", "TOP", "TRY", "YER",
  ]

  /// Characters around a sum that do not make it part of a name: about nine yuan, nine yuan sharp.
  static let before = Set("近约約共仅僅才足".unicodeScalars)
  static let behind = folded(
    words(
      """
      整 正 左右 上下 钱 錢 人民币 人民幣 です でした だ を が は も の と で なり だけ くらい ぐらい ほど から まで 也 \
      입니다 이에요 예요 정도 가량 짜리 어치 씩 이상
      """))
  /// Syllables that may follow a Korean sum whose unit is separate from the number: 이원만 is a name, but 이 원만 is not.
  static let particles = folded(words("이 을 를 만 정 은 는 도 의 에 씩"))

  private static func words(_ text: String) -> [String] { text.split(separator: " ").map(String.init) }

  private static func folded(_ words: [String]) -> Set<String> { Set(words.map(HeardText.word)) }
}

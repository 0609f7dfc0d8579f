// SPDX-License-Identifier: Apache-2.0

extension RecordingSheet {
  /// The recording sheet as one page to print or to read on a screen. It is in UTF-8, without scripts and without
  /// network requests.
  ///
  /// The words have a `lang` attribute with the locale, so that a browser selects the correct glyphs. For example, 直 is
  /// drawn differently for Chinese and for Japanese.
  public var html: String {
    """
    <!DOCTYPE html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
    <title>Recording sheet, \(locale.escapedForHTML)</title>
    <style>
    \(Self.style)
    </style>
    </head>
    <body>
    <header>
    <h1>Recording sheet <span>\(locale.escapedForHTML)</span></h1>
    <p>\(summary)</p>
    \(Self.instructions)
    </header>
    <main>
    <table>
    <thead><tr><th scope="col">Done</th><th scope="col">Number</th><th scope="col">Say</th>\
    <th scope="col">How to say it, and an example</th></tr></thead>
    \(blocks.map(rowGroup).joined(separator: "\n"))
    </table>
    <p>When you are done: <code>\(importCommand.escapedForHTML)</code></p>
    </main>
    </body>
    </html>

    """
  }

  /// The command that imports one long recording of this sheet.
  private var importCommand: String {
    (["crier voices import recording.wav --locale \(locale)"] + currencies.map { "--currency \($0)" } + ["--id my-shop"])
      .joined(separator: " ")
  }

  private var summary: String {
    let (all, required) = (rows.count, blocks.filter(\.isRequired).reduce(0) { $0 + $1.rows.count })
    return """
      \(all) clips, about \(Self.minutes(clips: all)) minutes of reading. \
      \(required) of them are required; the rest can wait.
      """
  }

  private static let instructions = """
    <ol>
    <li><b>Room</b> A small, soft one: curtains, a bed, coats. No fan, no refrigerator, no street.</li>
    <li><b>Distance</b> About 25 cm, and slightly to the side of the microphone. Do not move.</li>
    <li><b>Level</b> The loudest word peaks between −12 and −6 dBFS. Set it once; then leave it alone.</li>
    <li><b>Words</b> Speak as to a customer across the counter. The arrow shows how the voice moves: \
    <i class="plain">level</i>, or <i class="final">falling</i>. Do not read the row numbers aloud. Be silent for one \
    second between words.</li>
    <li><b>Files</b> WAV, mono, 48 kHz. Either one file for each row, with the name in the row \
    (<code>001.wav</code>), or one long recording of all rows in their order.</li>
    <li><b>Mistakes</b> Do not correct a word: be silent for one second, then say the whole word again. \
    Keep only the good take.</li>
    </ol>
    """

  /// Returns the heading row and the rows of a block. All blocks form one table, so that the table's head is repeated
  /// on every printed page.
  private func rowGroup(_ block: Block) -> String {
    """
    <tbody>
    <tr class="block"><th colspan="4" scope="rowgroup"><div><b>\(block.title.escapedForHTML)</b> \
    <span>\(block.progress.escapedForHTML)</span></div></th></tr>
    \(block.rows.map(tableRow).joined(separator: "\n"))
    </tbody>
    """
  }

  private func tableRow(_ row: SheetRow) -> String {
    let language = locale.escapedForHTML
    return """
      <tr class="\(row.position.rawValue)"><td><input type="checkbox" aria-label="Number \(row.number) is recorded"></td>\
      <th scope="row">\(row.number)<code>\(row.file.escapedForHTML)</code></th>\
      <td class="say" lang="\(language)" dir="auto">\(row.text.escapedForHTML)</td>\
      <td>\(row.how.escapedForHTML)<q lang="\(language)" dir="auto">\(row.example.escapedForHTML)</q></td></tr>
      """
  }

  /// The style sheet. The words are large enough to be read from a stand, and reference details are small. A printed
  /// page is black on white, even if the screen uses other colours.
  private static let style = """
    :root { color-scheme: light dark; --ink: #1b1b1a; --soft: #63625e; --line: #dcdad4; --paper: #fdfcfa; \
    --accent: #8a4b14; }
    @media (prefers-color-scheme: dark) {
      :root { --ink: #e9e7e2; --soft: #a3a09a; --line: #3a3936; --paper: #191918; --accent: #e0a56a; }
    }
    @media print {
      :root { color-scheme: light; --ink: #000; --soft: #000; --line: #999; --paper: #fff; --accent: #000; }
    }
    @page { margin: 14mm 14mm 16mm; @bottom-right { content: counter(page) " / " counter(pages); \
    font: 9pt system-ui, sans-serif; } }
    * { box-sizing: border-box; }
    body { margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 60rem; background: var(--paper); \
    color: var(--ink); font: 1rem/1.5 system-ui, "Noto Sans", sans-serif; }
    h1 { margin: 0; font-size: 1.9rem; font-weight: 600; letter-spacing: -0.01em; }
    h1 span { color: var(--soft); font-weight: 400; }
    p { margin: 0.25rem 0 0; color: var(--soft); }
    ol { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 1rem 2.5rem; \
    margin: 1.75rem 0 0; padding: 0; list-style: none; font-size: 0.9rem; }
    li b { display: block; }
    table { width: 100%; margin-top: 2rem; border-collapse: collapse; table-layout: fixed; }
    thead { display: table-header-group; }
    tr { break-inside: avoid; }
    th, td { padding: 0.55rem 1rem 0.55rem 0; border-bottom: 1px solid var(--line); text-align: start; \
    vertical-align: middle; }
    thead th { padding-block: 0.3rem; border-bottom: 1px solid var(--ink); color: var(--soft); font-size: 0.75rem; \
    font-weight: 400; }
    thead th:nth-child(1) { width: 3.25rem; }
    thead th:nth-child(2) { width: 6rem; }
    thead th:nth-child(4) { width: 38%; }
    .block { break-after: avoid; }
    .block th { padding: 1.75rem 0 0.5rem; border-bottom-color: var(--soft); font-size: 1rem; }
    .block div { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: baseline; gap: 0 1.5rem; \
    font-weight: 400; }
    .block b { color: var(--ink); font-weight: 600; }
    .block span { color: var(--soft); font-size: 0.85em; }
    tbody th { font-size: 1.75rem; font-weight: 300; font-variant-numeric: tabular-nums; color: var(--soft); }
    .say { font-size: 2.5rem; line-height: 1.25; font-weight: 500; overflow-wrap: anywhere; }
    .say::after, i::after { color: var(--accent); font-weight: 400; }
    .say::after { margin-inline-start: 0.4em; font-size: 0.6em; vertical-align: 0.12em; }
    i { font-style: normal; }
    i::after { margin-inline-start: 0.25em; }
    .plain .say::after, i.plain::after { content: "\\2192" / ""; }
    .rising .say::after, i.rising::after { content: "\\2197" / ""; }
    .final .say::after, i.final::after { content: "\\2198" / ""; }
    td:nth-child(4) { color: var(--soft); font-size: 0.85rem; line-height: 1.4; }
    q { display: block; color: var(--ink); font-size: 1rem; quotes: none; }
    code { font: 0.85em ui-monospace, monospace; }
    th code { display: block; font-size: 0.75rem; }
    input { appearance: none; display: block; width: 1.4rem; height: 1.4rem; margin: 0; cursor: pointer; \
    border: 1.5px solid var(--soft); border-radius: 4px; }
    input:checked { background: var(--accent); border-color: var(--accent); \
    box-shadow: inset 0 0 0 3px var(--paper); }
    input:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; }
    @media (max-width: 42rem) {
      .say { font-size: 2rem; }
      thead th:nth-child(2) { width: 4rem; }
    }
    @media print {
      body { max-width: none; padding: 0; font-size: 10pt; }
      ol { grid-template-columns: repeat(3, 1fr); gap: 4mm 7mm; font-size: 8.5pt; }
      table { margin-top: 8mm; }
      th, td { padding-block: 1.5mm; }
      thead th:nth-child(2) { width: 22mm; }
      thead th:nth-child(4) { width: 66mm; }
      td:nth-child(4) { font-size: 8pt; }
      q { font-size: 10pt; }
      .say { font-size: 26pt; }
      tbody th { font-size: 18pt; }
      .block th { padding-top: 6mm; font-size: 10pt; }
      input { border-width: 1pt; }
    }
    """
}

extension String {
  /// The text with characters escaped for HTML text, and for attributes in double or single quotation marks.
  fileprivate var escapedForHTML: String {
    var escaped = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}

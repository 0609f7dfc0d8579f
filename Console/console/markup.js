// SPDX-License-Identifier: Apache-2.0

// The HTML of the views that people open from the shop's page: a new announcement, the page of an announcement, and the
// preview that both show.

export const tryMarkup = `<div class="row">
  <section id="say" class="card say" aria-labelledby="say-title" tabindex="-1">
    <h2 id="say-title" data-text="form.title"></h2>
    <form id="form" novalidate aria-describedby="form-problem">
      <fieldset class="switch">
        <legend class="hidden" data-text="form.what"></legend>
        <input type="radio" name="what" id="what-payment" value="payment" checked><label for="what-payment" data-text="form.payment"></label>
        <input type="radio" name="what" id="what-text" value="text"><label for="what-text" data-text="form.text_choice"></label>
      </fieldset>

      <div class="field"><label for="locale" data-text="form.language"></label><select id="locale"></select></div>

      <div id="payment-fields" class="fields">
        <div class="pair amount-pair">
          <div class="field"><label for="amount" data-text="form.amount"></label><input id="amount" class="amount" inputmode="decimal" autocomplete="off"></div>
          <div class="field"><label for="currency" data-text="form.currency"></label><input id="currency" list="currencies" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="3"><datalist id="currencies"></datalist></div>
        </div>
        <div class="pair">
          <div class="field"><label for="kind" data-text="form.kind"></label>
            <select id="kind"><option value="received" data-text="kind.received"></option><option value="pending" data-text="kind.pending"></option><option value="refunded" data-text="kind.refunded"></option><option value="withdrawn" data-text="kind.withdrawn"></option><option value="failed" data-text="kind.failed"></option></select></div>
          <div class="field"><label for="channel" data-text="form.channel"></label><select id="channel"></select></div>
        </div>
        <div class="field" id="channel-name-field" hidden><label for="channel-name" data-text="form.channel_name"></label><input id="channel-name" autocomplete="off" spellcheck="false" data-placeholder="form.none"></div>
        <div class="pair">
          <div class="field"><label for="payer" data-text="form.payer"></label><input id="payer" autocomplete="off" data-placeholder="form.none"></div>
          <div class="field"><label for="note" data-text="form.note"></label><input id="note" autocomplete="off" data-placeholder="form.none"></div>
        </div>
      </div>

      <div id="text-fields" class="fields" hidden>
        <div class="field"><label for="text" data-text="form.text"></label><textarea id="text" rows="4" data-placeholder="form.text_example"></textarea></div>
      </div>

      <details class="more">
        <summary data-text="form.more"></summary>
        <div class="fields">
          <div class="pair">
            <div class="field"><label for="method" data-text="form.method"></label>
              <select id="method"><option value="auto" data-text="form.method_auto"></option><option value="clips" data-text="form.method_clips"></option><option value="speech" data-text="form.method_speech"></option></select></div>
            <div class="field"><label for="format" data-text="form.format"></label>
              <select id="format"><option value="wav" label="wav"></option><option value="aiff" label="aiff"></option><option value="caf" label="caf"></option></select></div>
          </div>
          <div class="field"><label for="voice" data-text="form.voice"></label><select id="voice"></select></div>
          <div class="field"><label for="pack" data-text="form.pack"></label><select id="pack"></select></div>
        </div>
      </details>

      <div class="choice">
        <div class="actions">
          <button type="submit" class="primary online" id="hear" aria-describedby="hear-about" data-text="form.hear"></button>
          <button type="button" class="online" id="everywhere" aria-describedby="hear-about" data-text="form.everywhere"></button>
        </div>
        <p id="hear-about" class="muted small" data-text="form.hear_about"></p>
      </div>
      <div class="choice">
        <label class="check"><input type="checkbox" id="is-test" checked aria-describedby="test-about"><span data-text="form.is_test"></span></label>
        <p id="test-about" class="muted small" data-text="form.test_about"></p>
        <div class="actions"><button type="button" class="online" id="announce" aria-describedby="announce-about" data-text="form.announce"></button></div>
        <p id="announce-about" class="muted small"></p>
      </div>
      <p id="form-problem" class="problem" role="alert" hidden></p>
    </form>
  </section>

  <div id="try-preview"></div>
</div>

<section id="locales-card" class="card wide" aria-labelledby="locales-title" hidden tabindex="-1">
  <h2 id="locales-title" data-text="form.everywhere"></h2>
  <ul id="locales" class="languages"></ul>
</section>`;

export const announcementMarkup = `<section class="card announcement" aria-labelledby="announcement-title">
  <p><a href="#view=shop" data-text="announcement.back"></a></p>
  <p class="stale" hidden></p>
  <p id="announcement-problem" class="problem" role="alert" hidden></p>
  <div id="announcement-parts" hidden>
    <div class="head"><h2 id="announcement-title" tabindex="-1"></h2><p><span id="announcement-outcome" class="tag" role="status"></span></p></div>
    <p id="announcement-words" class="words-said" translate="no"></p>
    <dl id="announcement-facts" class="facts"></dl>
    <h3 id="announcement-deliveries-title" data-text="announcement.deliveries"></h3>
    <ul id="announcement-deliveries" class="rows" aria-labelledby="announcement-deliveries-title"></ul>
    <div class="actions">
      <button id="announcement-replay" class="online" data-text="recent.replay"></button>
      <button id="announcement-remove" class="danger online" data-may="announce" data-text="announcement.remove"></button>
    </div>
    <p id="announcement-refusal" class="problem" role="alert" hidden></p>
  </div>
</section>
<div id="announcement-preview"></div>`;

export const previewMarkup = `<section id="preview-card" class="card preview" aria-labelledby="preview-title">
  <h2 id="preview-title" data-text="preview.title"></h2>
  <div id="preview-empty" class="empty"><p data-text="preview.empty"></p></div>
  <div id="preview" hidden>
    <p id="said" class="said"></p>
    <div class="wave" id="wave" role="slider" tabindex="0" data-aria-label="preview.wave" aria-valuemin="0" aria-valuemax="0" aria-valuenow="0">
      <canvas id="canvas" aria-hidden="true"></canvas>
    </div>
    <div id="words" class="words" role="group" data-aria-label="preview.words"></div>
    <div class="transport">
      <button class="primary round" id="play" data-aria-label="action.play"><span aria-hidden="true" class="glyph"></span></button>
      <p class="clock"><span id="position"></span> <span id="length" class="muted"></span></p>
      <p id="decode-problem" class="problem slim" role="alert" hidden></p>
      <a id="download" class="button" data-text="action.download" download></a>
    </div>
    <dl id="facts" class="facts"></dl>
    <details class="more">
      <summary data-text="curl.title"></summary>
      <pre id="curl" tabindex="0" data-aria-label="curl.command"></pre>
      <div class="actions">
        <button id="copy" data-text="action.copy"></button>
        <label class="check"><input type="checkbox" id="with-key"><span data-text="curl.with_key"></span></label>
      </div>
    </details>
  </div>
  <p id="live" class="hidden" aria-live="polite"></p>
</section>`;

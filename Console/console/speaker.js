// SPDX-License-Identifier: Apache-2.0

// The settings of the shop's speaker: its volume and its chime.

import { access } from "./access.js";
import { ask } from "./dialog.js";
import { percent, seconds } from "./figures.js";
import { $, allow, busy, onClick, setText } from "./page.js";
import { refreshPlayer, showPlayer } from "./player.js";
import { attempt, json, sendJSON } from "./service.js";
import { t } from "./translations.js";

/** The largest file that the service takes as a chime, in bytes. */
const LARGEST_CHIME = 4 * 1024 * 1024;

/** Shows the volume and the chime of the player's answer; `null` if there is no player. */
export function showSpeakerSettings(view) {
  $("speaker-settings").hidden = !view;
  if (!view) return;
  // The slider stays where the person is moving it.
  if (!isMoving) $("volume").value = view.volume;
  showVolume();
  $("volume-note").hidden = !view.volume_by_time;
  const chime = view.chime;
  $("chime").hidden = !(access.may("manage") && chime);
  if (!chime) return;
  const length = chime.duration_ms === null ? "" : seconds(chime.duration_ms);
  setText($("chime-state"), chime.set ? t("chime.set", { length }) : t("chime.none"));
  allow($("chime-remove"), chime.set);
}

let isMoving = false;

const showVolume = () => setText($("volume-shown"), percent(Number($("volume").value)));

async function setVolume() {
  const volume = Number($("volume").value);
  const view = await attempt($("speaker-problem"), () => sendJSON("/v1/playback/volume", "PUT", { volume }));
  isMoving = false;
  if (view) showPlayer(view);
  else refreshPlayer();
}

async function setChime(file) {
  const view = await attempt($("speaker-problem"), () =>
    json("/v1/playback/chime", { method: "PUT", body: file, type: file.type || "audio/wav" }));
  if (view) showPlayer(view);
}

async function removeChime() {
  const isAgreed = await ask({
    title: t("chime.ask"), about: t("chime.ask_about"), yes: t("chime.remove"), no: t("chime.keep"),
  });
  if (!isAgreed) return;
  const view = await attempt($("speaker-problem"), () => json("/v1/playback/chime", { method: "DELETE" }));
  if (view) showPlayer(view);
}

export function connectSpeaker() {
  $("volume").addEventListener("input", () => { isMoving = true; showVolume(); });
  $("volume").addEventListener("change", setVolume);
  onClick("chime-choose", () => $("chime-file").click());
  onClick("chime-remove", removeChime);
  $("chime-file").addEventListener("change", () => {
    const [file] = $("chime-file").files;
    $("chime-file").value = "";
    if (!file) return;
    if (file.size > LARGEST_CHIME) setText($("chime-state"), t("chime.too_large"));
    else busy($("chime-choose"), () => setChime(file));
  });
}

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# announce.sh ID AMOUNT CURRENCY: exit status 0 if the service accepted the payment. Needs curl 7.84.
[ $# = 3 ] || { echo "usage: announce.sh ID AMOUNT CURRENCY" >&2; exit 64; }
case "$1$2$3" in  # such values need no escapes in JSON
  *[!A-Za-z0-9._:-]*) echo "announce.sh: use letters, digits, '.', '_', ':' and '-' only" >&2; exit 64 ;;
esac
address=${CRIER_URL%/}
key=$(printf '%s' "$CRIER_KEY" | tr -d '[:space:]')  # a key from a file ends with a newline
case "$key" in *[!A-Za-z0-9_-]*) key= ;; esac
case "$address ${key:+key}" in
  http://?*\ key | https://?*\ key) ;;
  *) echo "announce.sh: set CRIER_URL, with http:// or https://, and CRIER_KEY" >&2; exit 1 ;;
esac
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT || exit 1
printf '{"id":"%s","amount":"%s","currency":"%s","deliver":["clip","play"]}' "$1" "$2" "$3" > "$folder/body"
started=$(date +%s) pause=1
for attempt in 1 2 3 4 5 6 7 8; do
  : > "$folder/answer"
  result=$(printf 'Authorization: Bearer %s\n' "$key" |  # other users can read command lines, but no pipes
    curl -sS --max-time 30 -o "$folder/answer" -w '%{http_code} %header{retry-after}' -H @- \
      -H 'Content-Type: application/json' --data-binary @"$folder/body" "$address/v1/announcements" \
      2> "$folder/error") && status=${result%% *} || status=000  # 000: no whole answer
  wait=$pause pause=$((pause * 2))
  case "$status" in
    200 | 201) cat "$folder/answer"; exit 0 ;;  # 200: it came before, and is not announced twice
    429 | 5??)
      after=${result#* }
      case "$after" in "" | *[!0-9]* | ???????*) ;; *) wait=$after ;; esac ;;  # a proxy may send a date
    000) ;;  # it may have been accepted or not, and asking again is safe
    *) break ;;  # 409: another payment has this id; others: correct the request
  esac
  [ "$attempt" -lt 8 ] && [ $(($(date +%s) - started + wait)) -le 600 ] || break
  sleep "$wait"
done
echo "$1: not accepted, status $status: $(cat "$folder/answer" "$folder/error")" >&2
exit 1

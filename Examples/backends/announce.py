# SPDX-License-Identifier: Apache-2.0
import http.client, json, os, re, sys, time, urllib.error, urllib.request

class NotAccepted(Exception):
    """The service did not accept the payment; the text says why."""

class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None  # a redirect would become a GET, whose answer says nothing about the payment

opener = urllib.request.build_opener(NoRedirects)

def announce(payment):
    """Returns the report; the same payment may be sent any number of times."""
    address, key = os.environ.get("CRIER_URL", "").rstrip("/"), os.environ.get("CRIER_KEY", "").strip()
    if not re.match("https?://.", address) or not re.fullmatch("[!-~]+", key):
        raise NotAccepted("set CRIER_URL, with http:// or https://, and CRIER_KEY")
    body = json.dumps({**payment, "deliver": ["clip", "play"]}).encode()  # the same bytes at each attempt
    started = time.monotonic()
    for attempt in range(8):
        request = urllib.request.Request(address + "/v1/announcements", body, {
            "Authorization": "Bearer " + key, "Content-Type": "application/json"})
        wait = 2 ** attempt
        try:
            with opener.open(request, timeout=30) as answer:
                return json.load(answer)  # 201, or 200 if it came before
        except urllib.error.HTTPError as error:
            try:
                problem = f"{error.code} {error.read().decode(errors='replace')}"
            except (OSError, http.client.HTTPException):
                problem = str(error.code)
            if error.code < 500 and error.code != 429:  # 409: another payment has this id; others: correct the request
                raise NotAccepted(f"{payment['id']}: {problem}") from None
            after = error.headers.get("Retry-After", "")
            wait = int(after) if re.fullmatch("[0-9]{1,6}", after) else wait  # a proxy may send a date
        except (OSError, http.client.HTTPException, ValueError) as error:
            problem = f"no whole answer ({error})"  # it may have been accepted or not, and asking again is safe
        if attempt == 7 or time.monotonic() - started + wait > 600:
            raise NotAccepted(f"{payment['id']}: gave up after {attempt + 1} attempts: {problem}")
        time.sleep(wait)

if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: announce.py ID AMOUNT CURRENCY")
    try:
        report = announce({"id": sys.argv[1], "amount": sys.argv[2], "currency": sys.argv[3]})
    except NotAccepted as error:
        sys.exit(str(error))
    print(report["text"], report["clip"]["url"])

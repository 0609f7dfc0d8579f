// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.net.URI;
import java.net.http.*;
import java.time.Duration;

class Announce {
    // This client follows no redirects: one would become a GET, whose answer says nothing about the payment.
    static final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** The service did not accept the payment; the message says why. */
    static class NotAccepted extends Exception {
        NotAccepted(String message) { super(message); }
    }

    /** Returns the report as JSON; the same payment may be sent any number of times. */
    static String announce(String id, String body) throws NotAccepted, InterruptedException {
        String address = System.getenv().getOrDefault("CRIER_URL", "").replaceFirst("/+$", "");
        String key = System.getenv().getOrDefault("CRIER_KEY", "").strip();
        if (!address.matches("https?://.+") || !key.matches("[!-~]+"))
            throw new NotAccepted("set CRIER_URL, with http:// or https://, and CRIER_KEY");
        var request = HttpRequest.newBuilder(URI.create(address + "/v1/announcements"))
            .header("Authorization", "Bearer " + key)
            .header("Content-Type", "application/json").timeout(Duration.ofSeconds(30))
            .POST(HttpRequest.BodyPublishers.ofString(body)).build();  // the same bytes at each attempt
        long started = System.nanoTime();
        for (int attempt = 0; ; attempt++) {
            long wait = 1L << attempt;
            String problem;
            try {
                var answer = client.send(request, HttpResponse.BodyHandlers.ofString());
                int status = answer.statusCode();
                if (status == 200 || status == 201) return answer.body();  // 200: it came before
                problem = status + " " + answer.body();
                if (status < 500 && status != 429)  // 409: another payment has this id; others: correct the request
                    throw new NotAccepted(id + ": " + problem);
                String after = answer.headers().firstValue("Retry-After").orElse("");
                if (after.matches("[0-9]{1,6}")) wait = Long.parseLong(after);  // a proxy may send a date
            } catch (IOException error) {
                problem = "no whole answer (" + error + ")";  // it may have been accepted or not; asking again is safe
            }
            if (attempt == 7 || (System.nanoTime() - started) / 1_000_000_000 + wait > 600)
                throw new NotAccepted(id + ": gave up after " + (attempt + 1) + " attempts: " + problem);
            Thread.sleep(1000 * wait);
        }
    }

    /** Returns a text as a JSON string. A text with control characters is refused by the service. */
    static String quoted(String text) {
        return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    public static void main(String[] payment) throws InterruptedException {
        if (payment.length != 3) {
            System.err.println("usage: Announce ID AMOUNT CURRENCY");
            System.exit(1);
        }
        try {
            System.out.println(announce(payment[0], """
                {"id": %s, "amount": %s, "currency": %s, "deliver": ["clip", "play"]}
                """.formatted(quoted(payment[0]), quoted(payment[1]), quoted(payment[2]))));
        } catch (NotAccepted error) {
            System.err.println(error.getMessage());
            System.exit(1);
        }
    }
}

<?php
// SPDX-License-Identifier: Apache-2.0
declare(strict_types=1);

/** Returns the report; the same payment may be sent any number of times. */
function announce(array $payment): array
{
    [$address, $key] = [rtrim(getenv('CRIER_URL') ?: '', '/'), trim(getenv('CRIER_KEY') ?: '')];
    if (!preg_match('/^https?:\/\/./', $address) || !preg_match('/^[!-~]+$/D', $key)) {
        throw new RuntimeException('set CRIER_URL, with http:// or https://, and CRIER_KEY');
    }
    // The same bytes at each attempt.
    $body = json_encode($payment + ['deliver' => ['clip', 'play']], JSON_THROW_ON_ERROR);
    $context = stream_context_create(['http' => [
        'method' => 'POST', 'content' => $body, 'timeout' => 30, 'ignore_errors' => true, 'follow_location' => 0,
        'header' => ["Authorization: Bearer $key", 'Content-Type: application/json'],
    ]]);
    $started = hrtime(true);
    for ($attempt = 0; ; $attempt++) {
        $stream = @fopen("$address/v1/announcements", 'r', false, $context);
        $head = $stream ? implode("\n", stream_get_meta_data($stream)['wrapper_data'] ?? []) : '';
        $answer = $stream ? (string) stream_get_contents($stream) : '';
        $status = preg_match('/^HTTP\/\S+ (\d+)/', $head, $found) ? (int) $found[1] : 0;
        $report = json_decode($answer, true);
        if (in_array($status, [200, 201], true) && is_array($report)) {
            return $report;  // 200: it came before, and is not announced twice
        }
        if ($status >= 300 && $status < 500 && $status !== 429) {
            throw new RuntimeException("{$payment['id']}: $status $answer");  // 409: another payment has this id
        }
        // With neither a status nor a whole answer, it may have been accepted or not, and asking again is safe.
        $problem = $status >= 300 ? "$status $answer" : 'no whole answer';
        $after = '/^Retry-After: *(\d{1,6})\s*$/mi';  // a proxy may send a date
        $wait = $status >= 300 && preg_match($after, $head, $found) ? (int) $found[1] : 2 ** $attempt;
        if ($attempt === 7 || (hrtime(true) - $started) / 1e9 + $wait > 600) {
            throw new RuntimeException("{$payment['id']}: gave up after " . ($attempt + 1) . " attempts: $problem");
        }
        sleep($wait);
    }
}

if (PHP_SAPI === 'cli' && realpath($argv[0]) === __FILE__) {
    if ($argc !== 4) {
        fwrite(STDERR, "usage: announce.php ID AMOUNT CURRENCY\n");
        exit(1);
    }
    try {
        $report = announce(['id' => $argv[1], 'amount' => $argv[2], 'currency' => $argv[3]]);
    } catch (RuntimeException $error) {
        fwrite(STDERR, $error->getMessage() . "\n");
        exit(1);
    }
    echo $report['text'], ' ', $report['clip']['url'], "\n";
}

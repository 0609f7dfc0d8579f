<?php
// SPDX-License-Identifier: Apache-2.0
// Under a web server, this file receives messages. On the command line (php receive.php), it works on them until it is
// ended, so let systemd or a supervisor run it. Both need CRIER_INBOX: a folder outside the web server's folders.
declare(strict_types=1);

/** What your shop does with a message. It may get one again if the program ended during the work. */
function work(array $message): void
{
    echo $message['type'], ' ', $message['data']['id'] ?? '-', "\n";
}

const REMEMBERED = 4 * 86_400;  // seconds

/** Returns the HMAC's keys: of two secrets with a space between them, while one replaces the other. */
function keys(): array
{
    $secrets = preg_split('/ +/', trim((string) getenv('CRIER_WEBHOOK_SECRET')));
    return array_map(fn ($secret) => preg_match('/^whsec_([A-Za-z0-9+\/]{32,}={0,2})$/D', $secret, $found)
        ? base64_decode($found[1])
        : stop(503, 'CRIER_WEBHOOK_SECRET: give the secret of the endpoint, which begins with whsec_'), $secrets);
}

/** Ends this request. */
function stop(int $status, string $text = ''): never
{
    http_response_code($status);
    header('Content-Type: text/plain');
    if ($status >= 500) {
        error_log($text);
    }
    exit($text);
}

/** Returns what is wrong with a message, or null. */
function fault(string $id, string $sent, string $signatures, string $body, int $now): ?string
{
    if ($id === '' || $sent === '' || $signatures === '') {
        return 'a header is missing: webhook-id, webhook-timestamp, webhook-signature';
    }
    if (!preg_match('/^[0-9]{1,12}$/D', $sent)) {
        return 'webhook-timestamp is not a number of seconds';
    }
    if (abs($now - (int) $sent) > 300) {
        return 'webhook-timestamp differs from this clock by more than five minutes';
    }
    $fits = false;
    foreach (keys() as $key) {
        $code = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$sent.$body", $key, true));
        foreach (explode(' ', $signatures) as $one) {
            $fits = hash_equals($code, $one) || $fits;
        }
    }
    return $fits ? null : 'no signature fits: the secret is another one, or the body was changed';
}

/** Runs a step while no other process looks for a message or moves one. */
function locked(string $inbox, callable $step): mixed
{
    $lock = fopen("$inbox/lock", 'c');
    if (!$lock || !flock($lock, LOCK_EX)) {
        throw new RuntimeException("$inbox/lock: cannot be locked");
    }
    return $step();  // the lock ends with its file
}

/** Stores a message that is not known yet. */
function keep(string $inbox, string $id, string $body): void
{
    $name = hash('sha256', $id);
    $file = fopen("$inbox/new/$name." . bin2hex(random_bytes(8)), 'x');
    $path = $file ? stream_get_meta_data($file)['uri'] : '';
    if (!$file || fwrite($file, $body) !== strlen($body) || !fsync($file)) {
        throw new RuntimeException("$inbox: cannot be written");
    }
    locked($inbox, function () use ($inbox, $name, $path) {
        $done = @filemtime("$inbox/done/$name");
        if (file_exists("$inbox/todo/$name") || ($done !== false && $done >= time() - REMEMBERED)) {
            unlink($path);
        } elseif (!rename($path, "$inbox/todo/$name")) {
            throw new RuntimeException("$inbox/todo: cannot be written");
        }
    });
    fsync($file);  // and with the file, its new name
}

/** Works on the stored messages, also on those that were left when the program ended. */
function work_on_messages(string $inbox): void
{
    $names = glob("$inbox/todo/*");
    usort($names, fn ($one, $other) => filemtime($one) <=> filemtime($other));
    foreach ($names as $path) {
        try {
            work(json_decode((string) file_get_contents($path), true, 64, JSON_THROW_ON_ERROR));
            locked($inbox, fn () => rename($path, "$inbox/done/" . basename($path)));
        } catch (Throwable $error) {  // the message is tried again
            error_log(basename($path) . ': ' . $error->getMessage());
        }
    }
}

/** Forgets messages after four days. */
function forget(string $inbox): void
{
    foreach ([...glob("$inbox/done/*"), ...glob("$inbox/new/*")] as $path) {
        if (filemtime($path) < time() - REMEMBERED) {
            unlink($path);
        }
    }
}

$inbox = (string) getenv('CRIER_INBOX');
foreach ([$inbox, "$inbox/new", "$inbox/todo", "$inbox/done"] as $folder) {
    if ($inbox === '' || (!is_dir($folder) && !@mkdir($folder, 0700) && !is_dir($folder))) {
        stop(503, 'CRIER_INBOX: give a folder that can be written');
    }
}
if (PHP_SAPI === 'cli') {
    for ($round = 0; ; $round++) {
        if ($round % 3600 === 0) {
            forget($inbox);
        }
        work_on_messages($inbox);
        clearstatcache();
        sleep(1);
    }
}
if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
    stop(405, 'send a POST');
}
$body = (string) file_get_contents('php://input', false, null, 0, 100_000);  // the bytes as they came
if (strlen($body) === 100_000) {
    stop(413, 'the body has more than 99,999 bytes');
}
[$id, $sent, $signatures] = array_map(
    fn ($name) => $_SERVER["HTTP_WEBHOOK_$name"] ?? '', ['ID', 'TIMESTAMP', 'SIGNATURE']);
$wrong = fault($id, $sent, $signatures, $body, time());
if ($wrong !== null) {
    stop(400, $wrong);
}
try {
    keep($inbox, $id, $body);
} catch (RuntimeException $error) {
    stop(503, 'the message cannot be stored: ' . $error->getMessage());  // Crier sends it again
}
http_response_code(204);

<?php
// One curl handle for all steps.
$curl = curl_init();
foreach (array_slice($argv, 1) as $step) {
    [$method, $url, $key, $expect] = explode(' ', $step);
    if ($method === 'WAIT') {
        sleep((int) $url);
        continue;
    }
    $headers = ['Authorization: Bearer ' . getenv('TOKEN'), 'Content-Type: application/json'];
    if ($key !== '-') $headers[] = "Idempotency-Key: $key";
    if ($expect !== '-') $headers[] = 'Expect: 100-continue';
    curl_reset($curl);
    curl_setopt_array($curl, [
        CURLOPT_URL => $url,
        CURLOPT_CUSTOMREQUEST => $method,
        CURLOPT_HTTPHEADER => $headers,
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_FRESH_CONNECT => getenv('SWITCH') === 'on',
    ]);
    if ($method === 'POST' || $method === 'PATCH') curl_setopt($curl, CURLOPT_POSTFIELDS, getenv('BODY'));
    $body = curl_exec($curl);
    if ($body === false) echo 'error curl ' . curl_errno($curl) . "\n";
    else echo curl_getinfo($curl, CURLINFO_RESPONSE_CODE) . ' ' . strlen($body) . "\n";
}

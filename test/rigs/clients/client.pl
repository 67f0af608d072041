use strict;
use warnings;
use LWP::UserAgent;

# One agent for all steps, with one connection that stays open.
$| = 1;
my $agent = LWP::UserAgent->new(keep_alive => 1);
for my $step (@ARGV) {
    my ($method, $url, $key, $expect) = split / /, $step;
    if ($method eq 'WAIT') {
        sleep $url;
        next;
    }
    my $request = HTTP::Request->new($method, $url);
    $request->header('Authorization' => "Bearer $ENV{TOKEN}", 'Content-Type' => 'application/json');
    $request->header('Idempotency-Key' => $key) if $key ne '-';
    $request->header('Expect' => '100-continue') if $expect ne '-';
    $request->content($ENV{BODY}) if $method eq 'POST' || $method eq 'PATCH';
    my $response = $agent->request($request);
    my $own = ($response->header('Client-Warning') // '') eq 'Internal response' ? ' own' : '';
    my $short = $response->header('X-Died') ? ' died' : '';
    print $response->code, ' ', length($response->content), $own, $short, "\n";
}

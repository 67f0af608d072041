# Varnish before one server of Scrip: varnishd -f /etc/varnish/default.vcl -a :8080
# It caches nothing, and sends no write twice: by default it would send a DELETE, or a POST without a body, again.
vcl 4.1;

backend default {
  .host = "127.0.0.1";
  .port = "4747";
  .first_byte_timeout = 60s;
}

sub vcl_recv {
  if (req.method != "GET" && req.method != "HEAD") {
    return (pipe);
  }
  return (pass);
}

sub vcl_pipe {
  # The next request on the connection is looked at again.
  set bereq.http.Connection = "close";
}

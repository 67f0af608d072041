require 'net/http'

# One connection for each host and port, which stays open.
connections = Hash.new do |opened, uri|
  connection = Net::HTTP.new(*uri)
  connection.max_retries = 0 if ENV['SWITCH'] == 'on'
  # The default, 2 s, would open a new one after a pause.
  connection.keep_alive_timeout = 300
  opened[uri] = connection.start
end

$stdout.sync = true
ARGV.each do |step|
  method, url, key, expect = step.split
  if method == 'WAIT'
    sleep url.to_i
    next
  end
  uri = URI(url)
  request = Net::HTTP.const_get(method.capitalize).new(uri)
  request['Authorization'] = "Bearer #{ENV['TOKEN']}"
  request['Content-Type'] = 'application/json'
  request['Idempotency-Key'] = key if key != '-'
  request['Expect'] = '100-continue' if expect != '-'
  request.body = ENV['BODY'] if %w[POST PATCH].include?(method)
  begin
    response = connections[[uri.host, uri.port]].request(request)
    puts "#{response.code} #{response.body.to_s.length}"
  rescue StandardError => e
    puts "error #{e.class}: #{e.message}"
  end
end

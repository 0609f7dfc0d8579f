-- SPDX-License-Identifier: Apache-2.0
-- A script for wrk with one thread: sends each request of a file once, and stops after the last. Each request follows a
-- line with its length in bytes. Argument: the file.
local thread

function setup(started) thread = started end

function init(arguments)
  requests, index, accepted, refused = {}, 0, 0, 0
  local file = assert(io.open(arguments[1], "rb"))
  for length in file:lines() do
    table.insert(requests, file:read(tonumber(length)))
  end
  file:close()
end

function request()
  index = index + 1
  if index > #requests then
    wrk.thread:stop()
    index = #requests
  end
  return requests[index]
end

function response(status)
  if status == 200 or status == 204 then accepted = accepted + 1 else refused = refused + 1 end
end

function done(summary)
  io.write(string.format("\nACCEPTED %d REFUSED %d SECONDS %.3f\n", thread:get("accepted"), thread:get("refused"),
    summary.duration / 1e6))
end

-- SPDX-License-Identifier: Apache-2.0
-- The requests of wrk: a mix of cached and new clips and hostile texts. Arguments: the key, the name of a clip, a file with
-- a body whose clip is cached, a file of hostile bodies (one on each line, with the id @), and a number unique to the run.
local counts = {}
local threads = {}

function setup(thread)
  thread:set("number", #threads)
  table.insert(threads, thread)
end

function init(arguments)
  local read = function(path)
    local file = assert(io.open(path, "rb"))
    local text = file:read("*a")
    file:close()
    return text
  end
  key, clip, run = arguments[1], arguments[2], arguments[5]
  local headers = { ["Authorization"] = "Bearer " .. key }
  local json = { ["Authorization"] = "Bearer " .. key, ["Content-Type"] = "application/json" }
  get = wrk.format("GET", "/v1/clips/" .. clip, headers)
  hit = wrk.format("POST", "/v1/announcements", json, read(arguments[3]))
  post = function(body) return wrk.format("POST", "/v1/announcements", json, body) end
  hostile = {}
  for line in read(arguments[4]):gmatch("[^\n]+") do table.insert(hostile, line) end
  math.randomseed(tonumber(run) * 100 + number)
  sent = 0
  statuses = ""
  counts = {}
end

function request()
  sent = sent + 1
  local chance = math.random(100)
  if chance <= 60 then return get end
  if chance <= 85 then return hit end
  local id = "wrk-" .. run .. "-" .. number .. "-" .. sent
  if chance <= 95 then
    return post(string.format('{"id":"%s","minor":%d,"currency":"USD","locale":"en-US","method":"speech"}', id, math.random(1, 9999999)))
  end
  return post((hostile[math.random(#hostile)]:gsub("@", id, 1)))
end

function response(status)
  counts[status] = (counts[status] or 0) + 1
  -- At the end, only text and numbers can be read from a thread. The text is only updated at intervals, to save time.
  seen = (seen or 0) + 1
  if seen % 50 == 0 or status >= 500 then
    statuses = ""
    for code, count in pairs(counts) do statuses = statuses .. code .. " " .. count .. "," end
  end
end

function done(summary, latency)
  local total = {}
  for _, thread in ipairs(threads) do
    for code, count in (thread:get("statuses") or ""):gmatch("(%d+) (%d+),") do
      total[code] = (total[code] or 0) + tonumber(count)
    end
  end
  local parts = {}
  for code, count in pairs(total) do table.insert(parts, string.format('"%s": %d', code, count)) end
  local errors = summary.errors
  io.write(string.format(
    '\nRESULT {"requests": %d, "seconds": %.1f, "connect": %d, "read": %d, "write": %d, "timeout": %d, "p99_ms": %.2f, "statuses": {%s}}\n',
    summary.requests, summary.duration / 1e6, errors.connect, errors.read, errors.write, errors.timeout,
    latency:percentile(99) / 1000, table.concat(parts, ", ")))
end

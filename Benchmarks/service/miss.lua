-- SPDX-License-Identifier: Apache-2.0
-- A script for wrk with one thread: alternating payments in five locales, as in crier-bench, all different.
-- Arguments: the key, and the number of the first payment.
local payments = { { "zh-CN", "CNY", "alipay" }, { "en-US", "USD", "card" }, { "hi-IN", "INR", "upi" },
  { "ko-KR", "KRW", "kakaopay" }, { "ja-JP", "JPY", "paypay" } }

function init(arguments)
  headers = { ["Authorization"] = "Bearer " .. arguments[1], ["Content-Type"] = "application/json" }
  index = tonumber(arguments[2])
  made, refused = 0, 0
end

function request()
  local which = payments[index % 5 + 1]
  local body = string.format(
    '{"id":"miss-%d","minor":%d,"currency":"%s","channel":"%s","locale":"%s","method":"speech"}',
    index, 1 + (index * 7919) % 99991, which[2], which[3], which[1])
  index = index + 1
  return wrk.format("POST", "/v1/announcements", headers, body)
end

function response(status)
  if status == 201 then made = made + 1 else refused = refused + 1 end
end

local threads = {}
function setup(thread) table.insert(threads, thread) end

function done(summary)
  io.write(string.format("\nMADE %d REFUSED %d SECONDS %.3f\n", threads[1]:get("made"), threads[1]:get("refused"),
    summary.duration / 1e6))
end

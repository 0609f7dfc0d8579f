-- SPDX-License-Identifier: Apache-2.0
-- A script for wrk that repeats the same POST. Arguments: the key, and a file with the body.
function init(arguments)
  local file = assert(io.open(arguments[2], "rb"))
  local body = file:read("*a")
  file:close()
  same = wrk.format("POST", "/v1/announcements",
    { ["Authorization"] = "Bearer " .. arguments[1], ["Content-Type"] = "application/json" }, body)
end

function request() return same end

-- The count of what is selected, for the status line.
local server = require("compat_bpe.server")

local M = {}

local now ---@type { buffer: integer, count?: integer }?

---The selection by characters or lines; nil if there is none.
---@param client table
local function selected(client)
  local mode = vim.fn.mode()
  if mode ~= "v" and mode ~= "V" then
    return nil
  end
  local from, to = vim.fn.getpos("v"), vim.fn.getpos(".")
  if from[2] > to[2] or (from[2] == to[2] and from[3] > to[3]) then
    from, to = to, from
  end
  if mode == "V" then
    return {
      start = { line = from[2] - 1, character = 0 },
      ["end"] = { line = to[2], character = 0 },
    }
  end
  local first, last = { from[2], from[3] - 1 }, { to[2], to[3] - 1 }
  return vim.lsp.util.make_given_range_params(first, last, 0, client.offset_encoding).range
end

---Count what is selected now.
function M.renew()
  local client = server.client()
  local range = client and selected(client)
  if not range then
    if now then
      now = nil
      vim.cmd("redrawstatus")
    end
    return
  end
  local buffer = vim.api.nvim_get_current_buf()
  local mine = { buffer = buffer }
  now = mine -- the count of the selection before is gone
  local params = { textDocument = server.document(buffer), range = range }
  server.request("compatBpe/count", params, function(_, result)
    if result and now == mine then
      mine.count = result.count
      vim.cmd("redrawstatus")
    end
  end)
end

---The count of what is selected in a buffer; nil if nothing is, or it is not known yet.
---@param buffer integer
---@return integer?
function M.of(buffer)
  return now and now.buffer == buffer and now.count or nil
end

return M

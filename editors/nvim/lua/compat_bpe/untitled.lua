-- Buffers without a name: Neovim's client gives all of them one URI, so they are sent by this.
local version = require("compat_bpe.version")

local M = {}

local SCHEME = "untitled:Untitled-"
--- The milliseconds that changes are collected for.
local PAUSE = 50

---@class compat_bpe.Untitled
---@field client table
---@field version integer
---@field is_due boolean

local opened = {} ---@type table<integer, compat_bpe.Untitled>

---@param buffer integer
function M.uri(buffer)
  return SCHEME .. buffer
end

---The buffer of a URI; nil if it is that of a file.
---@param uri string
---@return integer?
function M.buffer(uri)
  return vim.startswith(uri, SCHEME) and tonumber(uri:sub(#SCHEME + 1)) or nil
end

---@param buffer integer
function M.is_open(buffer)
  return opened[buffer] ~= nil
end

local function text_of(buffer)
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  local text = table.concat(lines, "\n")
  return text == "" and #lines == 1 and "" or text .. "\n"
end

---Send the text of a buffer, if it has changed.
---@param buffer integer
function M.flush(buffer)
  local one = opened[buffer]
  if not one or not one.is_due or not vim.api.nvim_buf_is_loaded(buffer) then
    return
  end
  one.is_due = false
  version.call(one.client, "notify", "textDocument/didChange", {
    textDocument = { uri = M.uri(buffer), version = one.version },
    contentChanges = { { text = text_of(buffer) } },
  })
end

---@param buffer integer
---@param client table
function M.open(buffer, client)
  if opened[buffer] and opened[buffer].client == client then
    return
  end
  local one = { client = client, version = vim.api.nvim_buf_get_changedtick(buffer), is_due = false }
  opened[buffer] = one
  version.call(client, "notify", "textDocument/didOpen", {
    textDocument = {
      uri = M.uri(buffer),
      languageId = vim.bo[buffer].filetype,
      version = one.version,
      text = text_of(buffer),
    },
  })
  local function changed(_, _, tick)
    if opened[buffer] ~= one then
      return true -- detaches
    end
    one.version = tick or one.version + 1
    if not one.is_due then
      one.is_due = true
      vim.defer_fn(function() M.flush(buffer) end, PAUSE)
    end
  end
  vim.api.nvim_buf_attach(buffer, false, {
    on_lines = changed,
    on_reload = changed,
    on_detach = vim.schedule_wrap(function() M.close(buffer, one) end),
  })
end

---@param buffer integer
---@param one? compat_bpe.Untitled
function M.close(buffer, one)
  local now = opened[buffer]
  if not now or (one and one ~= now) then
    return
  end
  opened[buffer] = nil
  version.call(now.client, "notify", "textDocument/didClose", {
    textDocument = { uri = M.uri(buffer) },
  })
end

---The version of the text of a buffer; nil if it is not sent by this.
---@param buffer integer
---@return integer?
function M.version(buffer)
  return opened[buffer] and opened[buffer].version
end

---Forget all buffers: the server is gone.
function M.forget()
  opened = {}
end

return M

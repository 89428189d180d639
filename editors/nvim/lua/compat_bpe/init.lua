-- Exact counts of tokens, and prompts that fit, by the language server `compat-bpe lsp`.
local counts = require("compat_bpe.counts")
local options = require("compat_bpe.options")
local prompt = require("compat_bpe.prompt")
local selection = require("compat_bpe.selection")
local server = require("compat_bpe.server")

local M = {}

local is_on = false

---Count all files that are edited, from now on; `plugin/compat_bpe.lua` calls it.
function M.enable()
  if is_on then
    return
  end
  is_on = true
  require("compat_bpe.commands").create()
  vim.lsp.commands["compatBpe.copyAsPrompt"] = prompt.of_action
  local group = vim.api.nvim_create_augroup("compat_bpe", {})
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufEnter", "BufFilePost" }, {
    group = group,
    -- scheduled: the type of the file is known then
    callback = vim.schedule_wrap(function(event) server.attach(event.buf) end),
  })
  vim.api.nvim_create_autocmd("BufFilePre", {
    group = group,
    callback = function(event) server.detach(event.buf) end,
  })
  vim.api.nvim_create_autocmd({ "ModeChanged", "CursorMoved" }, {
    group = group,
    callback = selection.renew,
  })
  server.attach(vim.api.nvim_get_current_buf())
end

---Set options, and count all files that are edited.
---@param given? compat_bpe.Options
function M.setup(given)
  options.set(given)
  if server.client() then
    server.restart()
  end
  vim.schedule(M.enable) -- so that the start takes no longer
end

---The count of a buffer, and of what is selected in it, for the status line:
---%{%v:lua.require'compat_bpe'.status()%}
---@param buffer? integer
---@return string
function M.status(buffer)
  buffer = type(buffer) == "number" and buffer or vim.api.nvim_get_current_buf()
  local text, selected = counts.text(buffer, server.version(buffer)), selection.of(buffer)
  return selected and text ~= "" and ("%d of %s"):format(selected, text) or text
end

---Ask the server; callback(error, result). Returns the number of the request.
M.request = server.request

---Make a prompt around the cursor: callback(error, prompt).
M.prompt = prompt.at_cursor

---Start the server anew, and count all buffers.
M.restart = server.restart

return M

-- Prompts: around the cursor, and of a selection.
local options = require("compat_bpe.options")
local server = require("compat_bpe.server")

local M = {}

---@class compat_bpe.Prompt
---@field text string the whole prompt
---@field prefix string
---@field suffix string
---@field ids integer[]
---@field count integer
---@field prefixWasCut boolean
---@field suffixWasCut boolean

---Make a prompt around the cursor.
---@param limit? integer
---@param callback fun(failure?: string, prompt?: compat_bpe.Prompt)
---@return integer?
function M.at_cursor(limit, callback)
  local client = server.client()
  local params = vim.lsp.util.make_position_params(0, client and client.offset_encoding or "utf-16")
  params.textDocument = server.document(vim.api.nvim_get_current_buf())
  params.limit, params.template = limit or options.now.limit, options.now.template
  return server.request("compatBpe/fitPrompt", params, callback)
end

---Copy a prompt, or say why there is none.
---@param failure? string
---@param prompt? { text: string, count: integer }
function M.copy(failure, prompt)
  if failure or not prompt then
    return server.warn(failure or "there is no prompt")
  end
  vim.fn.setreg('"', prompt.text)
  if vim.fn.has("clipboard") == 1 then
    vim.fn.setreg("+", prompt.text)
  end
  server.say(("copied a prompt of %d tokens"):format(prompt.count))
end

---Carry out the action "Copy as prompt".
---@param command { command: string, arguments: any[] }
function M.of_action(command)
  local params = { command = command.command, arguments = command.arguments }
  server.request("workspace/executeCommand", params, M.copy)
end

return M

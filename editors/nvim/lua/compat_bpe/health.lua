-- :checkhealth compat_bpe
local command = require("compat_bpe.command")
local options = require("compat_bpe.options")
local server = require("compat_bpe.server")

local M = {}

-- Before 0.10 the functions have longer names.
local health = vim.health and vim.health.ok and vim.health
if not health then
  local old = require("health")
  health = {
    start = old.report_start,
    ok = old.report_ok,
    warn = old.report_warn,
    error = old.report_error,
    info = old.report_info,
  }
end

local function check_command()
  local cmd, reason = command.find()
  if not cmd then
    return health.error(reason)
  end
  health.ok("the server is started by: " .. table.concat(cmd, " "))
end

local function check_server()
  local client = server.client()
  if not client then
    return health.warn("the server is not running", { ":TokenRestart starts it" })
  end
  local buffers = #vim.tbl_filter(function(buffer)
    return require("compat_bpe.counts").of(buffer) ~= nil
  end, vim.api.nvim_list_bufs())
  health.ok(("the server is running: compat-bpe %s, %d %s counted"):format(
    server.version_of_server, buffers, buffers == 1 and "buffer" or "buffers"))
end

function M.check()
  health.start("compat_bpe")
  if vim.fn.has("nvim-0.7") == 1 then
    health.ok("Neovim is 0.7 or newer")
  else
    health.error("Neovim 0.7 or newer is needed")
  end
  check_command()
  check_server()
  health.info("settings: " .. vim.fn.json_encode(options.settings()))
  if vim.fn.has("clipboard") == 0 then
    health.warn("there is no clipboard: prompts are copied into the unnamed register only")
  end
end

return M

-- The commands: :TokenCount, :TokenInfo, :TokenModel, :TokenPrompt, :TokenRestart, :TokenShow.
local counts = require("compat_bpe.counts")
local options = require("compat_bpe.options")
local prompt = require("compat_bpe.prompt")
local server = require("compat_bpe.server")
local tokens = require("compat_bpe.tokens")
local version = require("compat_bpe.version")

local M = {}

local function lines(first, last)
  return first == last and ("line %d"):format(first) or ("lines %d to %d"):format(first, last)
end

---The range that was selected by characters, if a command got just these lines.
local function selected(client, line1, line2)
  local from, to = vim.api.nvim_buf_get_mark(0, "<"), vim.api.nvim_buf_get_mark(0, ">")
  if vim.fn.visualmode() ~= "v" or from[1] ~= line1 or to[1] ~= line2 then
    return nil
  end
  return vim.lsp.util.make_given_range_params(from, to, 0, client.offset_encoding).range
end

local function count(given)
  local client = server.client()
  local params = { textDocument = server.document(vim.api.nvim_get_current_buf()) }
  local what = "the buffer"
  if client and given.range > 0 then
    params.range = selected(client, given.line1, given.line2)
    what = params.range and "the selection" or lines(given.line1, given.line2)
    params.range = params.range or {
      start = { line = given.line1 - 1, character = 0 },
      ["end"] = { line = given.line2, character = 0 },
    }
  end
  server.request("compatBpe/count", params, function(failure, result)
    if failure then
      return server.warn(failure)
    end
    server.say(("%s in %s"):format(counts.words({ count = result.count }), what))
  end)
end

local function info()
  local client = server.client()
  local told = counts.of(vim.api.nvim_get_current_buf())
  local cmd = client and client.config.cmd
  local facts = {
    client and ("server: compat-bpe %s, started by %s"):format(server.version_of_server, table.concat(cmd, " "))
      or "compat-bpe: the server is not running; :TokenRestart starts it",
    told and ("this buffer: %s by %s"):format(counts.words({ count = told.count }), told.encoding)
      or "this buffer: no count",
    "settings: " .. vim.fn.json_encode(options.settings()),
  }
  vim.api.nvim_echo({ { table.concat(facts, "\n") } }, true, {})
end

local names ---@type { models: table[], encodings: string[] }?

---The names that the server knows.
local function known()
  local client = server.client()
  if not names and client then
    local answer = version.call(client, "request_sync", "compatBpe/names", vim.empty_dict(), 2000,
      vim.api.nvim_get_current_buf())
    names = answer and answer.result
  end
  return names or { models = {}, encodings = {} }
end

local function complete(lead)
  local all = {}
  for _, one in ipairs(known().models) do
    if one.encoding or one.note then -- others need a file, or a service
      table.insert(all, one.name)
    end
  end
  vim.list_extend(all, known().encodings)
  return vim.tbl_filter(function(name) return vim.startswith(name, lead) end, all)
end

local function model(given)
  local settings = vim.deepcopy(options.now.settings)
  local name = given.args
  if name == "" then
    local now = settings.model or settings.encoding or settings.path or "o200k_base"
    return server.say(("counting by %s"):format(now))
  end
  local kind = vim.tbl_contains(known().encodings, name) and "encoding" or "model"
  -- Checked first: settings that are wrong would be told, and not be used.
  server.request("compatBpe/fits", { text = "", limit = 0, [kind] = name }, function(failure)
    if failure then
      return server.warn(failure)
    end
    settings.model, settings.encoding, settings.path = nil, nil, nil
    settings[kind] = name
    options.now.settings = settings
    server.configure()
    server.say(("counting by %s"):format(name))
  end)
end

---Make the commands.
function M.create()
  local create = vim.api.nvim_create_user_command
  create("TokenCount", count, { range = true, desc = "Count the tokens of the buffer or a range" })
  create("TokenInfo", info, { desc = "Show the server, the settings and the count" })
  create("TokenModel", model, {
    nargs = "?",
    complete = complete,
    desc = "Choose the model or encoding to count by",
  })
  create("TokenPrompt", function(given)
    local limit = tonumber(given.args)
    if given.args ~= "" and not limit then
      return server.warn(":TokenPrompt needs a number of tokens")
    end
    prompt.at_cursor(limit, prompt.copy)
  end, { nargs = "?", desc = "Copy a prompt around the cursor" })
  create("TokenRestart", server.restart, { desc = "Restart the server" })
  create("TokenShow", tokens.show, { desc = "Show the tokens of the buffer" })
end

return M

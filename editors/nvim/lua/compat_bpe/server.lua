-- The server: one for all buffers, started when the first one needs it, and again if it ends.
local command = require("compat_bpe.command")
local counts = require("compat_bpe.counts")
local marks = require("compat_bpe.marks")
local options = require("compat_bpe.options")
local untitled = require("compat_bpe.untitled")
local version = require("compat_bpe.version")

local M = {}

M.version_of_server = ""

local NAME = "compat-bpe"
--- The milliseconds that a server must have run for to be started again by itself.
local SHORT = 10000

local id ---@type integer? the client
local started = 0 -- when it was
local is_ready = false -- for what Neovim does not send by itself
local is_wanted = true -- false after an end: an edit or :TokenRestart starts it again
local restarts = false -- it is being stopped to be started again

---Tell the user something in one line.
---@param message string
function M.say(message)
  vim.notify("compat-bpe: " .. message)
end

---Tell the user why something is not done; as an error it would end what calls a command.
---@param message string
function M.warn(message)
  vim.notify("compat-bpe: " .. message, vim.log.levels.WARN)
end

---@return table? the client of a server that runs
function M.client()
  return id and vim.lsp.get_client_by_id(id)
end

---True if a buffer is one that a user edits.
local function is_edited(buffer)
  return vim.api.nvim_buf_is_loaded(buffer)
    and vim.bo[buffer].buftype == ""
    and (vim.bo[buffer].buflisted or vim.api.nvim_buf_get_name(buffer) ~= "")
end

local function send(buffer)
  if vim.api.nvim_buf_get_name(buffer) ~= "" then
    untitled.close(buffer)
    vim.lsp.buf_attach_client(buffer, id)
  elseif is_ready then
    untitled.open(buffer, M.client())
  end
end

---Have a buffer counted, if it is one that a user edits.
---@param buffer integer
function M.attach(buffer)
  if is_edited(buffer) and M.start() then
    send(buffer)
  end
end

local function attach_all()
  vim.tbl_map(M.attach, vim.api.nvim_list_bufs())
end

---No longer have a buffer counted under its name, which changes.
---@param buffer integer
function M.detach(buffer)
  local client = M.client()
  if client and vim.lsp.buf_is_attached(buffer, id) then
    vim.lsp.buf_detach_client(buffer, id)
    counts.set(buffer, nil)
  end
end

---Start the server again when the user goes on, but not all the time.
local function start_at_the_next_edit()
  local group = vim.api.nvim_create_augroup("compat_bpe_down", {})
  vim.api.nvim_create_autocmd({ "TextChanged", "TextChangedI" }, {
    group = group,
    callback = function()
      if version.uv.now() - started > SHORT then
        M.restart()
      end
    end,
  })
end

local function ended(status, signal)
  local has_run_long = version.uv.now() - started > SHORT
  id, is_ready = nil, false
  counts.clear()
  marks.clear()
  untitled.forget()
  if vim.v.exiting ~= vim.NIL then
    return
  end
  is_wanted = restarts or has_run_long
  restarts = false
  if is_wanted then
    attach_all()
  else
    local how = signal ~= 0 and ("signal " .. signal) or ("exit status " .. status)
    M.warn(("the server ended (%s); use :TokenRestart"):format(how))
    start_at_the_next_edit()
  end
end

local handlers = {
  ["compatBpe/didCount"] = function(_, told)
    local buffer = untitled.buffer(told.uri) or vim.uri_to_bufnr(told.uri)
    if vim.api.nvim_buf_is_loaded(buffer) then
      counts.set(buffer, told)
      marks.show(buffer, told, M.client().offset_encoding)
    end
  end,
  ["window/showMessage"] = function(_, told)
    local tell = told.type <= 2 and M.warn or M.say
    tell((told.message:gsub("^compat%-bpe: ", "")))
  end,
  ["textDocument/publishDiagnostics"] = function(failure, result, context, config)
    if not untitled.buffer(result.uri) then -- else a buffer of that name would be made
      vim.lsp.handlers["textDocument/publishDiagnostics"](failure, result, context, config)
    end
  end,
}

local function capabilities()
  local all = vim.lsp.protocol.make_client_capabilities()
  all.experimental = { commands = { commands = { "compatBpe.copyAsPrompt" } } }
  return all
end

---Start the server, unless it runs or has failed.
---@return integer?
function M.start()
  if M.client() or not is_wanted then
    return M.client() and id
  end
  local cmd, reason = command.find()
  is_wanted = false
  if not cmd then
    M.warn(reason --[[@as string]])
    return nil
  end
  started = version.uv.now()
  id = version.start_client({
    name = NAME,
    cmd = cmd,
    cmd_cwd = command.folder,
    init_options = options.settings(),
    capabilities = capabilities(),
    root_dir = vim.fn.getcwd(),
    handlers = handlers,
    on_init = function(_, answer)
      is_ready = true
      M.version_of_server = (answer.serverInfo or {}).version or ""
      vim.schedule(attach_all)
    end,
    on_exit = vim.schedule_wrap(function(status, signal, gone)
      if gone == id then
        ended(status, signal)
      end
    end),
  })
  is_wanted = id ~= nil
  return id
end

---Start the server anew, and have all buffers counted.
function M.restart()
  vim.api.nvim_create_augroup("compat_bpe_down", {})
  is_wanted = true
  local client = M.client()
  if client then
    restarts = true
    version.call(client, "stop", true)
  else
    attach_all()
  end
end

---Change the settings of the server that runs.
function M.configure()
  local client = M.client()
  if client then
    version.call(client, "notify", "workspace/didChangeConfiguration", {
      settings = { compatBpe = options.settings() },
    })
  end
end

---Ask the server; callback(error, result). Returns the number of the request.
---@param method string
---@param params table
---@param callback fun(failure?: string, result?: any)
---@return integer?
function M.request(method, params, callback)
  local client, buffer = M.client(), vim.api.nvim_get_current_buf()
  if not client then
    callback("the server is not running; :TokenRestart starts it")
    return nil
  end
  untitled.flush(buffer)
  local _, number = version.call(client, "request", method, params, function(failure, result)
    callback(failure and failure.message, result)
  end, buffer)
  return number
end

---The document of a buffer, as requests name it.
---@param buffer integer
function M.document(buffer)
  local uri = untitled.is_open(buffer) and untitled.uri(buffer) or vim.uri_from_bufnr(buffer)
  return { uri = uri }
end

---The version of a buffer's text, to compare with that of a count.
---@param buffer integer
function M.version(buffer)
  return untitled.version(buffer) or version.sent_version(buffer)
end

return M

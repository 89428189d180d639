-- Exact counts of tokens, and prompts that fit, by the language server `compat-bpe lsp`.
local M = {}

local options = { cmd = { "compat-bpe", "lsp" }, settings = vim.empty_dict(), limit = 2000 }
local counts = {} -- by buffer
local client_id

local function start()
  if client_id and vim.lsp.get_client_by_id(client_id) then
    return
  end
  client_id = vim.lsp.start_client({
    name = "compat-bpe",
    cmd = options.cmd,
    -- Not in the current folder: Windows looks for programs there first, and Python for modules.
    cmd_cwd = vim.loop.os_homedir(),
    init_options = options.settings,
    settings = { compatBpe = options.settings },
    root_dir = vim.fn.getcwd(),
    handlers = {
      ["compatBpe/didCount"] = function(_, told)
        counts[vim.uri_to_bufnr(told.uri)] = told
        vim.cmd("redrawstatus!")
      end,
    },
  })
end

local function attach(buffer)
  if vim.api.nvim_buf_is_loaded(buffer) and vim.bo[buffer].buftype == "" then
    start()
    vim.lsp.buf_attach_client(buffer, client_id)
  end
end

-- The count of a buffer for the status line: %{%v:lua.require'compat_bpe'.status()%}
function M.status(buffer)
  local told = counts[buffer or vim.api.nvim_get_current_buf()]
  if not told then
    return ""
  end
  return told.count .. (told.limit and ("/" .. told.limit) or "") .. " tokens"
end

-- Ask the server; callback(error, result). Returns the number of the request.
function M.request(method, params, callback)
  local client = assert(vim.lsp.get_client_by_id(client_id or -1), "compat-bpe lsp is not running")
  local function answered(failure, result)
    callback(failure and failure.message, result)
  end
  local request = client.request
  if vim.fn.has("nvim-0.11") == 1 then
    request = function(...) return client:request(...) end
  end
  local _, number = request(method, params, answered, vim.api.nvim_get_current_buf())
  return number
end

-- Make a prompt around the cursor: callback(error, prompt).
function M.prompt(limit, callback)
  local client = vim.lsp.get_client_by_id(client_id or -1)
  local params = vim.lsp.util.make_position_params(0, client and client.offset_encoding)
  params.limit, params.template = limit or options.limit, options.template
  return M.request("compatBpe/fitPrompt", params, callback)
end

local function copy(text, what)
  vim.fn.setreg('"', text)
  pcall(vim.fn.setreg, "+", text) -- there may be no clipboard
  vim.notify(what)
end

-- Start the server for all files; given: cmd, settings, limit and template of prompts.
function M.setup(given)
  options = vim.tbl_extend("force", options, given or {})
  vim.api.nvim_create_user_command("TokenPrompt", function(arguments)
    M.prompt(tonumber(arguments.args), function(failure, prompt)
      if failure then
        return vim.notify(failure, vim.log.levels.ERROR)
      end
      copy(prompt.prefix .. prompt.suffix, "prompt of " .. prompt.count .. " tokens copied")
    end)
  end, { nargs = "?" })
  vim.lsp.commands["compatBpe.copyAsPrompt"] = function(command)
    local params = { command = command.command, arguments = command.arguments }
    M.request("workspace/executeCommand", params, function(failure, prompt)
      copy(failure and "" or prompt.text, failure or (prompt.count .. " tokens copied"))
    end)
  end
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost" }, {
    -- scheduled: the type of the file is known then
    callback = vim.schedule_wrap(function(event) attach(event.buf) end),
  })
  attach(vim.api.nvim_get_current_buf())
end

return M

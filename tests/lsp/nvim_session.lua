-- Edits a file as a user does, and writes what the server says of it; run by test_nvim.py.
local given = vim.fn.json_decode(vim.fn.readfile(vim.env.TEST_INPUT))
local plugin = require("compat_bpe")
local written = { statuses = {}, texts = {} }

local function finish()
  vim.fn.writefile({ vim.fn.json_encode(written) }, vim.env.TEST_OUTPUT)
  vim.cmd("qa!")
end

local function wait(what, ready)
  if not vim.wait(60000, ready, 5) then
    written.failed = what .. ": " .. vim.fn.execute("messages")
    finish()
  end
end

local function text()
  local ending = vim.bo.fileformat == "dos" and "\r\n" or "\n"
  local lines = vim.api.nvim_buf_get_lines(0, 0, -1, true)
  if #lines == 1 and lines[1] == "" then
    return "" -- a buffer without lines; it is written as an empty file
  end
  return table.concat(lines, ending) .. (vim.bo.eol and ending or "")
end

local function count()
  local found
  local params = { textDocument = { uri = vim.uri_from_bufnr(0) } }
  plugin.request("compatBpe/count", params, function(failure, result)
    found = failure or result.count
  end)
  wait("compatBpe/count", function() return found ~= nil end)
  return found
end

local ok, failure = pcall(function()
  plugin.setup({
    cmd = given.cmd,
    settings = { encoding = given.encoding, budget = 1000, show = { hover = true } },
    template = "{prefix}{suffix}",
  })
  vim.cmd("filetype on")
  vim.cmd("edit " .. vim.fn.fnameescape(given.file))
  wait("start", function() return plugin.status() ~= "" end)
  for _, keys in ipairs(given.keys) do
    local typed = vim.api.nvim_replace_termcodes(keys, true, false, true)
    vim.api.nvim_feedkeys(typed, "xt", false)
    -- Neovim gives servers an empty buffer as an empty line; the plug-in knows better.
    local now = text() == "" and 0 or count()
    table.insert(written.texts, { text = text(), count = now })
    wait("status", function() return plugin.status() == now .. "/1000 tokens" end)
    table.insert(written.statuses, plugin.status())
  end
  vim.cmd("TokenPrompt 20")
  wait("TokenPrompt", function() return vim.fn.getreg('"'):find(given.near, 1, true) ~= nil end)
  written.prompt = vim.fn.getreg('"')
  local hover
  local params = vim.lsp.util.make_position_params(0, "utf-16")
  plugin.request("textDocument/hover", params, function(_, result) hover = result end)
  wait("hover", function() return hover ~= nil end)
  written.hover = hover.contents.value
  local actions
  params = vim.lsp.util.make_given_range_params({ 1, 0 }, { 1, 3 }, 0, "utf-16")
  params.context = { diagnostics = {} }
  plugin.request("textDocument/codeAction", params, function(_, result) actions = result end)
  wait("codeAction", function() return actions ~= nil end)
  vim.lsp.commands[actions[1].command.command](actions[1].command)
  wait("copy", function() return vim.fn.getreg('"'):find("```", 1, true) ~= nil end)
  written.copied = vim.fn.getreg('"')
end)
if not ok then
  written.failed = failure
end
finish()

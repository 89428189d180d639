-- What differs between the versions of Neovim, from 0.7 on.
local M = {}

M.uv = vim.uv or vim.loop

local has_methods = vim.fn.has("nvim-0.11") == 1

---Call a function of a client: a method since 0.11.
---@param client table
---@param name string
function M.call(client, name, ...)
  if has_methods then
    return client[name](client, ...)
  end
  return client[name](...)
end

---Start a client that is attached to no buffer yet.
---@param config table
---@return integer?
function M.start_client(config)
  if has_methods then
    return vim.lsp.start(config, { attach = false, reuse_client = function() return false end })
  end
  return vim.lsp.start_client(config)
end

---The version of a buffer's text that servers were last told; nil if it is not known.
---@param buffer integer
---@return integer?
function M.sent_version(buffer)
  return (vim.lsp.util.buf_versions or {})[buffer]
end

---The byte of a column in a line.
---@param line string
---@param column integer
---@param encoding string
---@return integer
function M.byte_of(line, column, encoding)
  if encoding == "utf-8" then
    return math.min(column, #line)
  end
  local ok, byte
  if has_methods then
    ok, byte = pcall(vim.str_byteindex, line, encoding, column, false)
  else
    ok, byte = pcall(vim.str_byteindex, line, column, encoding == "utf-16")
  end
  return ok and byte or #line
end

return M

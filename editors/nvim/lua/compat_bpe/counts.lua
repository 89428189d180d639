-- The counts that the server has told, by buffer. One that is not current is marked or gone.
local version = require("compat_bpe.version")

local M = {}

---@class compat_bpe.Told
---@field uri string
---@field version integer
---@field count integer
---@field encoding string
---@field limit? integer
---@field passedAt? { line: integer, character: integer }

local told = {} ---@type table<integer, compat_bpe.Told>
local since = {} ---@type table<integer, { version: integer, time: integer }>

--- The milliseconds for which a count may lag behind what is typed.
local PATIENCE = 1000

local function redraw()
  vim.cmd("redrawstatus!")
end

---True if a buffer has no text: Neovim gives servers an empty line then.
local function is_empty(buffer)
  return vim.api.nvim_buf_line_count(buffer) == 1
    and vim.api.nvim_buf_get_lines(buffer, 0, 1, true)[1] == ""
end

---@param buffer integer
---@param new? compat_bpe.Told
function M.set(buffer, new)
  if new and is_empty(buffer) then
    new.count = 0
  end
  told[buffer], since[buffer] = new, nil
  redraw()
end

---@param buffer integer
---@return compat_bpe.Told?
function M.of(buffer)
  return told[buffer]
end

---Forget all counts: the server is gone.
function M.clear()
  told, since = {}, {}
  redraw()
end

---True if a buffer has another text for a while already.
local function is_old(buffer, current)
  if not current or current == told[buffer].version then
    since[buffer] = nil
    return false
  end
  local now = version.uv.now()
  if not since[buffer] then
    since[buffer] = { version = current, time = now }
    vim.defer_fn(redraw, PATIENCE + 10)
  end
  return now - since[buffer].time >= PATIENCE
end

---A count with its budget in words.
---@param one { count: integer, limit?: integer, note?: string } an estimate has a note of why
---@return string
function M.words(one)
  local about = one.note and "≈" or ""
  if one.limit then
    return ("%s%d/%d tokens"):format(about, one.count, one.limit)
  end
  return about .. one.count .. (one.count == 1 and " token" or " tokens")
end

---The count of a buffer as a text; empty if there is none, with "~" if it is not current.
---@param buffer integer
---@param current? integer the version of its text
---@return string
function M.text(buffer, current)
  local one = told[buffer]
  if not one then
    return ""
  end
  return (is_old(buffer, current) and "~" or "") .. M.words(one)
end

return M

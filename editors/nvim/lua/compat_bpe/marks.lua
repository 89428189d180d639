-- Marks in the text, if options ask for them: the count, and what is past the budget.
local options = require("compat_bpe.options")
local version = require("compat_bpe.version")

local M = {}

local SPACE = vim.api.nvim_create_namespace("compat_bpe")
vim.api.nvim_set_hl(0, "CompatBpePastBudget", { link = "DiagnosticUnnecessary", default = true })
vim.api.nvim_set_hl(0, "CompatBpeCount", { link = "Comment", default = true })

local function show_count(buffer, told)
  local text = require("compat_bpe.counts").words(told)
  vim.api.nvim_buf_set_extmark(buffer, SPACE, 0, 0, {
    virt_text = { { text, "CompatBpeCount" } },
    virt_text_pos = "eol",
  })
end

local function highlight(buffer, place, encoding)
  local line = vim.api.nvim_buf_get_lines(buffer, place.line, place.line + 1, false)[1]
  if line then
    local last = vim.api.nvim_buf_line_count(buffer) - 1
    local column = version.byte_of(line, place.character, encoding)
    vim.api.nvim_buf_set_extmark(buffer, SPACE, place.line, column, {
      end_row = last,
      end_col = #vim.api.nvim_buf_get_lines(buffer, last, last + 1, false)[1],
      hl_group = "CompatBpePastBudget",
      hl_eol = true,
    })
  end
end

---Show what the server has told of a buffer.
---@param buffer integer
---@param told compat_bpe.Told
---@param encoding string
function M.show(buffer, told, encoding)
  vim.api.nvim_buf_clear_namespace(buffer, SPACE, 0, -1)
  if options.now.virtual_text then
    show_count(buffer, told)
  end
  if options.now.highlight and told.passedAt then
    highlight(buffer, told.passedAt, encoding)
  end
end

---Take all marks away.
function M.clear()
  for _, buffer in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(buffer) then
      vim.api.nvim_buf_clear_namespace(buffer, SPACE, 0, -1)
    end
  end
end

return M

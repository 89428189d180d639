-- The options of `setup`, and what they are without it.
local M = {}

---@class compat_bpe.Rule
---@field pattern string files, as in a `.gitignore`
---@field encoding? string
---@field model? string
---@field path? string
---@field budget? integer

---The settings of the server: docs/guide-editors.md has them all.
---@class compat_bpe.Settings
---@field encoding? string an encoding, such as "cl100k_base"
---@field model? string a model, such as "gpt-4o"
---@field path? string the path of a tokenizer
---@field budget? integer the number of tokens that a file should not pass
---@field files? compat_bpe.Rule[] settings of some files
---@field show? table<string, boolean> what is shown

---@class compat_bpe.Options
---@field cmd? string[] the command of the server; it is looked for unless given
---@field settings compat_bpe.Settings
---@field limit integer the most tokens of a prompt
---@field template? string the template of a prompt, with {prefix} and {suffix}
---@field virtual_text boolean show the count at the end of the first line
---@field highlight boolean highlight what is past the budget, as CompatBpePastBudget

---@type compat_bpe.Options
local defaults = { settings = {}, limit = 2000, virtual_text = false, highlight = false }

---@type compat_bpe.Options
M.now = vim.deepcopy(defaults)

---Take options; those that are not given are as without `setup`.
---@param given? table
function M.set(given)
  M.now = vim.tbl_extend("force", vim.deepcopy(defaults), given or {})
end

---The settings as they are sent; an empty table would be a list.
---@return table
function M.settings()
  return vim.tbl_isempty(M.now.settings) and vim.empty_dict() or M.now.settings
end

return M

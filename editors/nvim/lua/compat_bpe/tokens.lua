-- :TokenShow: the text of a buffer in a scratch buffer, with its tokens in two colors by turns.
local server = require("compat_bpe.server")
local version = require("compat_bpe.version")

local M = {}

local SPACE = vim.api.nvim_create_namespace("compat_bpe_tokens")
local GROUPS = { "CompatBpeOddToken", "CompatBpeEvenToken" }
for group, colors in pairs({ [GROUPS[1]] = { "#d6e4fb", 153 }, [GROUPS[2]] = { "#fbe2cf", 223 } }) do
  vim.api.nvim_set_hl(0, group, {
    fg = "#000000",
    bg = colors[1],
    ctermfg = 16,
    ctermbg = colors[2],
    default = true,
  })
end

local function is_before(one, other)
  return one.line < other.line or (one.line == other.line and one.character < other.character)
end

local function paint(view, lines, tokens, encoding)
  local function at(place)
    local line = lines[place.line + 1]
    if not line then -- behind the end of the last line
      return #lines - 1, #lines[#lines]
    end
    return place.line, version.byte_of(line, place.character, encoding)
  end
  local drawn, last = 0, nil
  for _, token in ipairs(tokens) do
    local from, to = token.range.start, token.range["end"]
    -- A character of several tokens has the color of the first one.
    if not (last and is_before(from, last)) then
      local row, column = at(from)
      local end_row, end_column = at(to)
      vim.api.nvim_buf_set_extmark(view, SPACE, row, column, {
        end_row = end_row,
        end_col = end_column,
        hl_group = GROUPS[drawn % 2 + 1],
        hl_eol = true,
      })
      drawn, last = drawn + 1, to
    end
  end
end

---Show the tokens of the current buffer, as it is now.
function M.show()
  local buffer = vim.api.nvim_get_current_buf()
  local lines = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
  local range = { start = { line = 0, character = 0 }, ["end"] = { line = #lines, character = 0 } }
  local params = { textDocument = server.document(buffer), range = range }
  server.request("compatBpe/tokens", params, function(failure, result)
    if failure then
      return server.warn(failure)
    end
    local view = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_lines(view, 0, -1, true, lines)
    paint(view, lines, result.tokens, server.client().offset_encoding)
    vim.bo[view].modifiable = false
    vim.bo[view].bufhidden = "wipe"
    vim.cmd("vertical sbuffer " .. view)
  end)
end

return M

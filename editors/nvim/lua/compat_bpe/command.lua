-- The command that starts the server: it is looked for, so that only Python is needed.
local options = require("compat_bpe.options")
local version = require("compat_bpe.version")

local M = {}

--- Commands run here: Windows looks for programs in the current folder first, Python for modules.
M.folder = version.uv.os_homedir()

local found ---@type string[]?

---Return what a command prints, or nil if it fails.
---@param cmd string[]
---@return string?
function M.output(cmd)
  local lines = {}
  local function add(_, data) vim.list_extend(lines, data) end
  local ok, job = pcall(vim.fn.jobstart, cmd, {
    cwd = M.folder,
    stdout_buffered = true,
    on_stdout = add,
  })
  if not ok or job <= 0 then
    return nil
  end
  local status = vim.fn.jobwait({ job }, 10000)[1]
  return status == 0 and vim.trim(table.concat(lines, "\n")) or nil
end

---Pythons by name, of which the first one that runs decides.
local function pythons()
  local names = { vim.g.python3_host_prog or "python3", "python", "py" }
  return vim.tbl_filter(function(name) return vim.fn.executable(name) == 1 end, names)
end

---The repository that this plug-in is a folder of, if it has the Python package.
---@return string?
local function repository()
  local here = debug.getinfo(1, "S").source:sub(2)
  local root = vim.fn.fnamemodify(here, ":p:h:h:h:h:h")
  return vim.fn.filereadable(root .. "/compat_bpe/lsp/__main__.py") == 1 and root or nil
end

--- Runs the server of a folder that is not installed.
local FROM_FOLDER = "import runpy, sys; sys.path[0] = sys.argv[1]; "
  .. "runpy.run_module('compat_bpe.lsp', run_name='__main__')"

---@return string[]?
local function search()
  if vim.fn.executable("compat-bpe") == 1 then
    return { "compat-bpe", "lsp" }
  end
  local root = repository()
  for _, python in ipairs(pythons()) do
    if M.output({ python, "-c", "import compat_bpe.lsp" }) then
      return { python, "-m", "compat_bpe", "lsp" }
    end
    local is_new = M.output({ python, "-c", "import sys; sys.exit(sys.version_info < (3, 9))" })
    if root and is_new then
      return { python, "-c", FROM_FOLDER, root }
    end
  end
  return nil
end

---Return the command of the server; or nil, and what to do.
---@return string[]?, string?
function M.find()
  local given = options.now.cmd
  if given then
    if vim.fn.executable(given[1]) == 1 then
      return given
    end
    return nil, ("the command %s of setup() is not found"):format(given[1])
  end
  found = found or search()
  if found then
    return found
  end
  return nil, "run pip install . in a checkout, then :TokenRestart"
end

return M

-- Counts with the defaults unless setup() is called; `vim.g.compat_bpe_enabled = false` turns it off.
if vim.g.loaded_compat_bpe then
  return
end
vim.g.loaded_compat_bpe = true
if vim.fn.has("nvim-0.7") == 0 or vim.g.compat_bpe_enabled == false then
  return
end
-- After the start, so that a setup() in between decides, and the start takes no longer.
vim.schedule(function() require("compat_bpe").enable() end)

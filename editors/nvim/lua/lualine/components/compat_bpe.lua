-- A component for lualine: sections = { lualine_x = { "compat_bpe" } }
local Component = require("lualine.component"):extend()

function Component:update_status()
  return require("compat_bpe").status()
end

return Component

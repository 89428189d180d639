// Run the portable tests in Pyodide: node pyodide.mjs PYODIDE START FOLDER ...
// START is what Python runs; it sees each FOLDER of this machine under the same name.

import { argv, exit } from "node:process";
import { pathToFileURL } from "node:url";

const [, , pyodide, start, ...folders] = argv;
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: `${pyodide}/` });
for (const folder of folders) {
  python.FS.mkdirTree(folder);
  python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, folder);
}
try {
  python.runPython(start);
} catch (error) {
  // sys.exit ends the tests: the number is in its last line.
  const status = /SystemExit: (\d+)\s*$/.exec(error.message);
  if (status === null) console.error(error.message);
  exit(status === null ? 1 : Number(status[1]));
}

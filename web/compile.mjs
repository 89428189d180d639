// Compiles the Python files of a folder with the Pyodide beside the page: a browser then has only
// to load them. Usage: node compile.mjs PYODIDE FOLDER
import { pathToFileURL } from 'node:url';

const [, , pyodide, folder] = process.argv;
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: pyodide });
python.mountNodeFS('/folder', folder);
python.runPython(`
import os, py_compile
for where, _, names in os.walk("/folder"):
    for name in names:
        if name.endswith(".py"):
            path = os.path.join(where, name)
            py_compile.compile(
                path, path + "c", os.path.relpath(path, "/folder"), doraise=True, optimize=2,
                invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
            )
            os.remove(path)
`);

// Runs in_pyodide.py in the Pyodide beside the page. Usage: node compile.mjs PYODIDE CODE LIBRARY
import { readFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

const [, , pyodide, code, library] = process.argv;
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`).href);
const python = await loadPyodide({ indexURL: pyodide });
python.mountNodeFS('/code', code);
python.mountNodeFS('/library', library);
python.runPython(await readFile(new URL('in_pyodide.py', import.meta.url), 'utf-8'));

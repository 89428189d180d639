// Pyodide asks if this is a classic worker by importing an empty script, which the page's policy
// refuses and browsers then report. In a module worker it never works: this says so silently.
globalThis.importScripts = () => { throw new TypeError('this is a module worker'); };

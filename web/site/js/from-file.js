// A browser starts no module of a page that is opened as a file: this is the only script that it runs.
if (location.protocol === 'file:') {
  const status = /** @type {HTMLElement} */ (document.getElementById('status'));
  status.textContent = 'Not started: a browser runs this page only from a web server, not from a file.';
  status.className = 'error';
}

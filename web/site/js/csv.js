// A table as CSV (RFC 4180).

/** @param {(string | number)[][]} rows */
export const csv = rows => rows.map(row => `${row.map(field).join(',')}\r\n`).join('');

/** @param {string | number} value */
const field = value => (/[",\r\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));

/**
 * Save a text as a file.
 * @param {string} name
 * @param {string} text
 * @param {string} type
 */
export function save(name, text, type) {
  const link = document.createElement('a');
  link.download = name;
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/**
 * A text of a CSV file with an apostrophe before it where a spreadsheet would run it as a formula. Some spreadsheets of East Asia
 * take the full-width signs for the plain ones.
 */
export function inertText(text: string): string {
  return /^[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]/.test(text) ? `'${text}` : text;
}

/** A text as a field of RFC 4180, always in quotes. */
export function csvField(text: string): string {
  return `"${inertText(text).replaceAll('"', '""')}"`;
}

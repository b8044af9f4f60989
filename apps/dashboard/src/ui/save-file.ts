/** Without it Excel takes a CSV file for one of its own country, and breaks every letter beyond ASCII. */
const byteOrderMark = '\uFEFF';

/** Saves a text or a picture as a file of the person’s, such as a CSV. */
export function saveFile(name: string, content: BlobPart, type = 'text/plain'): void {
  const url = URL.createObjectURL(
    new Blob([...(type.startsWith('text/csv') ? [byteOrderMark] : []), content], { type }),
  );
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

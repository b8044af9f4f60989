import encodeQr from 'qr';

/** A QR code of modules, with a quiet zone of four around it: true is dark. */
export type QrMatrix = readonly (readonly boolean[])[];

/** Encodes text as a QR code at error correction level M. Throws for text that does not fit. */
export function qrCode(text: string): QrMatrix {
  return encodeQr(text, 'raw', { ecc: 'medium', border: 4 });
}

/** The dark modules as the path of an SVG whose view box is `size` wide. */
export function qrPath(matrix: QrMatrix): { readonly size: number; readonly path: string } {
  const runs = matrix.flatMap((row, y) =>
    row.flatMap((isDark, x) => {
      if (!isDark || row[x - 1] === true) return [];
      let length = 1;
      while (row[x + length] === true) length += 1;
      return [`M${x} ${y}h${length}v1h-${length}z`];
    }),
  );
  return { size: matrix.length, path: runs.join('') };
}

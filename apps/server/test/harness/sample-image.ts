import { crc32, deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';

/** Images for tests, harmless and hostile. */

/** One chunk of a PNG file. */
export function pngChunk(type: string, data: Uint8Array = new Uint8Array()): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A PNG of 8-bit RGB that claims a size, with any image data and other chunks. */
export function pngOf(claim: {
  width: number;
  height: number;
  data: Uint8Array;
  before?: Uint8Array;
}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(claim.width, 0);
  header.writeUInt32BE(claim.height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    claim.before ?? Buffer.alloc(0),
    pngChunk('IDAT', claim.data),
    pngChunk('IEND'),
  ]);
}

/** A complete one-coloured PNG of any size: its rows are packed one piece at a time. */
export function plainPng(width: number, height: number): Buffer {
  return pngOf({ width, height, data: deflateSync(Buffer.alloc((1 + 3 * width) * height)) });
}

/** A lossless WebP picture that claims a size, 16,384 at most, and has almost no data. */
export function webpPicture(width: number, height: number): Buffer {
  const data = Buffer.alloc(64);
  data[0] = 0x2f;
  data.writeUInt32LE((width - 1) | ((height - 1) << 14), 1);
  const chunk = Buffer.alloc(20);
  chunk.write('RIFF\0\0\0\0WEBPVP8L', 'latin1');
  chunk.writeUInt32LE(chunk.length - 8 + data.length, 4);
  chunk.writeUInt32LE(data.length, 16);
  return Buffer.concat([chunk, data]);
}

/** A WebP file that claims a canvas size and contains a small picture. */
export async function webpCanvas(width: number, height: number): Promise<Buffer> {
  const inner = (await sampleImage('webp', 16, 16)).subarray(12);
  const canvas = Buffer.alloc(18);
  canvas.write('VP8X', 0, 'latin1');
  canvas.writeUInt32LE(10, 4);
  canvas.writeUIntLE(width - 1, 12, 3);
  canvas.writeUIntLE(height - 1, 15, 3);
  const head = Buffer.alloc(12);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(4 + canvas.length + inner.length, 4);
  head.write('WEBP', 8, 'latin1');
  return Buffer.concat([head, canvas, inner]);
}

/** An image with visible content, so that tests can cut, turn and compare it. */
export async function sampleImage(
  type: 'jpeg' | 'png' | 'webp',
  width: number,
  height: number,
): Promise<Buffer> {
  return picture(width, height).toFormat(type).toBuffer();
}

/** The same before encoding: red, with a blue corner. */
export function picture(width: number, height: number): Sharp {
  const background = '#cc3322';
  const corner = {
    width: Math.max(1, Math.floor(width / 2)),
    height: Math.max(1, Math.floor(height / 2)),
    channels: 3,
    background: '#2233cc',
  } as const;
  return sharp({ create: { width, height, channels: 3, background } }).composite([
    { input: { create: corner }, left: 0, top: 0 },
  ]);
}

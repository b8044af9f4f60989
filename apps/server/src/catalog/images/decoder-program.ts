/*
 * The program of one decoder process: reads one image from standard input, writes its sizes to standard output, ends.
 * It is started as plain text without types and without a JIT (process-decoder.ts), so it imports nothing of ours.
 *
 * Answer: one line of JSON, `{"lengths":[...]}` or `{"reason":"..."}`, then the files one after the other.
 */
import { readFileSync, writeSync } from 'node:fs';
import sharp from 'sharp';

const sizes = [96, 320, 640, 1280];
const largest = 1280;
const maxPixels = 25_000_000;
const quality = 82;
const loaders = ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'];

sharp.cache(false);
sharp.concurrency(1);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: loaders });

/** A pipe may accept only a part at a time. */
function write(bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length; ) offset += writeSync(1, bytes, offset);
}

function answer(head: { lengths: number[] } | { reason: string }, files: readonly Uint8Array[] = []): void {
  write(Buffer.from(`${JSON.stringify(head)}\n`));
  for (const file of files) write(file);
}

/** Decodes the image once, upright and in sRGB, no larger than the largest size; for an animation, its first picture. */
async function pixelsOf(bytes: Uint8Array) {
  const source = sharp(bytes, {
    failOn: 'warning',
    limitInputPixels: maxPixels,
    sequentialRead: true,
    animated: false,
  });
  return source
    .autoOrient()
    .resize({ width: largest, height: largest, fit: 'inside', withoutEnlargement: true })
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
}

async function decode(bytes: Uint8Array): Promise<void> {
  const { width, height } = await sharp(bytes, { limitInputPixels: false }).metadata();
  if (width * height > maxPixels) {
    answer({ reason: 'more than 25 megapixels' });
    return;
  }
  const { data, info } = await pixelsOf(bytes);
  const raw = { width: info.width, height: info.height, channels: info.channels };
  const files: Uint8Array[] = [];
  for (const size of sizes) {
    const fitted = sharp(data, { raw }).resize({
      width: size,
      height: size,
      fit: 'inside',
      withoutEnlargement: true,
    });
    files.push(await fitted.webp({ quality }).toBuffer());
  }
  answer({ lengths: files.map((file) => file.length) }, files);
}

const bytes = readFileSync(0);
try {
  await decode(bytes);
} catch {
  // The decoder's own message may quote the image.
  answer({ reason: 'damaged' });
}

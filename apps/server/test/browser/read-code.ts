import type { Locator } from 'playwright-core';
import decodeQr from 'qr/decode.js';
import sharp from 'sharp';

/** What a camera reads of a QR code, with everything that stands over it on the page. */
export async function readCode(code: Locator): Promise<string> {
  await code.page().waitForFunction('[...document.images].every(({ complete }) => complete)');
  const { data, info } = await sharp(await code.screenshot())
    .ensureAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return decodeQr({ width: info.width, height: info.height, data });
}

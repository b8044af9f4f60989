import { createHmac, hkdfSync } from 'node:crypto';
import { base62Of, idBodyLength } from '@florin/protocol/id.ts';

/** The squares, in pixels, into which every image is fitted; none is ever enlarged. */
export const imageSizes = [96, 320, 640, 1280] as const;
export type ImageSize = (typeof imageSizes)[number];

/** The size that a product's imageUrl names. */
const shownSize = 1280 satisfies ImageSize;

/** Below it images are served; each as `<name>-<size>.webp`. */
export const imagePath = '/images/';

const filePattern = new RegExp(`^([0-9A-Za-z]{${idBodyLength}})-(${imageSizes.join('|')})\\.webp$`);

/** The key of image names, from a master key of 32 bytes. A new key changes the names of new images only. */
export function imageNameKey(masterKey: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', masterKey, '', 'florin image names', 32));
}

/**
 * The name of an image: 131 bits of an HMAC-SHA-256 over its merchant and its content. Equal images of one merchant share a name.
 * Without the key a source image does not reveal whether, or where, it is hosted.
 */
export function imageNameOf(
  key: Uint8Array,
  image: { merchantId: string; files: readonly Uint8Array[] },
): string {
  const mac = createHmac('sha256', key).update(`${image.merchantId}\n`);
  for (const file of image.files) mac.update(`${file.length}\n`).update(file);
  return base62Of(mac.digest());
}

/** The file of one size, as stores and URLs call it. */
export function imageFile(name: string, size: ImageSize): string {
  return `${name}-${size}.webp`;
}

/** Reads a file's name; undefined for every other text. */
export function parseImageFile(file: string): { name: string; size: ImageSize } | undefined {
  const [, name, digits] = filePattern.exec(file) ?? [];
  const size = imageSizes.find((known) => String(known) === digits);
  return name === undefined || size === undefined ? undefined : { name, size };
}

/** The public URL of the image, as products, links and sessions show it. */
export function hostedImageUrl(origin: string, name: string): string {
  return origin + imagePath + imageFile(name, shownSize);
}

/** The name of the hosted image, of any size, that a URL below the origin's images names; empty for no such image. */
export function nameOfHostedUrl(origin: string, url: string): string | undefined {
  const prefix = origin + imagePath;
  return url.startsWith(prefix) ? (parseImageFile(url.slice(prefix.length))?.name ?? '') : undefined;
}

/** A hosted image's URL in another size; any other URL unchanged. */
export function imageUrlOfSize(url: string, size: ImageSize): string {
  const start = url.lastIndexOf('/') + 1;
  const file = parseImageFile(url.slice(start));
  return file === undefined ? url : url.slice(0, start) + imageFile(file.name, size);
}

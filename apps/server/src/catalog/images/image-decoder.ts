import type { ImageSize } from './image-name.ts';

/** An image as it is hosted: webp without metadata, upright, sRGB, one file for each size in the order of imageSizes. */
export interface DecodedImage {
  readonly files: readonly { readonly size: ImageSize; readonly bytes: Uint8Array }[];
}

/** Why bytes cannot become an image. Merchants see it. */
export type DecodeReason =
  | 'not a jpeg, png or webp image'
  | 'more than 25 megapixels'
  | 'damaged'
  | 'too costly to decode'
  | 'could not be decoded now';

/** The bytes are not an image that can be hosted. `could not be decoded now` alone is not the fault of the bytes. */
export class DecodeFailure extends Error {
  readonly reason: DecodeReason;

  constructor(reason: DecodeReason, options?: ErrorOptions) {
    super(reason, options);
    this.name = 'DecodeFailure';
    this.reason = reason;
  }
}

/** Turns untrusted bytes into hosted images. */
export interface ImageDecoder {
  /** Throws `DecodeFailure`. */
  decode(bytes: Uint8Array): Promise<DecodedImage>;
  /** Ends running decoders. */
  close(): Promise<void>;
}

/** The largest source in bytes. */
export const maxImageBytes = 5 * 1024 * 1024;

/** The type by the first bytes; undefined for everything but jpeg, png and webp. */
export function imageTypeOf(bytes: Uint8Array): 'jpeg' | 'png' | 'webp' | undefined {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (head.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  return head.startsWith('RIFF') && head.slice(8) === 'WEBP' ? 'webp' : undefined;
}

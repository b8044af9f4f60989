import { type ImageUploaded, imageUpload } from '@florin/protocol/image-upload.ts';
import { send } from './call.ts';
import { withProof } from './prover.ts';

/** Smaller files go out as they are. */
const smallBytes = 1024 * 1024;
/** The longest edge that the service keeps. */
const maxEdge = 1_280;
const quality = 0.92;

/** Uploads a picture, and returns its hosted URL. Throws ApiFailure. */
export async function uploadImage(merchantId: string | undefined, file: Blob): Promise<string> {
  const body = await shrink(file);
  const { method, path } = imageUpload;
  const reply = await withProof(() => send(`${method} ${path}`, { body }, { merchantId }));
  return (reply as ImageUploaded).imageUrl;
}

/**
 * A large picture in the size that the service keeps, so that a photo arrives within seconds from a phone. What this
 * browser cannot read stays as it is: the service says what is wrong with it.
 */
async function shrink(file: Blob): Promise<Blob> {
  if (file.size <= smallBytes) return file;
  const bitmap = await createImageBitmap(file).catch(() => undefined);
  if (bitmap === undefined) return file;
  const scale = Math.min(1, maxEdge / Math.max(bitmap.width, bitmap.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext('2d')?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  // A browser that writes no webp writes png.
  const small = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/webp', quality));
  return small !== null && small.size < file.size ? small : file;
}

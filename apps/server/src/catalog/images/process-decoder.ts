import {
  type DecodedImage,
  DecodeFailure,
  type DecodeReason,
  type ImageDecoder,
  imageTypeOf,
} from './image-decoder.ts';
import { imageSizes } from './image-name.ts';
import { type ImageProcessOptions, imageProcesses } from './image-process.ts';

/** Decodes every image in a process of its own. An image that breaks the decoder harms neither the service nor the next image. */
export function processDecoder(options: ImageProcessOptions): ImageDecoder {
  const processes = imageProcesses(new URL('./decoder-program.ts', import.meta.url), options);
  return {
    async decode(bytes) {
      if (imageTypeOf(bytes) === undefined) throw new DecodeFailure('not a jpeg, png or webp image');
      return parseAnswer(await processes.run(bytes));
    },
    close: processes.close,
  };
}

const childReasons: readonly DecodeReason[] = ['more than 25 megapixels', 'damaged'];

/** Reads the answer of a process. The image may have taken over the process, so the answer is not trusted. */
function parseAnswer(answer: Buffer): DecodedImage {
  const end = answer.indexOf('\n');
  const head = parseHead(answer.subarray(0, Math.max(end, 0)).toString('latin1'));
  if (typeof head !== 'object' || head === null) throw new DecodeFailure('damaged');
  if (!('lengths' in head) || !Array.isArray(head.lengths)) {
    const said = 'reason' in head ? head.reason : undefined;
    throw new DecodeFailure(childReasons.find((reason) => reason === said) ?? 'damaged');
  }
  const lengths: readonly unknown[] = head.lengths;
  let offset = end + 1;
  const files = imageSizes.map((size, index) => {
    const length = Number(lengths[index]);
    const bytes = answer.subarray(offset, offset + length);
    offset += length;
    if (bytes.length !== length || imageTypeOf(bytes) !== 'webp') throw new DecodeFailure('damaged');
    return { size, bytes };
  });
  if (offset !== answer.length) throw new DecodeFailure('damaged');
  return { files };
}

function parseHead(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Our program does not write this.
    return undefined;
  }
}

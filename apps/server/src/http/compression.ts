import { promisify } from 'node:util';
import { type BrotliOptions, brotliCompress, constants, gzip, type ZlibOptions } from 'node:zlib';

/** A content coding. */
export type Coding = 'br' | 'gzip' | 'identity';

export interface CodedText {
  readonly coding: Coding;
  readonly bytes: Buffer;
}

const brotli = promisify<Buffer, BrotliOptions, Buffer>(brotliCompress);
const deflate = promisify<Buffer, ZlibOptions, Buffer>(gzip);

/** Smaller texts fit into the first packets uncompressed. */
const leastBytes = 1_400;
/** For pages, which are rendered per reader: 2 ms on a thread outside the event loop. */
const pageQuality = 7;
/** For assets, which are compressed once: some tens of milliseconds at the start. */
const assetQuality = constants.BROTLI_MAX_QUALITY;
/** Gzip codes a script anew after each 4,096 symbols: each of the page's scripts is some 70 bytes smaller than with zlib's 16,384. */
const assetMemory = 6;

/**
 * The best coding that a client accepts (RFC 9110, Accept-Encoding). Only named codings count: without the header, or
 * with `*`, the client gets the text uncompressed.
 */
export function chooseCoding(accepted: string | undefined): Coding {
  const named = new Set<string>();
  for (const part of (accepted ?? '').toLowerCase().split(',')) {
    const [coding = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    if (quality === undefined || Number(quality) > 0) named.add(coding);
  }
  if (named.has('br')) return 'br';
  return named.has('gzip') ? 'gzip' : 'identity';
}

/**
 * Compresses a page for one client. Only for pages: compression reveals text by its length (BREACH). So a secret that
 * repeats between answers (a session's clientCode, an e-mail address) must never be compressed together with text
 * that others choose. A page's one secret is its nonce, which is new in every answer (docs/decisions/0034). The large
 * answers of the dashboard are lists of payments: they have payers' e-mail addresses and links beside what payers wrote, and
 * are read again while they stand open.
 */
export async function codePage(text: string, accepted: string | undefined): Promise<CodedText> {
  const bytes = Buffer.from(text);
  const coding = bytes.length < leastBytes ? 'identity' : chooseCoding(accepted);
  return { coding, bytes: await code(bytes, coding, pageQuality) };
}

/** Compresses an asset once in every coding, at the highest quality. */
export async function codeAsset(text: string): Promise<Readonly<Record<Coding, Buffer>>> {
  const bytes = Buffer.from(text);
  const options = { level: constants.Z_BEST_COMPRESSION, memLevel: assetMemory };
  const [br, zipped] = await Promise.all([code(bytes, 'br', assetQuality), deflate(bytes, options)]);
  return { br, gzip: zipped, identity: bytes };
}

/**
 * Compresses a file that is the same for every reader, at its first request. The hundreds of files of the
 * documentation take 0.2 s in all. At the highest quality they would take 9 s, for 8 % fewer bytes.
 */
export function codeFile(bytes: Buffer, coding: Coding): Promise<Buffer> {
  return code(bytes, coding, pageQuality);
}

async function code(bytes: Buffer, coding: Coding, quality: number): Promise<Buffer> {
  if (coding === 'gzip') return deflate(bytes, { level: Math.min(quality, constants.Z_BEST_COMPRESSION) });
  if (coding === 'identity') return bytes;
  const params = {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  };
  return brotli(bytes, { params });
}

import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type Coding, codeAsset } from './compression.ts';

/** The page's one script, as it is served. */
export interface Script {
  /** As clients take it, each made once. */
  readonly bytes: Readonly<Record<Coding, Buffer>>;
  /** Its own hash is in it: it never changes under its name. */
  readonly path: string;
  /** Subresource integrity. */
  readonly integrity: string;
}

/** The pages that have a script of their own. */
const sources = {
  checkout: fileURLToPath(new URL('../../../../checkout/src/checkout/main.ts', import.meta.url)),
  claim: fileURLToPath(new URL('../../../../checkout/src/claim/main.ts', import.meta.url)),
} as const;

/**
 * Bundles a page's script from its source: some tens of milliseconds at the start of the service, and no build that
 * could be forgotten or be of another version than the server. It is compressed then, too, as small as it gets.
 */
export async function bundleScript(page: keyof typeof sources): Promise<Script> {
  const { outputFiles } = await build({
    entryPoints: [sources[page]],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'silent',
  });
  const text = outputFiles[0]?.text ?? '';
  const hash = (algorithm: string) => createHash(algorithm).update(text);
  return {
    bytes: await codeAsset(text),
    path: `/checkout/assets/${page}-${hash('sha256').digest('hex').slice(0, 16)}.js`,
    integrity: `sha384-${hash('sha384').digest('base64')}`,
  };
}

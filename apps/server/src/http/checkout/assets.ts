import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type Coding, codeAsset } from '../compression.ts';

/** The page's one script, as it is served. */
export interface Script {
  /** The body in each content coding, compressed once. */
  readonly bytes: Readonly<Record<Coding, Buffer>>;
  /** The path contains the content's hash, so the file behind it never changes. */
  readonly path: string;
  /** Subresource integrity. */
  readonly integrity: string;
}

/** The pages that have a script. */
const sources = {
  checkout: fileURLToPath(new URL('../../../../checkout/src/checkout/main.ts', import.meta.url)),
  demo: fileURLToPath(new URL('../../../../checkout/src/demo/main.ts', import.meta.url)),
  claim: fileURLToPath(new URL('../../../../checkout/src/claim/main.ts', import.meta.url)),
} as const;

/**
 * Bundles and compresses a page's script from its source. This takes some tens of milliseconds at the start and needs
 * no build step, so the script always has the server's version.
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

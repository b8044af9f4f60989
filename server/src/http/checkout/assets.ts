import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** The page's one script, as it is served. */
export interface Script {
  readonly text: string;
  /** Its own hash is in it: it never changes under its name. */
  readonly path: string;
  /** Subresource integrity. */
  readonly integrity: string;
}

const source = fileURLToPath(new URL('../../../../web/src/checkout/main.ts', import.meta.url));

/**
 * Bundles the page's script from its source: some tens of milliseconds at the start of the service, and no build that
 * could be forgotten or be of another version than the server.
 */
export async function bundleScript(): Promise<Script> {
  const { outputFiles } = await build({
    entryPoints: [source],
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
    text,
    path: `/checkout/assets/checkout-${hash('sha256').digest('hex').slice(0, 16)}.js`,
    integrity: `sha384-${hash('sha384').digest('base64')}`,
  };
}

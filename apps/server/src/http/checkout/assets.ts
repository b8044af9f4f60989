import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { languages } from '@florin/checkout';
import { type Coding, codeAsset } from '../compression.ts';
import { builtAhead, type ScriptName } from './built-ahead.ts';

const payWords = Object.fromEntries(languages.map(({ tag, texts }) => [tag.split('-')[0], texts.pay]));

/** A script of the pages, as it is served. */
export interface Script {
  /** The body in each content coding, compressed once. */
  readonly bytes: Readonly<Record<Coding, Buffer>>;
  /** The path contains the content's hash, so the file behind it never changes. */
  readonly path: string;
  /** Subresource integrity. */
  readonly integrity: string;
}

/**
 * Compresses a page's script. A checkout bundles it from its source first: this takes some tens of milliseconds at the
 * start, and the script always has the server's version. A release has bundled it ahead, and has no bundler.
 */
export async function bundleScript(page: ScriptName): Promise<Script> {
  return scriptOf(page, builtAhead?.scripts[page] ?? (await bundleSource(page)));
}

/** Compresses a script for its path. */
export async function scriptOf(name: string, text: string): Promise<Script> {
  const hash = (algorithm: string) => createHash(algorithm).update(text);
  return {
    bytes: await codeAsset(text),
    path: `/checkout/assets/${name}-${hash('sha256').digest('hex').slice(0, 16)}.js`,
    integrity: `sha384-${hash('sha384').digest('base64')}`,
  };
}

/** Bundles a page's script from its source. */
export async function bundleSource(page: ScriptName): Promise<string> {
  // The page itself, with what it tells a shop, or with the field for an amount.
  const isEmbedded = page === 'embedded' || page === 'embeddedCustom';
  const hasAmount = page === 'custom' || page === 'embeddedCustom';
  const folder = isEmbedded || hasAmount ? 'checkout' : page;
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../../../../checkout/src/${folder}/main.ts`, import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    charset: 'utf8',
    legalComments: 'none',
    define: {
      IS_EMBEDDED: String(isEmbedded),
      HAS_AMOUNT: String(hasAmount),
      PAY_WORDS: JSON.stringify(payWords),
    },
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

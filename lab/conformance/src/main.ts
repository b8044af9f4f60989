import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { type ConformanceOptions, runConformance } from './conformance.ts';

const usage = `Usage: npm run conformance -- --merchant-api URL --key sk_live_... [--ai-api URL] [--restricted-key rk_live_...]
       npm run conformance -- --world PATH/world.json

Checks a running installation against the specification, rule by rule. It creates products, links, sessions and webhooks
for the merchant of the key. Exit code: 0 when every rule holds, 1 when one does not, 2 when the command was typed wrongly.`;

type Typed = Omit<ConformanceOptions, 'tell'>;

async function optionsOf(args: string[]): Promise<Typed | undefined> {
  const { values } = parseArgs({
    args,
    options: {
      'merchant-api': { type: 'string' },
      'ai-api': { type: 'string' },
      key: { type: 'string' },
      'restricted-key': { type: 'string' },
      world: { type: 'string' },
    },
  });
  if (values.world !== undefined) return worldOptions(values.world);
  const { 'merchant-api': merchantApi, 'ai-api': aiApi, key, 'restricted-key': restrictedKey } = values;
  if (merchantApi === undefined || key === undefined) return undefined;
  return {
    merchantApi: withoutSlash(merchantApi),
    key,
    ...(aiApi === undefined ? {} : { aiApi: withoutSlash(aiApi) }),
    ...(restrictedKey === undefined ? {} : { restrictedKey }),
  };
}

async function worldOptions(path: string): Promise<Typed> {
  const { merchantApi, aiApi, secretKey, restrictedKey } = JSON.parse(await readFile(path, 'utf8'));
  return { merchantApi, aiApi, key: secretKey, restrictedKey };
}

function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '');
}

async function main(): Promise<number> {
  let options: Typed | undefined;
  try {
    options = await optionsOf(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
  }
  if (options === undefined) {
    console.error(usage);
    return 2;
  }
  console.log(
    `Creates products, links, sessions and webhooks for the merchant of this key at ${options.merchantApi}. Their names start with "Conformance".\n`,
  );
  const { failed } = await runConformance({ ...options, tell: console.log });
  return failed === 0 ? 0 : 1;
}

process.exitCode = await main();

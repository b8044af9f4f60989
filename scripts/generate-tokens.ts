// Writes packages/agent/src/known-tokens.gen.ts from packages/protocol/src/known-chain.ts: the published SDK depends on nothing.
//   node scripts/generate-tokens.ts            writes
//   node scripts/generate-tokens.ts --check    exits 1 when the committed file differs from its source
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { knownChains } from '@florin/protocol/known-chain.ts';

const path = 'packages/agent/src/known-tokens.gen.ts';
const file = fileURLToPath(new URL(`../${path}`, import.meta.url));

// Agents choose among tokens that are worth what they say, at addresses that were compared with their issuers'.
const lines = knownChains
  .filter(({ isTestnet }) => isTestnet !== true)
  .flatMap(({ chainId, tokens = [] }) =>
    tokens
      .filter(({ isUnverified }) => isUnverified !== true)
      .map(
        ({ address, decimals, symbol }) =>
          `  { chainId: ${chainId}, address: '${address}', decimals: ${decimals} }, // ${symbol}`,
      ),
  );
const text = `// Written by scripts/generate-tokens.ts.\nexport const generatedTokens = [\n${lines.join('\n')}\n];\n`;
const isStale = readFileSync(file, 'utf8') !== text;
if (process.argv.includes('--check')) {
  if (isStale) console.error(`out of date: ${path}\nrun: npm run generate`);
  process.exitCode = isStale ? 1 : 0;
} else {
  if (isStale) writeFileSync(file, text);
  console.log(`the known tokens, ${isStale ? '1' : '0'} changed`);
}

import { readFileSync } from 'node:fs';
import { type Address, concat, type Hex } from 'viem';

/** Uniswap's Permit2: its address on every chain, and the salt with which Arachnid's deployer creates it. */
export const permit2: { readonly address: Address; readonly salt: Hex } = {
  address: '0x000000000022D473030F116dDEE9F6B43aC78BA3',
  salt: '0x0000000000000000000000000000000000000000d3af2663da51c10215000000',
};

const fixture = new URL('../../contracts/test/fixtures/Permit2.json', import.meta.url);

/** The input with which Arachnid's deployer creates Permit2: Uniswap's own code, which the contracts' tests hold. */
export function permit2Deployment(): Hex {
  const { bytecode } = JSON.parse(readFileSync(fixture, 'utf8')) as { bytecode: Hex };
  return concat([permit2.salt, bytecode]);
}

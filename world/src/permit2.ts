import { readFileSync } from 'node:fs';
import { type Address, bytesToHex, concat, type Hex } from 'viem';

/** Uniswap's Permit2: its address on every chain, and the salt with which Arachnid's deployer creates it. */
export const permit2: { readonly address: Address; readonly salt: Hex } = {
  address: '0x000000000022D473030F116dDEE9F6B43aC78BA3',
  salt: '0x0000000000000000000000000000000000000000d3af2663da51c10215000000',
};

/** Its creation code, as Uniswap deployed it. Its address is a hash of it, so other code would not stand there. */
const code = new URL(
  '../../node_modules/hardhat-predeploy/bin/0x000000000022D473030F116dDEE9F6B43aC78BA3.bytecode',
  import.meta.url,
);

/** The input with which Arachnid's deployer creates Permit2. */
export function permit2Deployment(): Hex {
  return concat([permit2.salt, bytesToHex(readFileSync(code))]);
}

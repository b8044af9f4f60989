import type { Hex } from '@florin/protocol/order.ts';

/** Uniswap's Permit2, at this address on every chain. */
export const permit2Address: Hex = '0x000000000022D473030F116dDEE9F6B43aC78BA3';

/** Arachnid's CREATE2 deployer, at this address on nearly every chain: its input is a salt and the code after it. */
export const create2Deployer: Hex = '0x4e59b44847b379578588920cA78FbF26c0B4956C';

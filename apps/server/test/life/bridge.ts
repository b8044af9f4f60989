import type { Anvil } from '@florin/evm/testing';
import { microUsd } from '@florin/protocol/money.ts';
import type { Hex } from '@florin/protocol/order.ts';
import {
  deriveRoles,
  type LocalAttester,
  planLinks,
  planLocalCircle,
  startLocalAttester,
  TEST_MNEMONIC,
} from '@florin/world';
import type { CctpContracts, Chain } from '#chains/chain.ts';
import { deploymentCall, planContract, planContracts } from '#contracts/contract-plan.ts';
import { deployOperator } from './operator.ts';

/** The stand-ins for Circle's contracts; anvil's own first account owns them, as it does everything of a story. */
const roles = deriveRoles(TEST_MNEMONIC);
const circle = planLocalCircle(roles);

/** What a story's chain with CCTP stands on. */
export interface Bridge {
  readonly gateway: Hex;
  readonly vault: Hex;
  readonly usdc: Hex;
  readonly cctp: CctpContracts;
}

/** Puts Circle's stand-ins and our contracts with a route on a chain, and lets its USDC be burnt and minted. */
export async function deployBridge(
  send: (request: { to: Hex; data: Hex }) => Promise<unknown>,
  name: string,
  chainId: number,
): Promise<Bridge> {
  const { address: admin } = roles.admin;
  const plan = planContracts(admin, circle.settings);
  const { vault, gateway, cctpRoute } = plan;
  const usdc = planContract('LocalUsdc', { name: 'Test USDC', symbol: 'USDC', minter: admin });
  const domain = circle.settings.domains.find((entry) => entry.chainId === chainId)?.domain;
  if (cctpRoute === undefined || domain === undefined) throw new Error(`no route for chain ${chainId}`);
  await deployOperator(send, plan, admin);
  for (const contract of [cctpRoute, circle.transmitter, circle.messenger, usdc])
    await send(deploymentCall(contract));
  for (const call of planLinks(circle, usdc, chainId)) await send(call);
  const cctp: CctpContracts = {
    domain,
    transmitter: circle.transmitter.address,
    messenger: circle.messenger.address,
    route: cctpRoute.address,
    tokenId: `${name}::usdc`,
    maxPerOrder: microUsd(1_000_000_000n),
  };
  return { gateway: gateway.address, vault: vault.address, usdc: usdc.address, cctp };
}

/** Starts the stand-in for Circle's attestation service over these chains. */
export function startAttester(
  chains: readonly { readonly anvil: Anvil; readonly chain: Chain }[],
): Promise<LocalAttester> {
  return startLocalAttester({
    privateKey: roles.attester.privateKey,
    transmitter: circle.transmitter,
    chains: chains.map(({ anvil, chain }) => ({
      domain: chain.cctp?.domain ?? -1,
      request: (method, params) => anvil.request(method, params),
    })),
  });
}

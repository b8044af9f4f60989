import { type CctpSettings, type PlannedContract, planContract } from '@florin/server/operator';
import { type Address, encodeFunctionData, type Hex, maxUint256, pad, parseUnits } from 'viem';
import type { WorldRoles } from './home.ts';
import { localChains } from './local-chain.ts';

/** Circle's contracts of the local chains: the simulated ones of contracts/local, at the same addresses on each. */
export interface LocalCircle {
  readonly transmitter: PlannedContract;
  readonly messenger: PlannedContract;
  /** The settings of the CCTP route between these chains. */
  readonly settings: CctpSettings;
}

const DOMAINS: CctpSettings['domains'] = localChains.flatMap(({ chainId, cctpDomain }) =>
  cctpDomain === undefined ? [] : [{ chainId, domain: cctpDomain }],
);
const BURN_LIMIT = '10000000';
const USDC_DECIMALS = 6;

/** The simulated contracts, with the world's admin as owner and its attester instead of Circle's. */
export const planLocalCircle = ({ admin, attester }: WorldRoles): LocalCircle => {
  const transmitter = planContract('LocalMessageTransmitter', {
    owner: admin.address,
    attester: attester.address,
    chains: DOMAINS.map(({ chainId }) => BigInt(chainId)),
    domains: DOMAINS.map(({ domain }) => domain),
  });
  const messenger = planContract('LocalTokenMessenger', {
    owner: admin.address,
    localMessageTransmitter: transmitter.address,
  });
  return { transmitter, messenger, settings: { tokenMessenger: messenger.address, domains: DOMAINS } };
};

/** The admin's calls that enable burning and minting a chain's USDC. The last one's effect shows that all are done. */
export const planLinks = (
  { messenger }: LocalCircle,
  usdc: PlannedContract,
  chainId: number,
): { what: string; to: Address; data: Hex }[] => {
  const call = (
    { name, address, artifact }: PlannedContract,
    functionName: string,
    args: readonly unknown[],
  ) => ({
    what: `${functionName} of ${name}`,
    to: address,
    data: encodeFunctionData({ abi: artifact.abi, functionName, args }),
  });
  const remotes = DOMAINS.filter((entry) => entry.chainId !== chainId);
  return [
    call(usdc, 'configureMinter', [messenger.address, maxUint256]),
    ...remotes.map(({ domain }) =>
      // The token has the same address on every local chain.
      call(messenger, 'linkTokenPair', [usdc.address, domain, pad(usdc.address)]),
    ),
    call(messenger, 'setMaxBurnAmountPerMessage', [usdc.address, parseUnits(BURN_LIMIT, USDC_DECIMALS)]),
  ];
};

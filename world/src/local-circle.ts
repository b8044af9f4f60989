import { type CctpSettings, type PlannedContract, planContract } from '@florin/cli';
import { type Address, encodeFunctionData, type Hex, maxUint256, pad, parseUnits } from 'viem';
import type { WorldRoles } from './home.ts';

/** Circle's contracts of the local chains: the stand-ins of contracts/local, at the same addresses on each. */
export interface LocalCircle {
  readonly transmitter: PlannedContract;
  readonly messenger: PlannedContract;
  /** What the route of these chains is made from. */
  readonly settings: CctpSettings;
}

/** Circle's number of each local chain, as its real counterpart has it. */
const DOMAINS: CctpSettings['domains'] = [
  { chainId: 31_337, domain: 0 },
  { chainId: 31_338, domain: 6 },
];
const BURN_LIMIT = '10000000';
const USDC_DECIMALS = 6;

/** The stand-ins, with the world's admin as their owner and its attester in place of Circle's. */
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

/** The admin's calls that let a chain's USDC be burnt and minted; the last one's effect is the sign of them all. */
export const planLinks = (
  { messenger }: LocalCircle,
  usdc: PlannedContract,
  chainId: number,
): { to: Address; data: Hex }[] => {
  const call = ({ address, artifact }: PlannedContract, functionName: string, args: readonly unknown[]) => ({
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

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Artifact,
  create2Deployer,
  deploymentCall,
  type PlannedContract,
  planContract,
  planContracts,
  roleSettings,
} from '@florin/server/operator';
import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  parseUnits,
  zeroAddress,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Anvil } from './anvil.ts';
import { AnvilRpcError } from './anvil-process.ts';
import type { WorldRoles } from './home.ts';
import { cctpTokenKey, type LocalToken, localChains } from './local-chain.ts';
import { type LocalCircle, planLinks, planLocalCircle } from './local-circle.ts';
import { permit2, permit2Deployment } from './permit2.ts';

/** A token as the service's configuration names it. */
export interface ConfigToken {
  readonly tokenId: string;
  readonly address: `0x${string}`;
  readonly symbol: string;
  readonly name: string;
  readonly decimals: number;
  /** The signatures that move it; the service's start compares them with the chain. */
  readonly permits: readonly ('eip2612' | 'eip3009' | 'permit2')[];
}

/** The simulated Circle contracts of a chain, as the service's configuration names them. */
export interface ConfigCctp {
  readonly domain: number;
  readonly transmitter: `0x${string}`;
  readonly messenger: `0x${string}`;
  readonly route: `0x${string}`;
  readonly tokenId: string;
}

/** The contracts of one chain and its tokens. */
export interface ChainDeployment {
  readonly gateway: Address;
  readonly vault: Address;
  readonly tokens: readonly ConfigToken[];
  /** Absent where the chain has no CCTP. */
  readonly cctp?: ConfigCctp;
}

interface Call {
  /** What the call does, for the message of one that reverts. */
  readonly what: string;
  readonly to: Address;
  readonly data: Hex;
  readonly gas: bigint;
}

const VAULT_FLOAT = '1000000';
const CAP_PER_ORDER = '100000';
const CAP_PER_HOUR = '1000000';
const CAP_PER_DAY = '1000000';
const PAYER_FUNDS = '10000';
/** The settler's funds, with which the service completes deposits that are short within a link's tolerance. */
const SETTLER_FUNDS = '100';
const DEPLOY_GAS = 12_000_000n;
const CALL_GAS = 200_000n;
const MAX_FEE_PER_GAS = 10_000_000_000n;
const PRIORITY_FEE_PER_GAS = 1_000_000_000n;
const BLOCK_LIMIT = 20;
const MINING_LIMIT_MS = 600_000;
const MINING_PAUSE_MS = 500;
/** anvil forgets waiting transactions that do not fit into its block of 30 million gas. */
const BLOCK_GAS = 28_000_000n;

const deployCall = (contract: PlannedContract): Call => ({
  what: `the deployment of ${contract.name}`,
  ...deploymentCall(contract),
  gas: DEPLOY_GAS,
});

const hasCode = async (chain: Anvil, address: Address): Promise<boolean> =>
  (await chain.rpc('eth_getCode', [address, 'latest'])) !== '0x';

const countTransactions = async (chain: Anvil, address: Address, tag: string): Promise<number> =>
  Number(await chain.rpc('eth_getTransactionCount', [address, tag]));

/**
 * Sends the calls in order from one account and mines until all are done, and sends again what the node forgot. Throws
 * when one reverts. The limit is for a chain that mines nothing: a slow machine takes its time.
 */
const sendAll = async (chain: Anvil, role: WorldRoles['admin'], calls: readonly Call[]): Promise<void> => {
  const account = privateKeyToAccount(role.privateKey);
  const first = await countTransactions(chain, account.address, 'latest');
  const raws = await Promise.all(
    calls.map(({ to, data, gas }, index) =>
      account.signTransaction({
        ...{ to, data, gas },
        type: 'eip1559',
        chainId: chain.chainId,
        nonce: first + index,
        maxFeePerGas: MAX_FEE_PER_GAS,
        maxPriorityFeePerGas: PRIORITY_FEE_PER_GAS,
      }),
    ),
  );
  const hashes = await Promise.all(raws.map((raw) => chain.rpc('eth_sendRawTransaction', [raw])));
  const deadlineMs = performance.now() + MINING_LIMIT_MS;
  for (;;) {
    await chain.mine();
    const receipts = (await Promise.all(
      hashes.map((hash) => chain.rpc('eth_getTransactionReceipt', [hash])),
    )) as ({
      status: string;
    } | null)[];
    const failed = receipts.findIndex((receipt) => receipt !== null && receipt.status !== '0x1');
    if (failed !== -1)
      throw new Error(
        `${chain.name}: ${calls[failed]?.what} reverted (transaction ${String(hashes[failed])}).`,
      );
    if (receipts.every((receipt) => receipt !== null)) return;
    if (performance.now() > deadlineMs)
      throw new Error(
        `${chain.name}: the set-up transactions were not mined within ${MINING_LIMIT_MS / 60_000} minutes. ` +
          'Run npm start again: it continues where it stopped. If that does not help, see its anvil.log in the chain’s folder of FLORIN_HOME (.florin).',
      );
    await sendAgain(
      chain,
      raws.filter((_, index) => receipts[index] === null),
    );
    await sleep(MINING_PAUSE_MS);
  }
};

/** Sends transactions that have no receipt; those that still wait are refused as known. */
const sendAgain = async (chain: Anvil, raws: readonly Hex[]): Promise<void> => {
  for (const raw of raws) {
    await chain.rpc('eth_sendRawTransaction', [raw]).catch((error: unknown) => {
      if (!(error instanceof AnvilRpcError)) throw error;
    });
  }
};

/** The calls in their order, parted so that each part fits into one block. */
const fittingCalls = (calls: readonly Call[]): Call[][] => {
  const parts: Call[][] = [];
  let gas = BLOCK_GAS;
  for (const call of calls) {
    if (gas + call.gas > BLOCK_GAS) {
      parts.push([]);
      gas = 0n;
    }
    parts.at(-1)?.push(call);
    gas += call.gas;
  }
  return parts;
};

/** Finishes the transactions of a killed set-up, so that they are not sent twice. */
const mineWaiting = async (chain: Anvil, address: Address): Promise<void> => {
  for (let block = 0; block < BLOCK_LIMIT; block += 1) {
    const mined = await countTransactions(chain, address, 'latest');
    if ((await countTransactions(chain, address, 'pending')) === mined) return;
    await chain.mine();
  }
};

const planFunding = (
  plan: LocalToken,
  artifact: Artifact,
  token: Address,
  recipients: readonly (readonly [to: Address, amount: string])[],
): Call[] => {
  const call = (functionName: string, args: readonly unknown[]): Call => ({
    what: `${functionName} of ${plan.symbol}`,
    to: token,
    data: encodeFunctionData({ abi: artifact.abi, functionName, args }),
    gas: CALL_GAS,
  });
  const units = (amount: string): bigint => parseUnits(amount, plan.decimals);
  if (plan.artifact !== 'LocalUsdt')
    return recipients.map(([to, amount]) => call('mint', [to, units(amount)]));
  // Like the real one, it mints only to its owner, who distributes the tokens.
  const total = recipients.reduce((sum, [, amount]) => sum + units(amount), 0n);
  return [call('issue', [total]), ...recipients.map(([to, amount]) => call('transfer', [to, units(amount)]))];
};

/** A token of a chain and its contract. */
interface PlannedToken {
  readonly plan: LocalToken;
  readonly contract: PlannedContract;
}

/** Whether a contract read returns anything except zero. */
const isSet = async (
  chain: Anvil,
  { address, artifact }: PlannedContract,
  functionName: string,
  args: readonly unknown[],
): Promise<boolean> => {
  const call = { abi: artifact.abi, functionName, args };
  const result = (await chain.rpc('eth_call', [
    { to: address, data: encodeFunctionData(call) },
    'latest',
  ])) as Hex;
  const value = decodeFunctionResult({ ...call, data: result });
  return value !== 0n && value !== zeroAddress;
};

/** The contracts and tokens of a chain. What two chains have in common is at the same address on both. */
const planWorld = (chain: Anvil, roles: WorldRoles) => {
  const plans = localChains.find(({ chainId }) => chainId === chain.chainId)?.tokens;
  if (plans === undefined) throw new Error(`No tokens are planned for the chain ${chain.name}.`);
  const { admin } = roles;
  const circle = planLocalCircle(roles);
  const { factory, gateway, vault, cctpRoute } = planContracts(admin.address, circle.settings);
  const tokens = plans.map((plan) => {
    const contract = planContract(plan.artifact, {
      ...{ name: plan.name, symbol: plan.symbol, minter: admin.address },
    });
    return { plan, contract };
  });
  const cctp = planCctp(chain, circle, cctpRoute, tokens);
  const bridge = cctp === undefined ? [] : [cctp.route, circle.transmitter, circle.messenger];
  // The factory makes the vault together with the gateway.
  const contracts = [factory, gateway, ...bridge, ...tokens.map(({ contract }) => contract)];
  return { vault, gateway, cctp, circle, tokens, contracts };
};

/** What CCTP needs on a chain: undefined for one that Circle does not number or that has no USDC. */
const planCctp = (
  { chainId }: Anvil,
  { settings }: LocalCircle,
  route: PlannedContract | undefined,
  tokens: readonly PlannedToken[],
) => {
  const domain = settings.domains.find((entry) => entry.chainId === chainId)?.domain;
  const usdc = tokens.find(({ plan }) => plan.key === cctpTokenKey);
  return domain === undefined || usdc === undefined || route === undefined
    ? undefined
    : { domain, usdc, route };
};

/** The calls with which the admin, who is the operator, sets up gateway and vault. */
const planSetup = (gateway: PlannedContract, vault: PlannedContract, roles: WorldRoles): Call[] => {
  const { orderSigner, settler, guardian, feeRecipient } = roles;
  const keys = {
    ...{ orderSigner: orderSigner.address, settler: settler.address },
    ...{ guardian: guardian.address, feeRecipient: feeRecipient.address },
  };
  const places = { gateway: gateway.address, vault: vault.address };
  return roleSettings(places, keys).map(({ to, data }, index) => ({
    what: `setting ${index} of the roles`,
    to,
    data,
    gas: CALL_GAS,
  }));
};

/** The calls that fund a token's payers, the settler and the vault, and open the vault for it. */
const planToken = (
  vault: PlannedContract,
  { plan, contract }: PlannedToken,
  { payers, settler }: Pick<WorldRoles, 'payers' | 'settler'>,
): Call[] => {
  const caps = [CAP_PER_ORDER, CAP_PER_HOUR, CAP_PER_DAY].map((cap) => parseUnits(cap, plan.decimals));
  const data = encodeFunctionData({
    ...{ abi: vault.artifact.abi, functionName: 'setCaps', args: [contract.address, ...caps] },
  });
  const people = payers.map((payer) => [payer.address, PAYER_FUNDS] as const);
  return [
    { what: `setCaps for ${plan.symbol}`, to: vault.address, data, gas: CALL_GAS },
    // The vault last: its balance shows that this token is done.
    ...planFunding(plan, contract.artifact, contract.address, [
      ...people,
      [settler.address, SETTLER_FUNDS],
      [vault.address, VAULT_FLOAT],
    ]),
  ];
};

/**
 * Deploys contracts and tokens to a chain, sets the vault's caps, funds the vault and the payers, and lets the
 * simulated Circle burn and mint its USDC where the chain has CCTP. Skips finished steps, so it continues after a kill.
 */
export const deployWorld = async (chain: Anvil, roles: WorldRoles): Promise<ChainDeployment> => {
  const { admin } = roles;
  const { vault, gateway, cctp, circle, tokens, contracts } = planWorld(chain, roles);
  await mineWaiting(chain, admin.address);
  const present = new Set<Address>();
  for (const { address } of contracts) if (await hasCode(chain, address)) present.add(address);
  const calls = contracts.filter(({ address }) => !present.has(address)).map(deployCall);
  if (!(await hasCode(chain, permit2.address)))
    calls.push({
      ...{
        what: 'the deployment of Permit2',
        to: create2Deployer,
        data: permit2Deployment(),
        gas: DEPLOY_GAS,
      },
    });
  // A vault has a guardian once it is set up, and the gateway before it.
  const isSetUp = present.has(gateway.address) && (await isSet(chain, vault, 'guardian', []));
  if (!isSetUp) calls.push(...planSetup(gateway, vault, roles));
  for (const token of tokens) {
    const isPresent = present.has(token.contract.address);
    if (!isPresent || !(await isSet(chain, token.contract, 'balanceOf', [vault.address])))
      calls.push(...planToken(vault, token, roles));
  }
  if (cctp !== undefined) {
    const { messenger } = circle;
    const usdc = cctp.usdc.contract;
    const isOpen = present.has(usdc.address) && present.has(messenger.address);
    if (!isOpen || !(await isSet(chain, messenger, 'burnLimitsPerMessage', [usdc.address])))
      calls.push(...planLinks(circle, usdc, chain.chainId).map((call) => ({ ...call, gas: CALL_GAS })));
  }
  for (const fitting of fittingCalls(calls)) await sendAll(chain, admin, fitting);
  const tokenId = (key: string): string => `${chain.name}::${key}`;
  const deployment: ChainDeployment = {
    gateway: gateway.address,
    vault: vault.address,
    tokens: tokens.map(({ plan, contract: { address } }) => ({
      ...{ tokenId: tokenId(plan.key), address, symbol: plan.symbol, name: plan.name },
      ...{ decimals: plan.decimals, permits: plan.permits },
    })),
  };
  if (cctp === undefined) return deployment;
  const { transmitter, messenger } = circle;
  return {
    ...deployment,
    cctp: {
      ...{ domain: cctp.domain, transmitter: transmitter.address, messenger: messenger.address },
      ...{ route: cctp.route.address, tokenId: tokenId(cctp.usdc.plan.key) },
    },
  };
};

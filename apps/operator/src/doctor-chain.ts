import {
  type BlockHeader,
  countProviders,
  findCursor,
  getBlock,
  type HttpRpc,
  openHttpRpc,
  type Rpc,
  RpcError,
  RpcUnavailable,
  readContract,
  readGasBalance,
} from '@florin/evm';
import type { Queryable } from '@florin/pg';
import { erc20Abi, paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import type { Token } from '@florin/protocol/token.ts';
import {
  type Chain,
  type Chains,
  ChainUnreachable,
  type Clock,
  contractsOf,
  type DepositPolicy,
  finalityText,
  findChainProblems,
  readAdditionBalances,
  type ServiceWallets,
  silentLog,
  singleProviderProblem,
} from '@florin/server/operator';
import { formatEther, formatUnits } from 'viem';
import { examineCatalogue } from './doctor-catalogue.ts';
import { bad, type DoctorFinding, good } from './doctor-finding.ts';

const maxHeadAgeSeconds = 120;
/** Some chains date blocks a few seconds ahead. */
const maxHeadAheadSeconds = 30;
const timeLimitMs = 5_000;

/** Checks a chain: nodes, head, contracts and roles, the wallets' gas, the vault's caps and float. */
export async function examineChain(
  chain: Chain,
  given: {
    readonly clock: Clock;
    /** All configured chains. */
    readonly chains: Pick<Chains, 'all' | 'contractAt'>;
    readonly wallets: ServiceWallets;
    /** Whether gasless payments leave from the order signer's wallet. */
    readonly isOrderSignerRelaying: boolean;
    readonly isLocal: boolean;
    readonly paysOutAcrossChains: boolean;
    /** Absent where deposits are not watched. */
    readonly deposits?: DepositPolicy;
    /** For the wallets' gas use; absent: balances are compared with a fixed reserve. */
    readonly db?: Queryable;
  },
): Promise<DoctorFinding[]> {
  const { clock } = given;
  const rpc = openHttpRpc({
    chainId: chain.chainId,
    urls: chain.rpcUrls,
    clock,
    log: silentLog,
    timeLimitMs,
  });
  const findings: DoctorFinding[] = [...examineCatalogue(chain)];
  try {
    findings.push(...(await examineNodes(chain, rpc, given)));
    findings.push(...(await examineHead(chain, rpc, given)));
    const problems = await findChainProblems(rpc, chain, given.wallets);
    if (problems.length > 0) {
      return [...findings, ...problems.map((detail) => bad(`${chain.name} contracts`, detail))];
    }
    findings.push(good(`${chain.name} contracts`, 'code, tokens and roles are as configured'));
    findings.push(await examinePauses(chain, rpc), await examineFees(chain, rpc, given.chains));
    for (const wallet of sendersOf(given)) findings.push(await examineGas(chain, rpc, wallet, given));
    findings.push(...(await examineAdditions(chain, rpc, given)));
    for (const token of chain.tokens) {
      findings.push(await examineFloat(chain, rpc, { token, isNeeded: given.paysOutAcrossChains }));
    }
  } catch (error) {
    if (
      !(error instanceof ChainUnreachable || error instanceof RpcUnavailable || error instanceof RpcError)
    ) {
      throw error;
    }
    findings.push(bad(`${chain.name} rpc`, error.message));
  } finally {
    await rpc.close();
  }
  return findings;
}

async function examineNodes(chain: Chain, rpc: HttpRpc, given: Surroundings): Promise<DoctorFinding[]> {
  const details = {
    verified: `chain id ${chain.chainId}`,
    wrong_chain: `is not of chain ${chain.chainId}: correct rpcUrls or chainId`,
    unavailable: 'does not answer: correct rpcUrls or start the node',
  };
  const nodes = await rpc.verifyChainId();
  return [
    examineProviders(chain, given),
    ...nodes.map(({ node, state }) => ({
      what: `${chain.name} rpc ${node}`,
      isGood: state === 'verified',
      detail: details[state],
    })),
  ];
}

/** The context for judging a chain's nodes. */
interface Surroundings {
  readonly chains: Pick<Chains, 'all'>;
  /** Play money: a node's error costs no real money. */
  readonly isLocal: boolean;
}

/** A single provider is a risk to report. It is an error where vaults pay out on its word. */
function examineProviders(chain: Chain, { chains, isLocal }: Surroundings): DoctorFinding {
  const problem = isLocal ? undefined : singleProviderProblem(chain, chains);
  if (problem !== undefined) return bad(`${chain.name} providers`, problem);
  const count = countProviders(chain.rpcUrls);
  const policy = `final is ${finalityText(chain.finality)}`;
  const detail =
    count === 1
      ? `only one, which alone decides when a block is final: add a URL of another one to rpcUrls; ${policy}`
      : `${count}; ${policy}`;
  return good(`${chain.name} providers`, detail);
}

async function examineHead(
  chain: Chain,
  rpc: Rpc,
  { clock, db }: { readonly clock: Clock; readonly db?: Queryable },
): Promise<DoctorFinding[]> {
  const what = `${chain.name} head`;
  const head = await getBlock(rpc, 'latest');
  if (head === undefined) return [bad(what, 'the node has no latest block')];
  const ageSeconds = Math.round((clock.now().getTime() - head.time.getTime()) / 1_000);
  const detail = `block ${head.number}, ${ageSeconds} s old`;
  const lag = db === undefined ? [] : await examineLag(chain, db, head);
  if (ageSeconds < -maxHeadAheadSeconds)
    return [bad(what, `${detail}: this machine's clock is behind; synchronize it with NTP`), ...lag];
  if (ageSeconds <= maxHeadAgeSeconds) return [good(what, detail), ...lag];
  return [bad(what, `${detail}: the node is behind, or this machine's clock is ahead`), ...lag];
}

/** How far the service follows the chain; no finding before it starts, or for a halted chain. */
async function examineLag(chain: Chain, db: Queryable, head: BlockHeader): Promise<DoctorFinding[]> {
  const cursor = await findCursor(db, chain.chainId);
  if (cursor === undefined || cursor.haltedReason !== '') return [];
  const what = `${chain.name} lag`;
  const seconds = Math.max(0, Math.round((head.time.getTime() - cursor.headTime.getTime()) / 1_000));
  const detail = `the service is ${seconds} s behind the node`;
  if (seconds <= maxHeadAgeSeconds) return [good(what, detail)];
  return [
    bad(
      what,
      `${detail}: does a process with the role watcher run, and does its log have watcher.rpc_failed?`,
    ),
  ];
}

async function examinePauses(chain: Chain, rpc: Rpc): Promise<DoctorFinding> {
  const paused = [
    ['gateway', await readContract(rpc, chain.gateway, { abi: paymentGatewayAbi, functionName: 'paused' })],
    ['vault', await readContract(rpc, chain.vault, { abi: payoutVaultAbi, functionName: 'paused' })],
  ].flatMap(([contract, isPaused]) => (isPaused === false ? [] : [String(contract)]));
  const what = `${chain.name} pause`;
  if (paused.length === 0) return good(what, 'neither contract is paused');
  return bad(
    what,
    `paused: ${paused.join(' and ')}; the controller can unpause them when the reason is gone`,
  );
}

/** Fees paid to a contract of the installation would count as float, or belong to no account. */
async function examineFees(
  chain: Chain,
  rpc: Rpc,
  chains: Pick<Chains, 'contractAt'>,
): Promise<DoctorFinding> {
  const what = `${chain.name} fees`;
  const abi = paymentGatewayAbi;
  const { gateways } = contractsOf(chain);
  const told = await Promise.all(
    gateways.map(async (gateway) => {
      const to = await readContract(rpc, gateway, { abi, functionName: 'feeRecipient' });
      return { gateway, own: to === undefined ? undefined : chains.contractAt(to) };
    }),
  );
  const wrong = told.find(({ own }) => own !== undefined);
  if (wrong === undefined) return good(what, 'are not sent to a contract of this installation');
  const remedy = 'have its controller call setFeeRecipient with your own wallet';
  return bad(what, `the gateway ${wrong.gateway} sends them to ${wrong.own}: ${remedy}`);
}

interface SendingWallet {
  readonly role: 'settler' | 'order signer';
  readonly address: Hex;
  /** The consequence when its gas is used up. */
  readonly consequence: string;
}

/** The wallets that pay gas. */
function sendersOf(given: {
  readonly wallets: ServiceWallets;
  readonly isOrderSignerRelaying: boolean;
}): readonly SendingWallet[] {
  const { settler, otherSettlers = [], orderSigner } = given.wallets;
  const settlers = [settler, ...otherSettlers].map(
    (address): SendingWallet => ({ role: 'settler', address, consequence: 'without it nothing is settled' }),
  );
  const consequence = 'without it settlers send gasless payments, at 4,500 more gas each';
  return given.isOrderSignerRelaying
    ? [...settlers, { role: 'order signer', address: orderSigner, consequence }]
    : settlers;
}

async function examineGas(
  chain: Chain,
  rpc: Rpc,
  { role, address: wallet, consequence }: SendingWallet,
  { db, clock }: { readonly db?: Queryable; readonly clock: Clock },
): Promise<DoctorFinding> {
  const what = `${chain.name} ${role}`;
  const detailOf = (balance: bigint) => `${wallet} holds ${formatEther(balance)} of the native coin`;
  const asked = { chainId: chain.chainId, wallet, now: clock.now() };
  const { balance, needed } = await readGasBalance({ rpc, ...(db === undefined ? {} : { db }) }, asked);
  if (balance >= needed) return good(what, `${detailOf(balance)}, enough for three days`);
  return bad(
    what,
    `${detailOf(balance)}: send it at least ${formatEther(needed - balance)} for three days' gas; ${consequence}`,
  );
}

/** Settlers pay additions to short deposits from their own tokens. */
async function examineAdditions(
  chain: Chain,
  rpc: Rpc,
  { wallets, deposits }: { readonly wallets: ServiceWallets; readonly deposits?: DepositPolicy },
): Promise<DoctorFinding[]> {
  const { settler, otherSettlers = [] } = wallets;
  const balances = await readAdditionBalances(rpc, chain, [settler, ...otherSettlers], deposits);
  return balances.map(({ token, balance, needed }) => {
    const what = `${token.tokenId} additions`;
    const shown = (units: bigint) => formatUnits(units, token.decimals);
    const detail = `settlers hold ${shown(balance)} for additions to short deposits, of at most ${shown(needed)} a day`;
    if (balance >= needed) return good(what, detail);
    return bad(
      what,
      `${detail}: send ${shown(needed - balance)} to ${settler}, or short deposits wait and go back`,
    );
  });
}

async function examineFloat(
  chain: Chain,
  rpc: Rpc,
  { token, isNeeded }: { readonly token: Token; readonly isNeeded: boolean },
): Promise<DoctorFinding> {
  const { vault } = chain;
  const [caps, float] = await Promise.all([
    readContract(rpc, vault, { abi: payoutVaultAbi, functionName: 'capsOf', args: [token.address] }),
    readContract(rpc, token.address, { abi: erc20Abi, functionName: 'balanceOf', args: [vault] }),
  ]);
  const what = `${token.tokenId} vault`;
  if (caps === undefined || float === undefined) return bad(what, 'caps and float cannot be read');
  const shown = (units: bigint) => formatUnits(units, token.decimals);
  const detail = `float ${shown(float)}, caps ${shown(caps.perOrder)} per order, ${shown(caps.hourly)} per hour, ${shown(caps.daily)} per day`;
  if (!isNeeded) return good(what, detail);
  if (caps.perOrder === 0n || caps.hourly === 0n || caps.daily === 0n) {
    return bad(what, `${detail}: call setCaps as the vault's controller, or payments from other chains wait`);
  }
  if (float < caps.perOrder) {
    return bad(what, `${detail}: the float is less than one order's cap, send tokens to ${vault}`);
  }
  return good(what, detail);
}

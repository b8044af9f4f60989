import type { ReplyTo } from '../api/call.ts';
import { formatNumber } from '../ui/format.ts';
import { lastingText, secondsBetween } from './figure.ts';
import { type Trouble, troubles } from './trouble.ts';

export type Health = ReplyTo<'GET /staff/health'>;
export type ChainHealth = Health['chains'][number];
export type ChainNodes = ReplyTo<'GET /staff/node/list'>['chains'][number];
export type TokenState = ReplyTo<'GET /staff/token/list'>['tokens'][number];
export type ServiceFunds = ReplyTo<'GET /staff/wallet/list'>;

/** Something that an operator should look at, with what to do about it. */
export interface Problem {
  readonly key: string;
  readonly trouble: Trouble;
  readonly title: string;
  readonly text: string;
  /** The operator's screen that shows it. */
  readonly screen: string;
}

/** A transaction that no block has after this long does not move by itself. */
const slowTransactionSeconds = 600;
const secondsPerDay = 86_400;
/** A mail server that takes no e-mail for this long is not only slow. */
const slowMailSeconds = 1_800;

interface Known {
  readonly health: Health;
  /** Undefined until they are known. */
  readonly nodes: readonly ChainNodes[] | undefined;
  readonly funds: ServiceFunds | undefined;
  readonly tokens: readonly TokenState[] | undefined;
}

/** Everything that is wrong as far as it is known, the worst first. */
export function findProblems({ health, nodes = [], funds, tokens = [] }: Known): readonly Problem[] {
  const problems = [
    ...health.chains.flatMap((chain) => chainProblems(chain, health.at, nodes)),
    ...health.chains.flatMap(bookProblems),
    ...nodes.flatMap(nodeProblems),
    ...(funds === undefined ? [] : [...walletProblems(funds), ...vaultProblems(funds)]),
    ...workProblems(health),
    ...tokens.flatMap(tokenProblems),
  ];
  return [
    ...problems.filter(({ trouble }) => troubles[trouble].tone === 'bad'),
    ...problems.filter(({ trouble }) => troubles[trouble].tone === 'warn'),
  ];
}

const paymentReasons: Readonly<Record<string, string>> = {
  chain_halted: 'Its watcher is halted.',
  chain_lagging: 'Its blocks come late. Payments are taken and need longer.',
  chain_not_followed: 'The watcher has read none of its blocks yet.',
  chain_unreachable: 'No node has answered for 20 seconds. New payments are refused.',
  chain_unverified:
    'It differs from the configuration, or was not compared with it yet. New payments are refused.',
};

/** A chain whose newest block is older than this gets no blocks; a younger one has slow finality. */
const idleChainSeconds = 60;

/** Blocks that the watcher may be behind a node of an idle-looking chain, while both are read. */
const blocksBehind = 5n;

/** Why payments on a chain are late or refused, in words. */
function paymentReason(chain: ChainHealth, at: string, nodes: readonly ChainNodes[]): string {
  const { paymentsReason, headAt, finalAt } = chain;
  const said = paymentReasons[paymentsReason] ?? paymentsReason;
  if (paymentsReason !== 'chain_lagging') return said;
  const headAge = secondsBetween(headAt, at) ?? 0;
  if (headAge > idleChainSeconds) {
    const since = `since ${headAt.slice(11, 19)} UTC, ${lastingText(headAge)} ago`;
    const ahead = nodeAhead(chain, nodes);
    return ahead === undefined
      ? `No new block ${since}. Payments are taken, and nothing settles until blocks come.`
      : `No block was read ${since}, and ${ahead} has newer ones. No watcher runs, or answers of the node are false and refused: ` +
          'the log says which. Payments are taken, and are seen once blocks are read.';
  }
  const behind = lastingText(secondsBetween(finalAt, headAt) ?? 0);
  return `Its final block is ${behind} behind its head, more than usual. Payments are taken and need longer.`;
}

/** A node that has blocks which the watcher has not read. */
function nodeAhead({ chainId, headNumber }: ChainHealth, chains: readonly ChainNodes[]): string | undefined {
  const { nodes = [] } = chains.find((each) => each.chainId === chainId) ?? {};
  return nodes.find((each) => BigInt(each.headNumber || 0) > BigInt(headNumber) + blocksBehind)?.node;
}

const stopReasons: Readonly<Record<string, string>> = {
  drift: 'The ledger and the chain differ. Nothing is settled or paid out on it.',
  restored: 'The database was restored. Nothing is settled or paid out until you release it.',
  halted: 'Its watcher is halted. Nothing is settled or paid out on it.',
};

/** Why nothing is settled on a chain, in words. */
export function stopReason(reason: string): string {
  return stopReasons[reason] ?? reason;
}

export function stopTrouble(reason: string): Trouble {
  if (reason === 'halted') return 'stoppedByHalt';
  return reason === 'restored' ? 'stoppedByRestore' : 'stoppedByDifference';
}

/** Empty: all is well. */
export function chainProblems(chain: ChainHealth, at: string, nodes: readonly ChainNodes[]): Problem[] {
  const about = { screen: 'chains' } as const;
  const key = `chain ${chain.chain}`;
  if (chain.haltedReason !== '') {
    const title = `${chain.chain} is halted`;
    const resuming = 'The watcher looks for the last block that the chain still has.';
    const text = chain.isResuming ? `${chain.haltedReason}. ${resuming}` : chain.haltedReason;
    return [{ key, trouble: 'chainHalted', title, text, ...about }];
  }
  const found: Problem[] = [];
  if (chain.payments !== 'available') {
    found.push({
      key,
      trouble: chain.payments === 'unavailable' ? 'chainUnavailable' : 'chainLate',
      title: chain.payments === 'unavailable' ? `${chain.chain} takes no payments` : `${chain.chain} is late`,
      text: paymentReason(chain, at, nodes),
      ...about,
    });
  }
  if (chain.settlement === 'stopped') {
    found.push({
      key: `settlement ${chain.chain}`,
      trouble: stopTrouble(chain.settlementReason),
      title: `${chain.chain} settles nothing`,
      text: stopReason(chain.settlementReason),
      screen: 'books',
    });
  }
  return found;
}

function bookProblems({ chain, settlement, balances }: ChainHealth): Problem[] {
  // A chain that is stopped for its books is told once.
  if (settlement === 'stopped') return [];
  return balances
    .filter(({ difference }) => difference !== '0')
    .map(({ holder, token }) => ({
      key: `books ${holder} ${token}`,
      trouble: 'booksDiffer',
      title: `The books of ${chain} differ`,
      text: `Ledger and chain differ for ${token} (${holder}). The next comparison decides.`,
      screen: 'books',
    }));
}

/** Whether no node of a chain is of use. */
export function isWithoutNode(nodes: ChainNodes['nodes']): boolean {
  return nodes.every(({ problem }) => problem !== '');
}

/** A chain without a usable node is told once, and each node that fails beside others. */
export function nodeProblems({ chain, nodes }: ChainNodes): Problem[] {
  const about = { screen: 'chains' } as const;
  if (isWithoutNode(nodes)) {
    const text = 'None of its nodes gives an answer.';
    return [
      { key: `nodes ${chain}`, trouble: 'chainWithoutNode', title: `${chain} has no node`, text, ...about },
    ];
  }
  return nodes
    .filter(({ problem }) => problem !== '')
    .map(({ node, problem }) => ({
      key: `node ${chain} ${node}`,
      trouble: 'nodeFails',
      title: `A node of ${chain} fails`,
      text: `${node}: ${problem}`,
      ...about,
    }));
}

/** What is wrong with a wallet's gas; undefined where it suffices. */
export function gasTrouble({
  balance,
  needed,
  secondsLeft,
}: ServiceFunds['wallets'][number]): 'gasOut' | 'gasLow' | 'gasUnknown' | undefined {
  if (balance === '' || needed === '') return 'gasUnknown';
  if (BigInt(balance) === 0n) return 'gasOut';
  if (BigInt(balance) >= BigInt(needed)) return undefined;
  return secondsLeft >= 0 && secondsLeft < secondsPerDay ? 'gasOut' : 'gasLow';
}

function walletProblems({ wallets }: ServiceFunds): Problem[] {
  return wallets.flatMap((wallet) => {
    const trouble = gasTrouble(wallet);
    if (trouble === undefined) return [];
    const { chain, role, address, secondsLeft } = wallet;
    const isUnknown = trouble === 'gasUnknown';
    const lasts = secondsLeft < 0 ? 'It lasts for an unknown time.' : `It lasts ${lastingText(secondsLeft)}.`;
    return {
      key: `gas ${chain} ${address} ${role}`,
      trouble,
      title: isUnknown ? `Gas on ${chain} is unknown` : `Gas on ${chain} runs out`,
      text: isUnknown ? `No node says what the ${role} holds.` : `The ${role} holds too little. ${lasts}`,
      screen: 'funds',
    };
  });
}

/** What is wrong with a vault: without float it pays nothing, with less than a cap not every order. Undefined: nothing. */
export function vaultTrouble({
  cap,
  float,
}: ServiceFunds['vaults'][number]): 'vaultEmpty' | 'vaultLow' | 'vaultUnknown' | undefined {
  if (cap === '' || float === '') return 'vaultUnknown';
  // A cap of zero forbids the token on purpose.
  if (BigInt(cap) === 0n || BigInt(float) >= BigInt(cap)) return undefined;
  return BigInt(float) === 0n ? 'vaultEmpty' : 'vaultLow';
}

const vaultStates = { vaultEmpty: 'empty', vaultLow: 'low', vaultUnknown: 'unknown' } as const;

function vaultProblems({ vaults }: ServiceFunds): Problem[] {
  return vaults.flatMap((vault) => {
    const trouble = vaultTrouble(vault);
    if (trouble === undefined) return [];
    return {
      key: `vault ${vault.tokenId}`,
      trouble,
      title: `The vault of ${vault.tokenId} is ${vaultStates[trouble]}`,
      text:
        trouble === 'vaultUnknown'
          ? 'It has not answered since the service started.'
          : 'Payments on another chain or in another token that settle in it wait for its float, unless CCTP takes them.',
      screen: 'funds',
    };
  });
}

function tokenProblems({ tokenId, isStopped, isPaused }: TokenState): Problem[] {
  const about = { key: `token ${tokenId}`, screen: 'tokens' } as const;
  const paused: Problem = {
    ...about,
    trouble: 'tokenPaused',
    title: `${tokenId} is paused by its issuer`,
    text: 'Its transfers fail. No new orders are taken in it until it moves again, and settlements in it wait.',
  };
  const stopped: Problem = {
    ...about,
    key: `stopped ${tokenId}`,
    trouble: 'tokenStopped',
    title: `${tokenId} is stopped`,
    text: 'No new orders are taken in it. Signed orders stay payable.',
  };
  return [...(isPaused ? [paused] : []), ...(isStopped ? [stopped] : [])];
}

/** Whether no block has the transaction for longer than is usual. */
export function isSlow(
  { minedHash, createAt }: Pick<Health['transactions'][number], 'minedHash' | 'createAt'>,
  at: string,
): boolean {
  return minedHash === '' && (secondsBetween(createAt, at) ?? 0) > slowTransactionSeconds;
}

/** Why every node refuses the newest attempt of a transaction that no block has; undefined where a node has it. */
export function refusalOf({
  minedHash,
  attempts: [latest],
}: Pick<Health['transactions'][number], 'minedHash' | 'attempts'>): string | undefined {
  return minedHash === '' && latest !== undefined && latest.refusal !== '' ? latest.refusal : undefined;
}

function workProblems(health: Health): Problem[] {
  const { at, settlements, transactions, deliveries, exceptionsForPeople, mails } = health;
  const held = settlements.filter(({ nextAt }) => nextAt === '').length;
  // What the limit keeps from a higher fee is refused for it as well; the limit is what an operator can change.
  const capped = transactions.filter(({ isCapped }) => isCapped).length;
  const others = transactions.filter(({ isCapped }) => !isCapped);
  const refusals = others.flatMap((sent) => refusalOf(sent) ?? []);
  const slow = others.filter((sent) => refusalOf(sent) === undefined && isSlow(sent, at)).length;
  const delayed = settlements.length - held;
  const work: (Problem | undefined)[] = [
    problemIf(held, {
      key: 'held',
      trouble: 'settlementHeld',
      title: counted(held, 'settlement waits for you', 'settlements wait for you'),
      text: 'A cap of the configuration holds it until a person releases it.',
      screen: 'settlements',
    }),
    problemIf(refusals.length, {
      key: 'refused',
      trouble: 'transactionRefused',
      title: counted(
        refusals.length,
        'transaction is refused by the node',
        'transactions are refused by the node',
      ),
      text: `${refusals[0]}. The service tries again, with a higher fee where its limit allows.`,
      screen: 'settlements',
    }),
    problemIf(capped, {
      key: 'capped',
      trouble: 'transactionCapped',
      title: counted(capped, 'transaction waits at the fee limit', 'transactions wait at the fee limit'),
      text: 'Blocks ask for more than settlement.maxFeePerGasGwei allows. It goes on once they ask for less, or once you raise the limit.',
      screen: 'settlements',
    }),
    problemIf(slow, {
      key: 'slow',
      trouble: 'transactionNotMined',
      title: counted(slow, 'transaction gets into no block', 'transactions get into no block'),
      text: `Sent more than ${lastingText(slowTransactionSeconds)} ago. The fee may be too low, or the chain stands still.`,
      screen: 'settlements',
    }),
    problemIf(delayed, {
      key: 'delayed',
      trouble: 'settlementDelayed',
      title: counted(delayed, 'settlement is delayed', 'settlements are delayed'),
      text: 'The service tries again by itself.',
      screen: 'settlements',
    }),
    problemIf(deliveries.pausedWebhooks, {
      key: 'paused',
      trouble: 'webhookPaused',
      title: counted(deliveries.pausedWebhooks, 'webhook is paused', 'webhooks are paused'),
      text: 'Receivers failed for too long. The merchants start them again.',
      screen: 'backlog',
    }),
    problemIf(deliveries.failingWebhooks, {
      key: 'failing',
      trouble: 'webhookFails',
      title: counted(deliveries.failingWebhooks, 'webhook fails', 'webhooks fail'),
      text: 'Their receivers have taken nothing for more than an hour. If they are of many merchants, look at this network first.',
      screen: 'backlog',
    }),
    problemIf(isMailStuck(health) ? mails.waiting : 0, {
      key: 'mails',
      trouble: 'mailWaits',
      title: counted(mails.waiting, 'e-mail waits', 'e-mails wait'),
      text: `The mail server has taken none for ${lastingText(slowMailSeconds)} or longer.`,
      screen: 'e-mails',
    }),
    problemIf(exceptionsForPeople, {
      key: 'exceptions',
      trouble: 'exceptionOpen',
      title: counted(exceptionsForPeople, 'exception needs a person', 'exceptions need a person'),
      text: 'Merchants decide about them, or the money did not go back by itself.',
      screen: 'all-exceptions',
    }),
  ];
  return work.filter((problem) => problem !== undefined);
}

/** Whether no e-mail has gone out since the oldest one that waits was stored. */
function isMailStuck({ at, mails: { oldestAt, lastSentAt } }: Health): boolean {
  return (secondsBetween(oldestAt, at) ?? 0) > slowMailSeconds && lastSentAt < oldestAt;
}

function problemIf(count: number, problem: Problem): Problem | undefined {
  return count > 0 ? problem : undefined;
}

function counted(count: number, one: string, many: string): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

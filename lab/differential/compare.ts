import type { Database } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import { execute } from '../simulation/contract-model.ts';
import {
  balanceOf,
  type CallContext,
  type CallResult,
  type ContractState,
  emptyState,
  funded,
} from '../simulation/contract-state.ts';
import { seededRandom } from '../simulation/seeded-random.ts';
import { Books } from './books.ts';
import { bigints, type Operation, Operations } from './operations.ts';
import { type RealChain, type RealResult, realChainId } from './real-chain.ts';

/** The result of one sequence. */
export interface ModelComparison {
  readonly seed: number;
  readonly steps: number;
  readonly succeeded: number;
  /** Number of calls by call and outcome. */
  readonly outcomes: ReadonlyMap<string, number>;
  /** The first differences between the model and the contracts. Empty when there are none. */
  readonly differences: readonly string[];
}

const stepsOfSequence = 24;
const burnLimit = 10n ** 13n;
const usdcCap = { perOrder: 10n ** 11n, hourly: 10n ** 12n, daily: 10n ** 12n };
const euroCap = { perOrder: 10n ** 11n, hourly: 3n * 10n ** 11n, daily: 5n * 10n ** 11n };

/**
 * Runs one random sequence of calls on the contracts and on the model. After each call it compares the contracts with
 * the model and with production's books.
 */
export async function compareSequence(
  chain: RealChain,
  db: Database,
  seed: number,
  tell: (line: string) => void = () => {},
): Promise<ModelComparison> {
  const random = seededRandom(seed);
  const operations = new Operations(chain, random.fork('operations'), `sequence ${seed}`);
  let timeSeconds = await chain.restart();
  const party = random.fork('fee recipient');
  const feeRecipient = party.chance(0.3) ? chain.vault : chain.roles.feeRecipient.address;
  if (feeRecipient === chain.vault) await chain.setFeeRecipient(feeRecipient);
  const context = { ...contextOf(chain, operations), feeRecipient };
  const books = await Books.open(chain, random.fork('books'), db, seed);
  let state = await openingState(chain, operations.holders());
  const outcomes = new Map<string, number>();
  let succeeded = 0;
  for (let step = 1; step <= stepsOfSequence; step += 1) {
    timeSeconds += random.pick([1, 12, 60, 600, 600, 3_700, 8_000, 30_000, 60_000, 100_000]);
    const operation = await operations.next(timeSeconds);
    const real = await chain.execute(operation, timeSeconds);
    const model = execute({ ...context, timeSeconds }, state, operation);
    const before = state;
    if ('state' in model) state = model.state;
    if (real.reverted === '') succeeded += 1;
    await books.take(real, timeSeconds);
    const outcome = `${operation.label.split(' ')[0]} ${real.reverted === '' ? logNames(model) : real.reverted}`;
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    tell(`${step} ${operation.label} by ${operation.from}: ${real.reverted || 'done'}`);
    const differences = [
      ...resultDifferences(chain, real, model),
      ...(await balanceDifferences(chain, operations.holders(), before, state, step === stepsOfSequence)),
      ...(await books.differences()),
    ];
    if (differences.length > 0) {
      const place = `step ${step}, ${operation.label} of ${textOf(operation)} at ${timeSeconds}`;
      return { seed, steps: step, succeeded, outcomes, differences: [place, ...differences] };
    }
  }
  return { seed, steps: stepsOfSequence, succeeded, outcomes, differences: [] };
}

function logNames(result: CallResult): string {
  return 'state' in result ? [...new Set(result.logs.map(({ name }) => name))].join('+') || 'done' : 'done';
}

function textOf({ from, to, data }: Operation): string {
  return `${from} to ${to}: ${data}`;
}

function contextOf(
  chain: RealChain,
  operations: Operations,
): Omit<CallContext, 'timeSeconds' | 'feeRecipient'> {
  const { roles, gateway, vault, route, transmitter, messenger, tokens } = chain;
  const domains = new Map([
    [31_337n, 0],
    [31_338n, 6],
  ]);
  return {
    ...{ chainId: realChainId, gateway, vault, tokens, isIdempotent: true },
    ...{ leastSecondsToSettle: 172_800, settlersOnlySeconds: 86_400 },
    orderSigner: roles.orderSigner.address,
    settler: roles.settler.address,
    admin: roles.admin.address,
    guardian: roles.guardian.address,
    otherSettlers: [chain.batcher],
    batcher: chain.batcher,
    circle: { domain: 0, transmitter, messenger, route, token: tokens[0], domains, burnLimit },
    hasUnlimitedTokens: () => false,
    isOrderSigned: (orderId, _order, signature) => operations.isSigned(`order ${orderId}`, signature),
    isPayoutSigned: (payout, signature) =>
      operations.isSigned(`payout ${JSON.stringify(plainPayout(payout), bigints)}`, signature),
    isConsentSigned: ({ method, orderId, nonce, signature }) =>
      operations.isSigned(`${method} ${orderId} ${nonce}`, signature),
  };
}

/** Removes what decoding adds and keeps the members in the signed order. */
function plainPayout({
  orderId,
  channelId,
  metaData,
  sourceChain,
  token,
  to,
  amount,
  deadline,
}: Parameters<CallContext['isPayoutSigned']>[0]) {
  return { orderId, channelId, metaData, sourceChain, token, to, amount, deadline };
}

async function openingState(chain: RealChain, holders: readonly Hex[]): Promise<ContractState> {
  const [usdc, euro] = chain.tokens;
  const caps = new Map([
    [usdc.toLowerCase(), usdcCap],
    [euro.toLowerCase(), euroCap],
  ]);
  let state: ContractState = { ...emptyState, caps };
  for (const token of chain.tokens) {
    const amounts = await Promise.all(holders.map((holder) => chain.balanceOf(token, holder)));
    for (const [index, holder] of [...holders].entries()) {
      const amount = amounts[index] ?? 0n;
      if (balanceOf(state, holder, token) === 0n) state = funded(state, holder, token, amount);
    }
  }
  return state;
}

function resultDifferences(chain: RealChain, real: RealResult, model: CallResult): string[] {
  if ('reverted' in model) {
    if (real.reverted === '') return [`the contracts accept; the model refuses: ${model.reverted}`];
    const isAlike =
      real.reverted === model.reverted || (real.reverted === 'other' && model.reverted === 'token');
    return isAlike ? [] : [`the contracts refuse with ${real.reverted}, the model with ${model.reverted}`];
  }
  if (real.reverted !== '') return [`the contracts refuse: ${real.reverted}; the model accepts`];
  const { gateway, vault, route, tokens } = chain;
  const watched = new Set([gateway, vault, route, ...tokens].map((address) => address.toLowerCase()));
  const texts = (logs: RealResult['logs']) =>
    logs
      .filter(({ address, topics }) => watched.has(address.toLowerCase()) && !unmodelled.has(topics[0] ?? ''))
      .map(({ address, topics, data }) => `${address.toLowerCase()} ${topics.join(' ')} ${data}`);
  const [theirs, ours] = [texts(real.logs), texts(model.logs)];
  if (theirs.join('\n') === ours.join('\n')) return [];
  const first = theirs.findIndex((text, index) => text !== ours[index]);
  const at = first === -1 ? theirs.length : first;
  return [`log ${at}: the contracts ${theirs[at] ?? 'have none'}, the model ${ours[at] ?? 'has none'}`];
}

/** Events of tokens that the model leaves out: marks on the block list, which transfer nothing. */
const unmodelled = new Set([
  '0xffa4e6181777692565cf28528fc88fd1516ea86b56da075235fa575af6a4b855',
  '0x117e3210bb9aa7d9baff172026820255c6f6c30ba8999d1c2fd88e2848137c4e',
]);

async function balanceDifferences(
  chain: RealChain,
  holders: readonly Hex[],
  before: ContractState,
  after: ContractState,
  isAll: boolean,
): Promise<string[]> {
  const asked = [...new Set(holders)].flatMap((holder) =>
    chain.tokens.flatMap((token) => {
      const isTouched = balanceOf(before, holder, token) !== balanceOf(after, holder, token);
      return isAll || isTouched ? [{ holder, token }] : [];
    }),
  );
  const amounts = await Promise.all(asked.map(({ token, holder }) => chain.balanceOf(token, holder)));
  return asked.flatMap(({ token, holder }, index) => {
    const [theirs, ours] = [amounts[index], balanceOf(after, holder, token)];
    return theirs === ours ? [] : [`${holder} has ${theirs} of ${token}, in the model ${ours}`];
  });
}

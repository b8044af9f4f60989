import {
  type BlockHeader,
  calls,
  headerIn,
  parseHeader,
  parseLogs,
  type RpcLog,
  type TransactionReceipt,
} from '../nodes/actions.ts';
import { getReceiptsOfBlocks } from '../nodes/block-receipts.ts';
import { pollNodes, RpcAnswerInvalid, type RpcOutcome, RpcUnavailable, resultOf } from '../nodes/rpc.ts';
import type { ReadContext } from './context.ts';
import type { FollowedEvent, LogSource } from './event.ts';
import { areProvenReceipts, checkLogs, logsOfProvenReceipts, logsOfReceipts } from './log-check.ts';
import { readAhead } from './read-ahead.ts';

/** A block with its events, complete and checked against the header. */
export interface FetchedBlock {
  readonly header: BlockHeader;
  readonly events: readonly FollowedEvent[];
}

/**
 * Fetches the blocks of these heights: headers by number, then receipts by block hash where the bloom may contain
 * wanted logs. Ends early before a height that the node lacks. Also ends before a block that does not build on the
 * previous one, because the chain moved during the read.
 */
export async function fetchBlocks(
  context: ReadContext,
  from: bigint,
  count: number,
): Promise<readonly FetchedBlock[]> {
  const fetched: FetchedBlock[] = [];
  await eachWithEvents(context, await fetchHeaders(context, from, count), async (blocks) => {
    fetched.push(...blocks);
  });
  return fetched;
}

/** The headers of these heights, as `fetchBlocks` reads them, checked by `checkHeaders`. */
export async function fetchHeaders(
  context: ReadContext,
  from: bigint,
  count: number,
): Promise<readonly BlockHeader[]> {
  const heights = Array.from({ length: count }, (_, index) => from + BigInt(index));
  const outcomes = await context.rpc.batch(heights.map((height) => calls.block(height)));
  const headers: BlockHeader[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    const header = parseHeader(resultOf(outcome));
    if (header === undefined) break;
    if (header.number !== heights[index]) throw new RpcAnswerInvalid('asked for a block, got another');
    const previous = headers.at(-1);
    if (previous !== undefined && header.parentHash !== previous.hash) break;
    headers.push(header);
  }
  await checkHeaders(context, headers);
  return headers;
}

/** Receipts requested at once, unless one block has more. Larger answers delay the first block. */
const receiptsAtOnce = 20;
/** The most receipt requests in flight: the node reads while we prove earlier answers. */
const requestsAtOnce = 4;

/**
 * Adds the events to checked headers and passes the blocks on in order, some at a time, while later ones load. A
 * proven header has a proven bloom, so no log contains what it excludes. Only the events of a block are kept: the
 * receipts of a hundred full blocks would take a hundred megabytes.
 */
export async function eachWithEvents(
  context: ReadContext,
  headers: readonly BlockHeader[],
  take: (blocks: readonly FetchedBlock[]) => Promise<void>,
): Promise<void> {
  const groups = groupsOf(context, headers);
  await readAhead(groups, requestsAtOnce, (group) => withEvents(context, group), take);
}

/** Consecutive blocks whose receipts are fetched in one request. Only candidates may have events. */
interface BlockGroup {
  readonly headers: BlockHeader[];
  readonly candidates: BlockHeader[];
  receipts: number;
}

function groupsOf({ source }: ReadContext, headers: readonly BlockHeader[]): readonly BlockGroup[] {
  const groups: BlockGroup[] = [];
  for (const header of headers) {
    const isCandidate = source.mayHaveEvents(header.logsBloom);
    const receipts = isCandidate ? header.transactionHashes.length : 0;
    let group = groups.at(-1);
    const isFull = group !== undefined && group.receipts > 0 && group.receipts + receipts > receiptsAtOnce;
    if (group === undefined || isFull) {
      group = { headers: [], candidates: [], receipts: 0 };
      groups.push(group);
    }
    group.headers.push(header);
    if (isCandidate) group.candidates.push(header);
    group.receipts += receipts;
  }
  return groups;
}

async function withEvents(
  context: ReadContext,
  { headers, candidates }: BlockGroup,
): Promise<readonly FetchedBlock[]> {
  const answers = candidates.length === 0 ? [] : await getReceiptsOfBlocks(context.rpc, candidates);
  const events = new Map<string, readonly FollowedEvent[]>();
  for (const [index, header] of candidates.entries()) {
    events.set(header.hash, await checkedEvents(context, header, answers[index] ?? []));
  }
  return headers.map((header) => ({ header, events: events.get(header.hash) ?? [] }));
}

/** Throws unless every header is proven, or the quorum agrees where the chain's policy allows that. */
export async function checkHeaders(
  { chain, rpc }: ReadContext,
  headers: readonly BlockHeader[],
): Promise<void> {
  const unproven = headers.filter((header) => header.isProven !== true);
  if (unproven.length === 0) return;
  if (chain.proofs === 'required') throw new RpcAnswerInvalid('a block that does not hash to its own hash');
  const { quorum } = chain.finality;
  if (quorum === 1) return;
  const answers = await pollNodes(
    rpc,
    unproven.map((header) => calls.block(header.number)),
  );
  for (const [index, header] of unproven.entries()) {
    const agreeing = answers.filter((answer) => isSameBlock(header, headerIn(answer, index)));
    if (agreeing.length < quorum) throw new RpcUnavailable('too few nodes have the same block');
  }
}

function isSameBlock(header: BlockHeader, theirs: BlockHeader | undefined): boolean {
  return (
    theirs?.hash === header.hash &&
    theirs.parentHash === header.parentHash &&
    theirs.logsBloom === header.logsBloom &&
    theirs.transactionHashes.join() === header.transactionHashes.join()
  );
}

/** The events of a block, once its receipts are proven or the chain's policy needs no proof. */
async function checkedEvents(
  { chain, rpc, source }: ReadContext,
  header: BlockHeader,
  receipts: readonly TransactionReceipt[],
): Promise<readonly FollowedEvent[]> {
  if (areProvenReceipts(header, receipts)) {
    return source.decode(header, logsOfProvenReceipts(source, header, receipts));
  }
  if (chain.proofs === 'required') {
    throw new RpcAnswerInvalid('receipts that do not come to the root in their block');
  }
  const logs = logsOfReceipts(source, header, receipts);
  checkLogs(header, logs);
  const events = source.decode(header, logs);
  const { quorum } = chain.finality;
  if (quorum === 1) return events;
  const answers = await pollNodes(rpc, [calls.logs(header.hash, source.addresses)]);
  const agreeing = answers.filter(({ outcomes: [outcome] }) => isSameLogs(source, logs, outcome));
  if (agreeing.length < quorum) throw new RpcUnavailable('too few nodes have the same logs');
  return events;
}

function isSameLogs(source: LogSource, ours: readonly RpcLog[], outcome: RpcOutcome | undefined): boolean {
  if (outcome === undefined || 'error' in outcome) return false;
  const textOf = (log: RpcLog) =>
    [log.logIndex, log.address, log.topics.join(), log.data, log.transactionHash].join(' ');
  try {
    const theirs = parseLogs(outcome.result).filter((log) => source.isWanted(log));
    return ours.map(textOf).join('\n') === theirs.map(textOf).join('\n');
  } catch (error) {
    // A malformed answer from one node of several counts as no answer.
    if (error instanceof RpcAnswerInvalid) return false;
    throw error;
  }
}

import {
  type BlockHeader,
  calls,
  getReceiptsOfBlocks,
  headerIn,
  parseHeader,
  parseLogs,
  type Receipt,
  type Rpc,
  RpcAnswerInvalid,
  type RpcLog,
  type RpcOutcome,
  RpcUnavailable,
  resultOf,
  surveyOf,
} from '@florin/evm';
import type { ChainEvent } from '../event.ts';
import {
  areProvenReceipts,
  decodeEvents,
  eventsOf,
  isConcerned,
  logsOfProvenReceipts,
  logsOfReceipts,
  mayHaveEvents,
  type WatchedContracts,
} from './log-check.ts';
import { readAhead } from './read-ahead.ts';

/** A block with its events, complete and checked against the header. */
export interface FetchedBlock {
  readonly header: BlockHeader;
  readonly events: readonly ChainEvent[];
}

/**
 * Fetches the blocks of these heights: headers by number, then receipts by block hash of those whose bloom may have
 * events of ours. Ends early before a height that the node does not have, and before a block that does not build on the
 * one before it (the chain moved while it was read).
 */
export async function fetchBlocks(
  rpc: Rpc,
  watched: WatchedContracts,
  from: bigint,
  count: number,
): Promise<readonly FetchedBlock[]> {
  const fetched: FetchedBlock[] = [];
  await eachWithEvents(rpc, watched, await fetchHeaders(rpc, watched, from, count), async (blocks) => {
    fetched.push(...blocks);
  });
  return fetched;
}

/** The headers of these heights, as `fetchBlocks` has them, checked by `checkHeaders`. */
export async function fetchHeaders(
  rpc: Rpc,
  watched: WatchedContracts,
  from: bigint,
  count: number,
): Promise<readonly BlockHeader[]> {
  const heights = Array.from({ length: count }, (_, index) => from + BigInt(index));
  const outcomes = await rpc.batch(heights.map((height) => calls.block(height)));
  const headers: BlockHeader[] = [];
  for (const [index, outcome] of outcomes.entries()) {
    const header = parseHeader(resultOf(outcome));
    if (header === undefined) break;
    if (header.number !== heights[index]) throw new RpcAnswerInvalid('asked for a block, got another');
    const previous = headers.at(-1);
    if (previous !== undefined && header.parentHash !== previous.hash) break;
    headers.push(header);
  }
  await checkHeaders(rpc, watched, headers);
  return headers;
}

/** Receipts asked for at once, unless one block has more: an answer that a node and we can do in one piece. */
const receiptsAtOnce = 20;
/** Requests for receipts under way at once: while we prove what came, the node reads on. */
const requestsAtOnce = 4;

/**
 * Adds the events to headers that have been checked, and hands the blocks on in order, some at a time, while later ones
 * are on their way. A header that is proven has a proven bloom: what it excludes is in no log. Nothing of a block is held
 * beyond its events: of a hundred blocks full of logs, that would be a hundred megabytes.
 */
export async function eachWithEvents(
  rpc: Rpc,
  watched: WatchedContracts,
  headers: readonly BlockHeader[],
  take: (blocks: readonly FetchedBlock[]) => Promise<void>,
): Promise<void> {
  const groups = groupsOf(watched, headers);
  await readAhead(groups, requestsAtOnce, (group) => withEvents(rpc, watched, group), take);
}

/** Blocks that follow one another, with their events' receipts in one request; some without candidates among them. */
interface BlockGroup {
  readonly headers: BlockHeader[];
  readonly candidates: BlockHeader[];
  receipts: number;
}

function groupsOf(watched: WatchedContracts, headers: readonly BlockHeader[]): readonly BlockGroup[] {
  const groups: BlockGroup[] = [];
  for (const header of headers) {
    const isCandidate = mayHaveEvents(watched, header.logsBloom);
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
  rpc: Rpc,
  watched: WatchedContracts,
  { headers, candidates }: BlockGroup,
): Promise<readonly FetchedBlock[]> {
  const answers = candidates.length === 0 ? [] : await getReceiptsOfBlocks(rpc, candidates);
  const events = new Map<string, readonly ChainEvent[]>();
  for (const [index, header] of candidates.entries()) {
    events.set(header.hash, await believe(rpc, watched, header, answers[index] ?? []));
  }
  return headers.map((header) => ({ header, events: events.get(header.hash) ?? [] }));
}

/** Throws unless every header is proven, or told alike by the quorum where the chain's policy allows that. */
export async function checkHeaders(
  rpc: Rpc,
  watched: WatchedContracts,
  headers: readonly BlockHeader[],
): Promise<void> {
  const unproven = headers.filter((header) => header.isProven !== true);
  if (unproven.length === 0) return;
  if (watched.proofs === 'required') throw new RpcAnswerInvalid('a block that does not hash to its own hash');
  if (watched.quorum === 1) return;
  const answers = await surveyOf(
    rpc,
    unproven.map((header) => calls.block(header.number)),
  );
  for (const [index, header] of unproven.entries()) {
    const alike = answers.filter((answer) => isAlike(header, headerIn(answer, index)));
    if (alike.length < watched.quorum) throw new RpcUnavailable('too few nodes tell of the same block');
  }
}

function isAlike(header: BlockHeader, theirs: BlockHeader | undefined): boolean {
  return (
    theirs?.hash === header.hash &&
    theirs.parentHash === header.parentHash &&
    theirs.logsBloom === header.logsBloom &&
    theirs.transactionHashes.join() === header.transactionHashes.join()
  );
}

/** The events in a block, once its receipts are proven or the policy is content with less. */
async function believe(
  rpc: Rpc,
  watched: WatchedContracts,
  header: BlockHeader,
  receipts: readonly Receipt[],
): Promise<readonly ChainEvent[]> {
  if (areProvenReceipts(header, receipts)) {
    return decodeEvents(watched, header, logsOfProvenReceipts(watched, header, receipts));
  }
  if (watched.proofs === 'required') {
    throw new RpcAnswerInvalid('receipts that do not come to the root in their block');
  }
  const logs = logsOfReceipts(watched, header, receipts);
  const events = eventsOf(watched, header, logs);
  if (watched.quorum === 1) return events;
  const answers = await surveyOf(rpc, [calls.logs(header.hash, watched.addresses)]);
  const alike = answers.filter(({ outcomes: [outcome] }) => isSameLogs(watched, logs, outcome));
  if (alike.length < watched.quorum) throw new RpcUnavailable('too few nodes tell of the same logs');
  return events;
}

function isSameLogs(
  watched: WatchedContracts,
  ours: readonly RpcLog[],
  outcome: RpcOutcome | undefined,
): boolean {
  if (outcome === undefined || 'error' in outcome) return false;
  const textOf = (log: RpcLog) =>
    [log.logIndex, log.address, log.topics.join(), log.data, log.transactionHash].join(' ');
  try {
    const theirs = parseLogs(outcome.result).filter((log) => isConcerned(watched, log));
    return ours.map(textOf).join('\n') === theirs.map(textOf).join('\n');
  } catch (error) {
    // Nonsense from one node of several counts as no answer.
    if (error instanceof RpcAnswerInvalid) return false;
    throw error;
  }
}

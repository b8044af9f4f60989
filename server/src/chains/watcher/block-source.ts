import type { ChainEvent } from '../event.ts';
import {
  type BlockHeader,
  calls,
  getBlockReceipts,
  parseHeader,
  parseLogs,
  type RpcLog,
} from '../rpc/actions.ts';
import { type Rpc, RpcAnswerInvalid, resultOf } from '../rpc/rpc.ts';
import { eventsOf, logsOfReceipts, mayHaveEvents, type WatchedContracts } from './log-check.ts';

/** A block with its events, complete and checked against the header. */
export interface FetchedBlock {
  readonly header: BlockHeader;
  readonly events: readonly ChainEvent[];
}

/**
 * Fetches the blocks of these heights in two batches: headers by number, then logs by block hash of those whose bloom
 * may have events of ours. Ends early before a height that the node does not have, and before a block that does not
 * build on the one before it (the chain moved while it was read).
 */
export async function fetchBlocks(
  rpc: Rpc,
  watched: WatchedContracts,
  from: bigint,
  count: number,
): Promise<readonly FetchedBlock[]> {
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
  return withEvents(rpc, watched, headers);
}

/** Adds the events to headers. */
export async function withEvents(
  rpc: Rpc,
  watched: WatchedContracts,
  headers: readonly BlockHeader[],
): Promise<readonly FetchedBlock[]> {
  const candidates = headers.filter((header) => mayHaveEvents(watched, header.logsBloom));
  const outcomes = await rpc.batch(candidates.map((header) => calls.logs(header.hash, watched.addresses)));
  const events = new Map<string, readonly ChainEvent[]>();
  for (const [index, header] of candidates.entries()) {
    const logs = parseLogs(resultOf(outcomes[index]));
    events.set(header.hash, await believe(rpc, watched, header, logs));
  }
  return headers.map((header) => ({ header, events: events.get(header.hash) ?? [] }));
}

/** A node that lags answers with no logs for a block that it does not have yet; the receipts cannot be faked so. */
async function believe(
  rpc: Rpc,
  watched: WatchedContracts,
  header: BlockHeader,
  logs: readonly RpcLog[],
): Promise<readonly ChainEvent[]> {
  const events = eventsOf(watched, header, logs);
  if (events.length > 0) return events;
  const receipts = await getBlockReceipts(rpc, header);
  return eventsOf(watched, header, logsOfReceipts(watched, header, receipts));
}

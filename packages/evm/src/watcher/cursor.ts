import type { Queryable, Transaction } from '@florin/pg';
import type { Hex } from 'viem';
import type { Clock } from '../context.ts';
import { parseRecord } from '../nodes/parse.ts';
import type { Block, FollowedEvent } from './event.ts';
import { requestBackfill, requestResync } from './recovery.sql.ts';
import {
  type BlockRow,
  type CursorRow,
  cursorOfChain,
  type EventRow,
  finalOfTransaction,
  lockCursor,
} from './watcher.sql.ts';

/** How far the service has followed a chain. Hashes are lower case. */
export interface ChainCursor {
  readonly headNumber: bigint;
  readonly headHash: Hex;
  readonly headTime: Date;
  /** The last block that is final by the chain's policy. */
  readonly finalNumber: bigint;
  readonly finalHash: Hex;
  readonly finalTime: Date;
  /** Not empty: the chain is halted until the watcher has acted on `resumeChain`. */
  readonly haltedReason: string;
  /** Grows with every change of leader. */
  readonly leaderTerm: bigint;
  /** An operator has resumed the halted chain: the watcher first returns to the last block that the chain still has. */
  readonly isResyncDue: boolean;
  /** The next final block to read a second time. */
  readonly backfillNext: bigint | undefined;
  /** Grows whenever final blocks are reverted. */
  readonly rewinds: bigint;
}

/** Reads a row of `chain_cursors`. */
export function parseCursor(row: CursorRow): ChainCursor {
  return {
    headNumber: row.head_number,
    headHash: row.head_hash as Hex,
    headTime: row.head_time,
    finalNumber: row.final_number,
    finalHash: row.final_hash as Hex,
    finalTime: row.final_time,
    haltedReason: row.halted_reason,
    leaderTerm: row.leader_term,
    isResyncDue: row.is_resync_due,
    backfillNext: row.backfill_next ?? undefined,
    rewinds: row.rewinds,
  };
}

/** The cursor of a chain; undefined before its watcher has begun. */
export async function findCursor(queryable: Queryable, chainId: number): Promise<ChainCursor | undefined> {
  const [row] = await queryable.query(cursorOfChain, { chainId });
  return row === undefined ? undefined : parseCursor(row);
}

/** The same, locked until the transaction ends: the chain cannot move meanwhile. */
export async function lockChain(transaction: Transaction, chainId: number): Promise<ChainCursor | undefined> {
  const [row] = await transaction.query(lockCursor, { chainId });
  return row === undefined ? undefined : parseCursor(row);
}

/**
 * Resumes a halted chain after an operator has checked it. The watcher returns to the last stored block that the
 * chain still has, even below the final one, and continues from there (`recovery.ts`).
 */
export async function resumeChain(queryable: Queryable, clock: Clock, chainId: number): Promise<void> {
  await queryable.query(requestResync, { chainId, updatedAt: clock.now() });
}

/**
 * Makes the watcher read the final blocks from this one on again, and add missing events. Undefined when the block is
 * not final yet or the chain is unknown; otherwise the last final block.
 */
export async function backfillChain(
  queryable: Queryable,
  clock: Clock,
  asked: { readonly chainId: number; readonly from: bigint },
): Promise<bigint | undefined> {
  const [row] = await queryable.query(requestBackfill, {
    chainId: asked.chainId,
    from: asked.from,
    updatedAt: clock.now(),
  });
  return row?.final_number;
}

export function parseBlock(row: BlockRow): Block {
  return {
    number: row.block_number,
    hash: row.block_hash as Hex,
    parentHash: row.parent_hash as Hex,
    time: row.block_time,
  };
}

function parseArguments(value: unknown): Readonly<Record<string, string>> {
  const stored = parseRecord('stored event', value);
  const read: Record<string, string> = {};
  for (const name of Object.keys(stored)) read[name] = String(stored[name]);
  return read;
}

function nameOf({ contract, name }: FollowedEvent): string {
  return `${contract} ${name}`;
}

/** Reads stored events in the order of the chain; events of one log by contract and name. */
export function parseEvents(rows: readonly EventRow[]): readonly FollowedEvent[] {
  return rows
    .map((row) => ({
      chainId: Number(row.chain_id),
      blockNumber: row.block_number,
      blockHash: row.block_hash as Hex,
      blockTime: row.block_time,
      logIndex: row.log_index,
      txHash: row.tx_hash as Hex,
      contract: row.contract,
      name: row.event_name,
      orderId: row.order_id as Hex,
      arguments: parseArguments(row.arguments),
    }))
    .sort(
      (first, second) =>
        Number(first.blockNumber - second.blockNumber) ||
        first.logIndex - second.logIndex ||
        Number(nameOf(first) > nameOf(second)) - Number(nameOf(first) < nameOf(second)),
    );
}

/** The final events with the same name and transaction as an event, itself included. */
export async function eventsOfTransaction<Event extends FollowedEvent>(
  queryable: Queryable,
  { chainId, blockNumber, txHash, name }: Event,
): Promise<readonly Event[]> {
  const rows = await queryable.query(finalOfTransaction, { chainId, blockNumber, txHash, eventName: name });
  return parseEvents(rows) as readonly FollowedEvent[] as readonly Event[];
}

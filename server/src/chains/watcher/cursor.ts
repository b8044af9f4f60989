import type { Hex } from '@florin/protocol/order.ts';
import type { Queryable, Transaction } from '#db/database.ts';
import type { Clock } from '#outside/clock.ts';
import type { Block, ChainEvent, ChainEventName } from '../event.ts';
import { parseRecord } from '../rpc/parse.ts';
import {
  type BlockRow,
  type CursorRow,
  cursorOfChain,
  type EventRow,
  lockCursor,
  setHalted,
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
  /** Not empty: the breaker has tripped, and nothing of this chain moves until `resumeChain`. */
  readonly haltedReason: string;
}

function parseCursor(row: CursorRow): ChainCursor {
  return {
    headNumber: row.head_number,
    headHash: row.head_hash as Hex,
    headTime: row.head_time,
    finalNumber: row.final_number,
    finalHash: row.final_hash as Hex,
    finalTime: row.final_time,
    haltedReason: row.halted_reason,
  };
}

/** Where a chain stands; undefined before its watcher has begun. */
export async function findCursor(queryable: Queryable, chainId: number): Promise<ChainCursor | undefined> {
  const [row] = await queryable.query(cursorOfChain, [chainId]);
  return row === undefined ? undefined : parseCursor(row);
}

/** The same, locked until the transaction ends: the chain cannot move meanwhile. */
export async function lockChain(transaction: Transaction, chainId: number): Promise<ChainCursor | undefined> {
  const [row] = await transaction.query(lockCursor, [chainId]);
  return row === undefined ? undefined : parseCursor(row);
}

/**
 * Lets a halted chain move again, after an operator has looked. The watcher goes on where it stopped: if the chain
 * still contradicts what was final, it halts again.
 */
export async function resumeChain(queryable: Queryable, clock: Clock, chainId: number): Promise<void> {
  await queryable.query(setHalted, [chainId, '', clock.now()]);
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
  return Object.fromEntries(
    Object.entries(parseRecord('stored event', value)).map(([name, argument]) => [name, String(argument)]),
  );
}

/** Reads stored events, in the order of the chain. */
export function parseEvents(rows: readonly EventRow[]): readonly ChainEvent[] {
  return rows
    .map((row) => ({
      chainId: Number(row.chain_id),
      blockNumber: row.block_number,
      blockHash: row.block_hash as Hex,
      blockTime: row.block_time,
      logIndex: row.log_index,
      txHash: row.tx_hash as Hex,
      contract: row.contract === 'vault' ? ('vault' as const) : ('gateway' as const),
      name: row.event_name as ChainEventName,
      orderId: row.order_id as Hex,
      arguments: parseArguments(row.arguments),
    }))
    .sort(
      (first, second) => Number(first.blockNumber - second.blockNumber) || first.logIndex - second.logIndex,
    );
}

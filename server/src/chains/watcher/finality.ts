import type { Block } from '../event.ts';
import { type BlockHeader, getBlock } from '../rpc/actions.ts';
import { RpcAnswerInvalid } from '../rpc/rpc.ts';
import { finalize, haltChain, pruneChain, storedBlock } from './chain-move.ts';
import type { ChainCursor } from './cursor.ts';
import type { WatcherState } from './watcher.ts';

/** Most blocks that become final in one transaction, so that a long catch-up is many short ones. */
const finalStep = 200n;
/** Final blocks between two prunings. */
const pruneEvery = 200n;

function smaller(first: bigint, second: bigint): bigint {
  return first < second ? first : second;
}

/**
 * Moves the final anchor as far as the policy allows: at or below the tagged block, `depth` below our head, and only
 * where our stored block is the one that the node's chain has at that height. Never backwards. False when the breaker
 * has tripped.
 */
export async function advanceFinal(
  state: WatcherState,
  cursor: ChainCursor,
  head: BlockHeader,
  tagged: BlockHeader,
): Promise<boolean> {
  const height = smaller(tagged.number, cursor.headNumber - BigInt(state.chain.finality.depth));
  if (tagged.number === cursor.finalNumber && tagged.hash !== cursor.finalHash) {
    return !(await haltIfFinalForked(state, cursor));
  }
  if (height <= cursor.finalNumber) return true;
  const ours = await requireStored(state, height);
  const theirs =
    [tagged, head].find((header) => header.number === height) ?? (await getBlock(state.rpc, height));
  // Not ours: the chain moved since the head was read, or has forked below our final block.
  if (theirs?.hash !== ours.hash) return !(await haltIfFinalForked(state, cursor));
  let current = cursor;
  while (current.finalNumber < height) {
    const next = current.finalNumber + finalStep;
    current = await finalize(state, current, next < height ? await requireStored(state, next) : ours);
  }
  if (current.finalNumber >= state.prunedNumber + pruneEvery) {
    state.prunedNumber = current.finalNumber;
    await pruneChain(state, current);
  }
  return true;
}

async function requireStored(state: WatcherState, number: bigint): Promise<Block> {
  const block = await storedBlock(state, number);
  if (block === undefined) throw new Error(`block ${number} of chain ${state.chain.chainId} is not stored`);
  return block;
}

/**
 * Trips the breaker when the nodes have another block at our final height, and says whether it did. Asked twice: where
 * there are several nodes, the second answer comes from another one, so that a single node on a fork halts nothing.
 */
export async function haltIfFinalForked(state: WatcherState, cursor: ChainCursor): Promise<boolean> {
  for (let asked = 0; asked < 2; asked += 1) {
    const theirs = await getBlock(state.rpc, cursor.finalNumber);
    if (theirs === undefined) throw new RpcAnswerInvalid('a node that lacks our final block');
    if (theirs.hash === cursor.finalHash) return false;
    state.rpc.demote?.('another block at our final height');
  }
  await haltChain(state, `reorg below the final block ${cursor.finalNumber}`);
  return true;
}

import type { Block } from '../event.ts';
import { type BlockHeader, calls, getBlock, headerIn } from '../rpc/actions.ts';
import { RpcAnswerInvalid, RpcUnavailable, surveyOf } from '../rpc/rpc.ts';
import { finalize, haltChain, pruneChain, storedBlock } from './chain-move.ts';
import type { ChainCursor } from './cursor.ts';
import type { WatcherState } from './state.ts';

/** Most blocks that become final in one transaction, so that a long catch-up is many short ones. */
const finalStep = 200n;
/** Final blocks between two prunings. */
const pruneEvery = 200n;
/**
 * How long nodes may call less final than they did. Behind one address there are often several nodes, of which some
 * are late; meanwhile nothing becomes final, so that patience costs nothing.
 */
const regressionPatienceMs = 30_000;

function smaller(first: bigint, second: bigint): bigint {
  return first < second ? first : second;
}

/**
 * Moves the final anchor as far as the policy allows: at or below the tagged block, `depth` below our head, and only
 * where our stored block is the one that the quorum of nodes has at that height and calls final itself. Never backwards.
 * Where the chain stands then; undefined when the breaker has tripped.
 */
export async function advanceFinal(
  state: WatcherState,
  cursor: ChainCursor,
  head: BlockHeader,
  tagged: BlockHeader,
): Promise<ChainCursor | undefined> {
  const height = smaller(tagged.number, cursor.headNumber - BigInt(state.chain.finality.depth));
  if (tagged.number === cursor.finalNumber && tagged.hash !== cursor.finalHash) {
    return (await haltIfFinalForked(state, cursor)) ? undefined : cursor;
  }
  if (await haltIfFinalityWentBack(state, cursor, head, tagged)) return undefined;
  if (height <= cursor.finalNumber) return cursor;
  const ours = await requireStored(state, height);
  const theirs =
    [tagged, head].find((header) => header.number === height) ?? (await getBlock(state.rpc, height));
  // Not ours: the chain moved since the head was read, or has forked below our final block.
  if (theirs?.hash !== ours.hash) return (await haltIfFinalForked(state, cursor)) ? undefined : cursor;
  if (!(await isConfirmed(state, cursor, ours))) return cursor;
  let current = cursor;
  while (current.finalNumber < height) {
    const next = current.finalNumber + finalStep;
    current = await finalize(state, current, next < height ? await requireStored(state, next) : ours);
  }
  if (current.finalNumber >= state.prunedNumber + pruneEvery) {
    state.prunedNumber = current.finalNumber;
    await pruneChain(state, current);
  }
  return current;
}

async function requireStored(state: WatcherState, number: bigint): Promise<Block> {
  const block = await storedBlock(state, number);
  if (block === undefined) throw new Error(`block ${number} of chain ${state.chain.chainId} is not stored`);
  return block;
}

/** Whether the quorum has this block, and calls it final by the policy on its own. */
async function isConfirmed(state: WatcherState, cursor: ChainCursor, block: Block): Promise<boolean> {
  const { tag, depth, quorum = 1 } = state.chain.finality;
  if (quorum === 1) return true;
  const answers = await surveyOf(state.rpc, [
    calls.block(block.number),
    calls.block('latest'),
    ...(tag === 'latest' ? [] : [calls.block(tag)]),
  ]);
  const agreeing: string[] = [];
  const dissenting: string[] = [];
  for (const answer of answers) {
    const [theirs, latest] = [headerIn(answer, 0), headerIn(answer, 1)];
    const tagged = tag === 'latest' ? latest : headerIn(answer, 2);
    // A node that is behind has nothing to say yet.
    if (theirs?.number !== block.number || latest === undefined || tagged === undefined) continue;
    if (tagged.number < block.number || latest.number - BigInt(depth) < block.number) continue;
    (theirs.hash === block.hash ? agreeing : dissenting).push(answer.node);
  }
  if (agreeing.length >= quorum) {
    quarantineAll(state, dissenting, `another block than the quorum's at ${block.number}`);
    return true;
  }
  if (dissenting.length >= quorum && !(await haltIfFinalForked(state, cursor))) {
    // It is we who follow the wrong fork: the next round reads the others' chain, and takes ours back.
    quarantineAll(state, agreeing, `another block than the quorum's at ${block.number}`);
  }
  noteMissingQuorum(state, block, { agreeing: agreeing.length, dissenting: dissenting.length });
  return false;
}

function quarantineAll(state: WatcherState, nodes: readonly string[], reason: string): void {
  for (const node of nodes) state.rpc.quarantine?.(node, reason);
}

/** Told once a minute at most: on a fast chain it would fill the log. */
const missingQuorumIntervalMs = 60_000;

function noteMissingQuorum(
  state: WatcherState,
  block: Block,
  counts: { readonly agreeing: number; readonly dissenting: number },
): void {
  const now = state.clock.monotonicMs();
  if (now - state.quorumMissedAtMs < missingQuorumIntervalMs) return;
  state.quorumMissedAtMs = now;
  state.log.warn('watcher.quorum_missing', {
    chainId: state.chain.chainId,
    block: block.number.toString(),
    ...counts,
  });
}

/**
 * Trips the breaker when the nodes have another block at our final height, and says whether it did. A minority that has
 * one is put in quarantine instead. Where there is one node, it is asked twice.
 */
export async function haltIfFinalForked(state: WatcherState, cursor: ChainCursor): Promise<boolean> {
  const { quorum = 1 } = state.chain.finality;
  for (let asked = 0; asked < 2; asked += 1) {
    const answers = await surveyOf(state.rpc, [calls.block(cursor.finalNumber)]);
    const agreeing: string[] = [];
    const dissenting: string[] = [];
    for (const answer of answers) {
      const theirs = headerIn(answer, 0);
      if (theirs?.number !== cursor.finalNumber) continue;
      (theirs.hash === cursor.finalHash ? agreeing : dissenting).push(answer.node);
    }
    if (agreeing.length > 0 && agreeing.length >= dissenting.length) {
      quarantineAll(state, dissenting, `another block at our final height ${cursor.finalNumber}`);
      return false;
    }
    if (dissenting.length === 0) throw new RpcAnswerInvalid('a node that lacks our final block');
    if (dissenting.length < quorum) throw new RpcUnavailable('too few nodes to judge our final block');
  }
  await haltChain(state, cursor, `reorg below the final block ${cursor.finalNumber}`);
  return true;
}

/** Trips the breaker when every node that answers has called less final than we know to be, for some time. */
async function haltIfFinalityWentBack(
  state: WatcherState,
  cursor: ChainCursor,
  head: BlockHeader,
  tagged: BlockHeader,
): Promise<boolean> {
  const { tag, quorum = 1 } = state.chain.finality;
  // A node whose head is behind as well merely lags.
  const wentBack = tagged.number < cursor.finalNumber && head.number >= cursor.headNumber;
  if (tag === 'latest' || !wentBack || state.acceptedFinal === cursor.finalNumber) {
    state.wentBackAtMs = undefined;
    return false;
  }
  const now = state.clock.monotonicMs();
  state.wentBackAtMs ??= now;
  if (now - state.wentBackAtMs < regressionPatienceMs) return false;
  const answers = await surveyOf(state.rpc, [calls.block(tag)]);
  const heights = answers.flatMap((answer) => headerIn(answer, 0)?.number ?? []);
  if (heights.length < quorum || heights.some((height) => height >= cursor.finalNumber)) return false;
  await haltChain(state, cursor, `the ${tag} block went back from ${cursor.finalNumber} to ${tagged.number}`);
  return true;
}

import { type BlockHeader, calls, getBlock, headerIn } from '../nodes/actions.ts';
import { pollNodes, RpcAnswerInvalid, RpcUnavailable } from '../nodes/rpc.ts';
import { finalize, haltChain, pruneChain, storedBlock } from './chain-move.ts';
import type { Watcher } from './context.ts';
import type { Block } from './event.ts';
import { isHalted, type Round } from './state.ts';

/** The most blocks that become final in one transaction, so that a long catch-up has many short ones. */
const finalStep = 200n;
/** Final blocks between two prunings. */
const pruneEvery = 200n;
/**
 * How long nodes may report a lower final block than before. One address often serves several nodes, and some of them
 * lag. Nothing becomes final meanwhile, so waiting is safe.
 */
const regressionPatienceMs = 30_000;

/** A node's newest block, and the block that it calls final by the tag of the chain's policy. */
export interface Heads {
  readonly head: BlockHeader;
  readonly tagged: BlockHeader;
}

/**
 * Moves the final anchor as far as the policy allows: at or below the tagged block, and `depth` below our head. The
 * quorum of nodes must have our stored block at that height and call it final. The anchor never moves backwards.
 */
export async function advanceFinal(watcher: Watcher, before: Round, heads: Heads): Promise<Round> {
  const { tagged, head } = heads;
  const { headNumber, finalNumber, finalHash } = before.cursor;
  if (tagged.number === finalNumber && tagged.hash !== finalHash) return haltIfFinalForked(watcher, before);
  let round = await haltIfFinalityWentBack(watcher, before, heads);
  const height = smaller(tagged.number, headNumber - BigInt(watcher.chain.finality.depth));
  if (isHalted(round) || height <= finalNumber) return round;
  const ours = await requireStored(watcher, height);
  const theirs =
    [tagged, head].find((header) => header.number === height) ?? (await getBlock(watcher.rpc, height));
  // The chain moved after the head was read, or has forked below our final block.
  if (theirs?.hash !== ours.hash) return haltIfFinalForked(watcher, round);
  const verdict = await askQuorum(watcher, round, ours);
  if (!verdict.isConfirmed) return verdict.round;
  round = verdict.round;
  while (round.cursor.finalNumber < height) {
    const next = round.cursor.finalNumber + finalStep;
    const anchor = next < height ? await requireStored(watcher, next) : ours;
    round = { ...round, cursor: await finalize(watcher, round.cursor, anchor) };
  }
  const isPruningDue = finalNumber / pruneEvery !== height / pruneEvery;
  if (isPruningDue) await pruneChain(watcher, round.cursor);
  return round;
}

function smaller(first: bigint, second: bigint): bigint {
  return first < second ? first : second;
}

async function requireStored(watcher: Watcher, number: bigint): Promise<Block> {
  const block = await storedBlock(watcher, number);
  if (block === undefined) throw new Error(`block ${number} of chain ${watcher.chain.chainId} is not stored`);
  return block;
}

/** Asks whether the quorum has this block, and whether each of its nodes calls the block final by the policy. */
async function askQuorum(
  watcher: Watcher,
  round: Round,
  block: Block,
): Promise<{ readonly isConfirmed: boolean; readonly round: Round }> {
  const { tag, depth, quorum } = watcher.chain.finality;
  if (quorum === 1) return { isConfirmed: true, round };
  const answers = await pollNodes(watcher.rpc, [
    calls.block(block.number),
    calls.block('latest'),
    ...(tag === 'latest' ? [] : [calls.block(tag)]),
  ]);
  const agreeing: string[] = [];
  const dissenting: string[] = [];
  for (const answer of answers) {
    const [theirs, latest] = [headerIn(answer, 0), headerIn(answer, 1)];
    const tagged = tag === 'latest' ? latest : headerIn(answer, 2);
    // A node that lags has no vote yet.
    if (theirs?.number !== block.number || latest === undefined || tagged === undefined) continue;
    if (tagged.number < block.number || latest.number - BigInt(depth) < block.number) continue;
    (theirs.hash === block.hash ? agreeing : dissenting).push(answer.node);
  }
  if (agreeing.length >= quorum) {
    quarantineAll(watcher, dissenting, `another block than the quorum's at ${block.number}`);
    return { isConfirmed: true, round };
  }
  let judged = round;
  if (dissenting.length >= quorum) {
    judged = await haltIfFinalForked(watcher, round);
    // Our block is on the wrong fork: the next round reads the other nodes' chain and removes ours.
    if (!isHalted(judged))
      quarantineAll(watcher, agreeing, `another block than the quorum's at ${block.number}`);
  }
  const counts = { agreeing: agreeing.length, dissenting: dissenting.length };
  return { isConfirmed: false, round: logMissingQuorum(watcher, judged, block, counts) };
}

function quarantineAll({ rpc }: Watcher, nodes: readonly string[], reason: string): void {
  for (const node of nodes) rpc.quarantine?.(node, reason);
}

/** Logged at most once a minute: a fast chain would otherwise fill the log. */
const missingQuorumIntervalMs = 60_000;

function logMissingQuorum(
  { clock, log, chain }: Watcher,
  round: Round,
  block: Block,
  counts: { readonly agreeing: number; readonly dissenting: number },
): Round {
  const now = clock.monotonicMs();
  if (now - round.quorumMissedAtMs < missingQuorumIntervalMs) return round;
  log.warn('watcher.quorum_missing', { chainId: chain.chainId, block: block.number.toString(), ...counts });
  return { ...round, quorumMissedAtMs: now };
}

/**
 * Halts the chain when the nodes have another block at our final height. A minority with another block is quarantined
 * instead. Every node is asked twice.
 */
export async function haltIfFinalForked(watcher: Watcher, round: Round): Promise<Round> {
  const { cursor } = round;
  const { quorum } = watcher.chain.finality;
  for (let asked = 0; asked < 2; asked += 1) {
    const answers = await pollNodes(watcher.rpc, [calls.block(cursor.finalNumber)]);
    const agreeing: string[] = [];
    const dissenting: string[] = [];
    for (const answer of answers) {
      const theirs = headerIn(answer, 0);
      if (theirs?.number !== cursor.finalNumber) continue;
      (theirs.hash === cursor.finalHash ? agreeing : dissenting).push(answer.node);
    }
    if (agreeing.length > 0 && agreeing.length >= dissenting.length) {
      quarantineAll(watcher, dissenting, `another block at our final height ${cursor.finalNumber}`);
      return round;
    }
    if (dissenting.length === 0) throw new RpcAnswerInvalid('a node that lacks our final block');
    if (dissenting.length < quorum) throw new RpcUnavailable('too few nodes to judge our final block');
  }
  const reason = `reorg below the final block ${cursor.finalNumber}`;
  return { ...round, cursor: await haltChain(watcher, cursor, reason) };
}

/** Halts the chain when every node that answers has reported a lower final block than ours for some time. */
async function haltIfFinalityWentBack(
  watcher: Watcher,
  round: Round,
  { head, tagged }: Heads,
): Promise<Round> {
  const { cursor } = round;
  const { tag, quorum } = watcher.chain.finality;
  // A node whose head also lags is merely behind.
  const wentBack = tagged.number < cursor.finalNumber && head.number >= cursor.headNumber;
  if (tag === 'latest' || !wentBack || round.acceptedFinal === cursor.finalNumber) {
    return { ...round, wentBackAtMs: undefined };
  }
  const now = watcher.clock.monotonicMs();
  const wentBackAtMs = round.wentBackAtMs ?? now;
  const waiting = { ...round, wentBackAtMs };
  if (now - wentBackAtMs < regressionPatienceMs) return waiting;
  const answers = await pollNodes(watcher.rpc, [calls.block(tag)]);
  const heights = answers.flatMap((answer) => headerIn(answer, 0)?.number ?? []);
  if (heights.length < quorum || heights.some((height) => height >= cursor.finalNumber)) return waiting;
  const reason = `the ${tag} block went back from ${cursor.finalNumber} to ${tagged.number}`;
  return { ...waiting, cursor: await haltChain(watcher, cursor, reason) };
}

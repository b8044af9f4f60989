import type { Anvil } from '../anvil.ts';
import {
  ActRefused,
  type ActRequest,
  type ActWorld,
  chainOf,
  countIn,
  type PerformAct,
} from './act-world.ts';

const REORG_BLOCKS = 3;
/** A node keeps the states of this many blocks. */
const MOST_REORG_BLOCKS = 60;
const SPIKE_WEI = 1_000_000_000_000n;
const USUAL_WEI = 1_000_000_000n;

interface ChainBlock {
  readonly number: string;
  readonly hash: string;
  readonly transactions: readonly string[];
}

const readBlock = async (chain: Anvil, tag: string): Promise<ChainBlock> => {
  const block = await chain.rpc('eth_getBlockByNumber', [tag, false]);
  if (block === null) throw new ActRefused(`${chain.name} has no block ${tag} yet: wait for some blocks.`);
  return block as ChainBlock;
};

export const reorg: PerformAct = async (world, { argument, chain: name }) => {
  const chain = chainOf(world, name);
  const depth = countIn(argument, {
    ...{ name: 'number of blocks', most: MOST_REORG_BLOCKS, fallback: REORG_BLOCKS },
  });
  const head = await readBlock(chain, 'latest');
  const number = Number(head.number);
  if (depth > number) throw new ActRefused(`${chain.name} has only ${number} blocks.`);
  const replaced = await Promise.all(
    Array.from({ length: depth }, (_, index) => readBlock(chain, `0x${(number - index).toString(16)}`)),
  );
  // Another address for the fees: without it, an empty block of the same second would be the very same block.
  await chain.rpc('anvil_setCoinbase', [head.hash.slice(0, 42)]);
  await chain.rpc('anvil_reorg', [depth, []]);
  const after = await readBlock(chain, head.number);
  const gone = replaced.flatMap(({ transactions }) => transactions);
  return {
    did: `Replaced blocks ${number - depth + 1} to ${number} of ${chain.name}.`,
    facts: {
      [`block ${number} was`]: head.hash,
      [`block ${number} is`]: after.hash,
      'transactions gone': gone.length === 0 ? 'none' : gone.join(' '),
    },
  };
};

/** An act that makes a chain do something wrong until it is undone. */
const lasting =
  (
    begin: (chain: Anvil) => Promise<string> | string,
    end: (chain: Anvil) => Promise<string> | string,
  ): PerformAct =>
  async (world: ActWorld, { argument, undo }: ActRequest) => {
    const chain = chainOf(world, argument);
    const did = await (undo === true ? end(chain) : begin(chain));
    const { number } = await readBlock(chain, 'latest');
    return { did, facts: { chain: chain.name, head: String(Number(number)) } };
  };

export const outage = lasting(
  ({ name, faults }) => {
    faults.isUnreachable = true;
    return `The node of ${name} closes every connection.`;
  },
  ({ name, faults }) => {
    faults.isUnreachable = false;
    return `The node of ${name} answers again.`;
  },
);

export const halt = lasting(
  async ({ name, faults, setMining }) => {
    faults.isHalted = true;
    await setMining('manual');
    return `${name} has no more blocks.`;
  },
  async ({ name, faults, setMining }) => {
    faults.isHalted = false;
    await setMining({ seconds: 1 });
    return `${name} has a block each second again.`;
  },
);

export const slowFinality = lasting(
  async (chain) => {
    const { number } = await readBlock(chain, 'finalized');
    chain.faults.heldFinalBlock = Number(number);
    return `Block ${Number(number)} stays the final block of ${chain.name}.`;
  },
  ({ name, faults }) => {
    faults.heldFinalBlock = undefined;
    return `The finality of ${name} follows its head again.`;
  },
);

export const lyingNode = lasting(
  ({ name, faults }) => {
    faults.isLying = true;
    return `The node of ${name} doubles the amounts in its receipts and logs.`;
  },
  ({ name, faults }) => {
    faults.isLying = false;
    return `The node of ${name} tells the truth again.`;
  },
);

export const gasSpike = lasting(
  ({ name, faults, rpc }) => {
    faults.holdFee(() => {
      // A node that restarts misses one of these; the next one follows within a block.
      void setBaseFee(rpc, SPIKE_WEI).catch(() => undefined);
    });
    return `The base fee of ${name} is 1,000 gwei.`;
  },
  async ({ name, faults, rpc }) => {
    faults.releaseFee();
    await setBaseFee(rpc, USUAL_WEI);
    return `The base fee of ${name} is 1 gwei again.`;
  },
);

const setBaseFee = (rpc: Anvil['rpc'], wei: bigint): Promise<unknown> =>
  rpc('anvil_setNextBlockBaseFeePerGas', [`0x${wei.toString(16)}`]);

import {
  addMissing,
  appendBlocks,
  type BlockHeader,
  beginChain,
  finalize,
  findCursor,
  type LogSource,
  type MoveContext,
  type RpcLog,
  storedBlock,
} from '@florin/evm';
import type { Database } from '@florin/pg';
import type { Hex } from '@florin/protocol/order.ts';
import { type Chain, chainsOf, silentLog, systemClock } from '@florin/server/operator';
import { type ChainEvent, ledgerBalances, logSourceOf, movementHandler } from '@florin/server/parts';
import { keccak256, toHex } from 'viem';
import type { SeededRandom } from '../simulation/seeded-random.ts';
import type { RealChain, RealResult } from './real-chain.ts';

/**
 * Production's books of the contracts' logs, read by production's watcher. The books do not know the orders. Even so,
 * the ledger must match what gateway and vault hold, and what the gateway counts as fees, to the last unit. For some
 * blocks the first reading lacks logs, as a node's answer may. A second reading has all of them.
 */
export class Books {
  readonly #real: RealChain;
  readonly #random: SeededRandom;
  readonly #db: Database;
  readonly #context: MoveContext<Chain, ChainEvent> & { readonly source: LogSource<ChainEvent> };
  readonly #opening = new Map<string, bigint>();

  private constructor(real: RealChain, random: SeededRandom, db: Database, name: string) {
    this.#real = real;
    this.#random = random;
    this.#db = db;
    const clock = systemClock;
    const handler = movementHandler({ log: silentLog });
    const chain = chainNamed(real, name);
    this.#context = { chain, source: logSourceOf(chain), db, clock, log: silentLog, handler };
  }

  static async open(real: RealChain, random: SeededRandom, db: Database, seed: number): Promise<Books> {
    const books = new Books(real, random, db, `sequence${seed}`);
    await beginChain(books.#context, books.#header(0n, `0x${'00'.repeat(32)}`, 0));
    for (const [account, amount] of await books.#held()) books.#opening.set(account, amount);
    return books;
  }

  /** Books the logs of one transaction. */
  async take(result: RealResult, timeSeconds: number): Promise<void> {
    const { source } = this.#context;
    const cursor = await this.#cursor();
    const header = this.#header(cursor.headNumber + 1n, cursor.headHash, timeSeconds);
    const logs = result.logs
      .map((log, logIndex) => logAt(header, log, logIndex))
      .filter((log) => source.isWanted(log));
    const read = (told: readonly RpcLog[]) => ({
      header,
      events: source.decode(header, told),
    });
    const isMissed = this.#random.chance(0.3);
    const first = isMissed ? logs.filter(() => this.#random.chance(0.7)) : logs;
    await appendBlocks(this.#context, cursor, [read(first)]);
    const block = await storedBlock(this.#context, header.number);
    if (block === undefined) throw new Error('a block that was not stored');
    await finalize(this.#context, await this.#cursor(), block);
    if (isMissed) await addMissing(this.#context, await this.#cursor(), read(logs));
  }

  /** The differences between books and chain. Empty when they agree. */
  async differences(): Promise<string[]> {
    const balances = await ledgerBalances(this.#db);
    const own = this.#context.chain.name;
    return [...(await this.#held())].flatMap(([key, held]) => {
      const [account, asset] = key.split(' ');
      const booked = balances.find((balance) => balance.account === account && balance.asset === asset);
      const expected = held - (this.#opening.get(key) ?? 0n);
      const told = account === 'fees' ? -(booked?.balance ?? 0n) : (booked?.balance ?? 0n);
      return told === expected ? [] : [`${own}: ${key} is ${expected} on the chain, ${told} in the books`];
    });
  }

  /** The balances on the chain, by account and asset. */
  async #held(): Promise<Map<string, bigint>> {
    const { chain } = this.#context;
    const { gateway, vault } = this.#real;
    const held = new Map<string, bigint>();
    for (const { address, tokenId } of chain.tokens) {
      held.set(`gateway:${chain.name} ${tokenId}`, await this.#real.balanceOf(address, gateway));
      held.set(`vault:${chain.name} ${tokenId}`, await this.#real.balanceOf(address, vault));
      held.set(`fees ${tokenId}`, await this.#real.accruedFees(address));
    }
    return held;
  }

  async #cursor() {
    const cursor = await findCursor(this.#db, this.#context.chain.chainId);
    if (cursor === undefined) throw new Error('the books have no cursor yet');
    return cursor;
  }

  #header(number: bigint, parentHash: Hex, timeSeconds: number): BlockHeader {
    const hash = keccak256(toHex(`${this.#context.chain.name} ${number}`));
    return {
      ...{ number, hash, parentHash, time: new Date(timeSeconds * 1_000), logsBloom: '0x' as const },
      ...{ baseFeePerGas: 1n, transactionHashes: [keccak256(hash)] },
    };
  }
}

/** A separate chain for each sequence, so that all sequences can share a database. */
function chainNamed(real: RealChain, name: string): Chain {
  const chainId = Number(name.replace('sequence', '')) + 1_000_000;
  const { gateway, vault } = real;
  const tokens = real.tokens.map((address, index) => {
    const symbol = ['USDC', 'EURC'][index] ?? '';
    const tokenId = `${name}::${symbol.toLowerCase()}`;
    return { tokenId, chainName: name, chainId, address, name: symbol, symbol, decimals: 6 };
  });
  const policy = {
    startBlock: 1n,
    finality: { tag: 'finalized', depth: 0, quorum: 1 },
    pollIntervalMs: 1_000,
  } as const;
  const [chain] = chainsOf([{ name, chainId, rpcUrls: [], gateway, vault, tokens, ...policy }]).all;
  if (chain === undefined) throw new Error('no chain');
  return chain;
}

function logAt(
  header: BlockHeader,
  { address, topics, data }: RealResult['logs'][number],
  logIndex: number,
): RpcLog {
  const [transactionHash = header.hash] = header.transactionHashes;
  return {
    ...{ address: address.toLowerCase() as Hex, topics, data, logIndex, transactionHash, removed: false },
    ...{ blockHash: header.hash, blockNumber: header.number },
  };
}

import { type Rpc, type RpcCall, RpcError, type RpcOutcome } from '@florin/evm';
import type { Hex } from '@florin/protocol/order.ts';
import { encodeAbiParameters, keccak256, pad, toEventSelector, toHex } from 'viem';

interface SentTransfer {
  readonly to: Hex;
  readonly block: bigint;
  readonly amount: bigint;
}

/** The chain as a node shows it, with transfers of one token that the test chooses, and what the node was asked. */
export class SearchedNode {
  head = 0n;
  final = 0n;
  fork = '';
  /** The last block that the node has. */
  known = 0n;
  /** More blocks than that are refused; no limit when 0. */
  mostBlocks = 0n;
  transfers: SentTransfer[] = [];
  readonly balances = new Map<string, bigint>();
  /** What addresses hold at a numbered block, where the newest one has something else. */
  readonly olderBalances = new Map<string, bigint>();
  questions: string[] = [];
  ranges: [bigint, bigint][] = [];
  balancesAsked: string[] = [];
  readonly #token: Hex;
  readonly rpc: Rpc = {
    request: async () => {
      throw new Error('all questions come in batches');
    },
    batch: async (calls) => calls.map((call) => this.#answer(call)),
  };

  constructor(token: Hex) {
    this.#token = token;
  }

  /** Forgets the test before; the blocks stay. */
  begin(): void {
    this.fork = '';
    this.mostBlocks = 0n;
    this.transfers = [];
    this.balances.clear();
    this.olderBalances.clear();
    this.forget();
  }

  /** Forgets what it was asked. */
  forget(): void {
    this.questions = [];
    this.ranges = [];
    this.balancesAsked = [];
  }

  hashOf(number: bigint): Hex {
    return keccak256(toHex(`block ${number}${number > this.final ? this.fork : ''}`));
  }

  #answer({ method, params }: RpcCall): RpcOutcome {
    this.questions.push(method);
    const [first, second] = params as [Record<string, unknown>, unknown];
    if (method === 'eth_getBlockByNumber') {
      const number = BigInt(String(first));
      if (number > this.known) return { result: null };
      const [logsBloom, timestamp] = [`0x${'00'.repeat(256)}`, '0x1'];
      const header = {
        number: String(first),
        hash: this.hashOf(number),
        parentHash: this.hashOf(number - 1n),
      };
      return { result: { ...header, logsBloom, timestamp, transactions: [] } };
    }
    if (method === 'eth_getLogs') return this.#logsOf(first);
    this.balancesAsked.push(`0x${String(first['data']).slice(-40)} ${second}`);
    const holder = `0x${String(first['data']).slice(-40)}`;
    const older = second === 'latest' ? undefined : this.olderBalances.get(holder);
    const amount = older ?? this.balances.get(holder) ?? 0n;
    return { result: encodeAbiParameters([{ type: 'uint256' }], [amount]) };
  }

  #logsOf(filter: Record<string, unknown>): RpcOutcome {
    const [from, to] = [BigInt(String(filter['fromBlock'])), BigInt(String(filter['toBlock']))];
    this.ranges.push([from, to]);
    if (this.mostBlocks > 0n && to - from >= this.mostBlocks)
      return { error: new RpcError(-32005, 'block range too large') };
    const names = (filter['topics'] as unknown[])[2] as string[] | undefined;
    const found = this.transfers.filter(
      ({ to: receiver, block }) =>
        block >= from && block <= to && (names === undefined || names.includes(pad(receiver).toLowerCase())),
    );
    const result = found.map(({ to: receiver, block, amount }) => ({
      address: this.#token.toLowerCase(),
      topics: [
        toEventSelector('Transfer(address,address,uint256)'),
        pad('0x01'),
        pad(receiver).toLowerCase(),
      ],
      data: pad(toHex(amount)),
      blockHash: this.hashOf(block),
      blockNumber: toHex(block),
      logIndex: '0x0',
      transactionHash: keccak256(toHex(`payment in ${this.hashOf(block)}`)),
    }));
    return { result };
  }
}

import {
  type BlockHeader,
  type BloomBits,
  bloomBitsOf,
  type LogContent,
  mayContain,
  type RpcLog,
} from '@florin/evm';
import { type Hex, orderKinds } from '@florin/protocol/order.ts';
import { getAddress, toEventSelector, zeroHash } from 'viem';
import { type Chain, contractsOf } from '#chains/chain.ts';
import type { ChainEvent } from './event.ts';

/** Transfers of the configured tokens into and out of our contracts, with their bloom bits. */
export interface WatchedTransfers {
  /** Lower case. */
  readonly tokens: readonly { readonly address: Hex; readonly bits: BloomBits }[];
  readonly holders: readonly Holder[];
}

interface Holder {
  readonly name: 'gateway' | 'vault';
  /** Lower case. */
  readonly address: Hex;
  /** The address as an indexed argument. */
  readonly topic: Hex;
  readonly bits: BloomBits;
}

const transferTopic = toEventSelector('Transfer(address,address,uint256)');
const transferBits = bloomBitsOf(transferTopic);

export function watchedTransfers(chain: Chain): WatchedTransfers {
  const { gateways, vaults } = contractsOf(chain);
  const holderOf = (name: Holder['name'], given: Hex): Holder => {
    const address = given.toLowerCase() as Hex;
    const topic: Hex = `0x${address.slice(2).padStart(64, '0')}`;
    return { name, address, topic, bits: bloomBitsOf(topic) };
  };
  return {
    tokens: chain.tokens.map((token) => {
      const address = token.address.toLowerCase() as Hex;
      return { address, bits: bloomBitsOf(address) };
    }),
    holders: [
      ...gateways.map((address) => holderOf('gateway', address)),
      ...vaults.map((address) => holderOf('vault', address)),
    ],
  };
}

/** Whether a block or receipt with this bloom can have such a transfer. */
export function mayHaveTransfers({ tokens, holders }: WatchedTransfers, bloom: Hex): boolean {
  return (
    tokens.some((token) => mayContain(bloom, token.bits)) &&
    mayContain(bloom, transferBits) &&
    holders.some((holder) => mayContain(bloom, holder.bits))
  );
}

/** Whether a log is such a transfer. */
export function isWatchedTransfer({ tokens, holders }: WatchedTransfers, log: LogContent): boolean {
  const [selector, from, to] = log.topics;
  return (
    selector === transferTopic &&
    log.topics.length === 3 &&
    log.data.length === 66 &&
    tokens.some((token) => token.address === log.address) &&
    holders.some((holder) => holder.topic === from || holder.topic === to)
  );
}

/** The balance changes of all gateways, or of all vaults, in one token and one transaction. */
interface Movement {
  readonly holder: Holder['name'];
  readonly token: Hex;
  readonly last: RpcLog;
  readonly moved: bigint;
}

/**
 * Compares the tokens' transfers into and out of our contracts with the contracts' own events, for each transaction.
 * Each difference becomes one event `Transferred` at the index of its last transfer; `amount` is positive for money
 * that arrived. Either a third party sent tokens to a contract of ours, or the operator refilled a float. A token
 * that changes balances without a `Transfer` leaves no event: the reconciliation finds it.
 */
export function unaccountedTransfers(
  watched: WatchedTransfers,
  header: BlockHeader,
  found: {
    readonly chainId: number;
    readonly logs: readonly RpcLog[];
    readonly events: readonly ChainEvent[];
  },
): readonly ChainEvent[] {
  const unaccounted: ChainEvent[] = [];
  for (const { holder, token, last, moved } of movementsOf(watched, found.logs)) {
    const ofTransaction = found.events.filter((event) => event.txHash === last.transactionHash);
    const amount = moved - accountedFor(watched, holder, token, ofTransaction);
    if (amount === 0n) continue;
    unaccounted.push({
      chainId: found.chainId,
      blockNumber: header.number,
      blockHash: header.hash,
      blockTime: header.time,
      logIndex: last.logIndex,
      txHash: last.transactionHash,
      contract: holder,
      name: 'Transferred',
      orderId: zeroHash,
      arguments: { token: getAddress(token), amount: amount.toString() },
    });
  }
  return unaccounted;
}

function movementsOf(watched: WatchedTransfers, logs: readonly RpcLog[]): readonly Movement[] {
  const movements = new Map<string, Movement>();
  for (const log of logs) {
    const holderAt = (topic: Hex | undefined) =>
      watched.holders.find((holder) => holder.topic === topic)?.name;
    const [from, to] = [holderAt(log.topics[1]), holderAt(log.topics[2])];
    for (const [holder, amount] of [
      [from, -BigInt(log.data)],
      [to, BigInt(log.data)],
    ] as const) {
      if (holder === undefined) continue;
      const key = `${log.transactionHash} ${log.address} ${holder}`;
      const moved = (movements.get(key)?.moved ?? 0n) + amount;
      movements.set(key, { holder, token: log.address, last: log, moved });
    }
  }
  return [...movements.values()];
}

/**
 * The amount that the events of one transaction report for a kind of holder, in one token; negative for money that
 * left.
 */
function accountedFor(
  { holders }: WatchedTransfers,
  holder: Holder['name'],
  token: Hex,
  events: readonly ChainEvent[],
): bigint {
  // Direct payments: their money never stays in the contract, and the same transaction settles them. Only a fee may stay.
  const direct = new Set(
    events
      .filter(
        ({ name, arguments: said }) => name === 'Paid' && said['orderType'] === String(orderKinds.direct),
      )
      .map((event) => event.orderId),
  );
  const isVault = (address: string | undefined) =>
    holders.some((known) => known.name === 'vault' && known.address === address?.toLowerCase());
  let sum = 0n;
  for (const event of events) {
    if (event.arguments['token']?.toLowerCase() !== token) continue;
    const value = (name: string) => BigInt(event.arguments[name] ?? '0');
    if (event.name === 'FeeAccrued' && holder === 'gateway') sum += value('value');
    if (direct.has(event.orderId)) continue;
    if (holder === 'vault') {
      if (event.name === 'PaidOut' || event.name === 'Withdrawn') sum -= value('amount');
      if (event.name === 'Settled' && isVault(event.arguments['to'])) sum += value('netValue');
      continue;
    }
    if (event.name === 'Paid') sum += value('totalValue');
    if (event.name === 'Settled') sum -= value('netValue');
    if (event.name === 'Refunded' || event.name === 'Reclaimed' || event.name === 'FeesWithdrawn')
      sum -= value('value');
  }
  return sum;
}

import type { Hex } from '@florin/protocol/order.ts';
import type { Chain } from '../chain.ts';
import type { ChainEvent } from '../event.ts';
import type { BlockHeader, Receipt, RpcLog } from '../rpc/actions.ts';
import { type BloomBits, bloomBitsOf, bloomOf, isSubset, mayContain, unionOf } from '../rpc/bloom.ts';
import { RpcAnswerInvalid } from '../rpc/rpc.ts';
import { decodeLog, topicBitsOf } from './contract-event.ts';

/** The contracts of one chain, ready to be looked for in blooms. */
export interface WatchedContracts {
  readonly chainId: number;
  readonly contracts: readonly {
    readonly name: 'gateway' | 'vault';
    /** Lower case. */
    readonly address: Hex;
    readonly bits: BloomBits;
  }[];
  readonly addresses: readonly Hex[];
}

export function watchedContracts(chain: Chain): WatchedContracts {
  const contracts = (['gateway', 'vault'] as const).map((name) => {
    const address = chain[name].toLowerCase() as Hex;
    return { name, address, bits: bloomBitsOf(address) };
  });
  return { chainId: chain.chainId, contracts, addresses: contracts.map((contract) => contract.address) };
}

/** Whether a block with this bloom can have events of ours: one of the contracts' addresses and one of its topics. */
export function mayHaveEvents(watched: WatchedContracts, bloom: Hex): boolean {
  return watched.contracts.some(
    (contract) =>
      mayContain(bloom, contract.bits) && topicBitsOf(contract.name).some((bits) => mayContain(bloom, bits)),
  );
}

/**
 * Checks the logs that a node gave for a block against its header and decodes those of our events, in order. Throws
 * `RpcAnswerInvalid` for a log that cannot be of this block: the answer is then worth nothing.
 */
export function eventsOf(
  watched: WatchedContracts,
  header: BlockHeader,
  logs: readonly RpcLog[],
): readonly ChainEvent[] {
  const events: ChainEvent[] = [];
  let lastIndex = -1;
  for (const log of logs) {
    const contract = watched.contracts.find((candidate) => candidate.address === log.address);
    if (contract === undefined) throw new RpcAnswerInvalid('a log of another contract than asked for');
    checkPlace(header, log, lastIndex);
    lastIndex = log.logIndex;
    const event = decodeLog(contract.name, log);
    if (event === undefined) continue;
    events.push({
      chainId: watched.chainId,
      blockNumber: header.number,
      blockHash: header.hash,
      blockTime: header.time,
      logIndex: log.logIndex,
      txHash: log.transactionHash,
      contract: contract.name,
      ...event,
    });
  }
  return events;
}

function checkPlace(header: BlockHeader, log: RpcLog, lastIndex: number): void {
  if (log.removed) throw new RpcAnswerInvalid('a removed log');
  if (log.blockHash !== header.hash || log.blockNumber !== header.number) {
    throw new RpcAnswerInvalid('a log of another block than asked for');
  }
  if (log.logIndex <= lastIndex) throw new RpcAnswerInvalid('logs out of order, or one twice');
  if (!header.transactionHashes.includes(log.transactionHash)) {
    throw new RpcAnswerInvalid('a log of a transaction that is not in its block');
  }
  if (![log.address, ...log.topics].every((value) => mayContain(header.logsBloom, bloomBitsOf(value)))) {
    throw new RpcAnswerInvalid("a log that the block's bloom excludes");
  }
}

/**
 * Takes our contracts' logs out of all receipts of a block, after checking that the receipts account for the header's
 * bloom: a node that leaves out a receipt, or a log of one that may concern us, is caught.
 */
export function logsOfReceipts(
  watched: WatchedContracts,
  header: BlockHeader,
  receipts: readonly Receipt[],
): readonly RpcLog[] {
  if (receipts.some((receipt) => receipt.blockHash !== header.hash)) {
    throw new RpcAnswerInvalid('a receipt of another block than asked for');
  }
  if (!isSubset(header.logsBloom, unionOf(receipts.map((receipt) => receipt.logsBloom)))) {
    throw new RpcAnswerInvalid("receipts that do not account for the block's bloom");
  }
  const concerned = receipts.filter((receipt) => mayHaveEvents(watched, receipt.logsBloom));
  for (const receipt of concerned) {
    const values = receipt.logs.flatMap((log) => [log.address, ...log.topics]);
    if (!isSubset(receipt.logsBloom, bloomOf(values))) {
      throw new RpcAnswerInvalid("logs that do not account for their receipt's bloom");
    }
  }
  return concerned
    .flatMap((receipt) => receipt.logs)
    .filter((log) => watched.addresses.includes(log.address))
    .toSorted((first, second) => first.logIndex - second.logIndex);
}

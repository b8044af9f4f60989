import {
  type BlockHeader,
  type BloomBits,
  bloomBitsOf,
  bloomOf,
  isBorReceipt,
  isSubset,
  type LogContent,
  mayContain,
  type Receipt,
  RpcAnswerInvalid,
  type RpcLog,
  receiptsRootOf,
  unionOf,
} from '@florin/evm';
import type { Hex } from '@florin/protocol/order.ts';
import { type Chain, contractsOf, type MintSource } from '../chain.ts';
import type { ChainEvent, ContractName } from '../event.ts';
import { decodeLog, decodeMint, topicBitsOf } from './contract-event.ts';
import { withDirectSettlements } from './direct-settlement.ts';
import {
  isWatchedTransfer,
  mayHaveTransfers,
  unaccountedTransfers,
  type WatchedTransfers,
  watchedTransfers,
} from './transfer.ts';

/** The contracts of one chain, ready to be looked for in blooms. */
export interface WatchedContracts {
  readonly chainId: number;
  readonly contracts: readonly {
    readonly name: ContractName;
    /** Lower case. */
    readonly address: Hex;
    readonly bits: BloomBits;
  }[];
  readonly transfers: WatchedTransfers;
  /** Of the contracts and of the tokens. */
  readonly addresses: readonly Hex[];
  /** See `Chain.mintSources`. */
  readonly mintSources: readonly MintSource[];
  /** See `Chain.proofs`. */
  readonly proofs: 'required' | 'quorum';
  /** How many nodes must say the same where nothing is proven. */
  readonly quorum: number;
}

export function watchedContracts(chain: Chain): WatchedContracts {
  const { gateways, vaults } = contractsOf(chain);
  const watched: readonly (readonly [ContractName, Hex])[] = [
    ...gateways.map((address) => ['gateway', address] as const),
    ...vaults.map((address) => ['vault', address] as const),
    ...(chain.cctp === undefined ? [] : [['transmitter', chain.cctp.transmitter] as const]),
  ];
  const contracts = watched.map(([name, given]) => {
    const address = given.toLowerCase() as Hex;
    return { name, address, bits: bloomBitsOf(address) };
  });
  const transfers = watchedTransfers(chain);
  return {
    chainId: chain.chainId,
    contracts,
    transfers,
    addresses: [...contracts, ...transfers.tokens].map(({ address }) => address),
    mintSources: chain.mintSources ?? [],
    proofs: chain.proofs ?? 'quorum',
    quorum: chain.finality.quorum ?? 1,
  };
}

/**
 * Whether a block with this bloom can have events of ours: one of the contracts' addresses and one of its topics, or a
 * token's transfer into or out of them.
 */
export function mayHaveEvents(watched: WatchedContracts, bloom: Hex): boolean {
  const mayHaveOwn = watched.contracts.some(
    (contract) =>
      mayContain(bloom, contract.bits) && topicBitsOf(contract.name).some((bits) => mayContain(bloom, bits)),
  );
  return mayHaveOwn || mayHaveTransfers(watched.transfers, bloom);
}

/** Whether a log is of one of the contracts, or a token's transfer into or out of them; most of a token's are neither. */
export function isConcerned(watched: WatchedContracts, log: LogContent): boolean {
  return (
    watched.contracts.some((contract) => contract.address === log.address) ||
    isWatchedTransfer(watched.transfers, log)
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
  let lastIndex = -1;
  for (const log of logs) {
    checkPlace(header, log, lastIndex);
    lastIndex = log.logIndex;
  }
  return decodeEvents(watched, header, logs);
}

/** Decodes the logs of our events, in order; their place in the block has been checked, or proven. */
export function decodeEvents(
  watched: WatchedContracts,
  header: BlockHeader,
  logs: readonly RpcLog[],
): readonly ChainEvent[] {
  const events: ChainEvent[] = [];
  const transfers: RpcLog[] = [];
  for (const log of logs) {
    const contract = watched.contracts.find(({ address }) => address === log.address);
    if (contract === undefined) {
      if (!isWatchedTransfer(watched.transfers, log))
        throw new RpcAnswerInvalid('a log of another contract than asked for');
      transfers.push(log);
      continue;
    }
    const event =
      contract.name === 'transmitter' ? decodeMint(log, watched.mintSources) : decodeLog(contract.name, log);
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
  if (transfers.length === 0) return withDirectSettlements(events);
  const found = { chainId: watched.chainId, logs: transfers, events };
  return withDirectSettlements(
    [...events, ...unaccountedTransfers(watched.transfers, header, found)].toSorted(
      (first, second) => first.logIndex - second.logIndex,
    ),
  );
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
 * Whether these are the receipts that a proven header commits to: all of them, in order, to the last byte. False proves
 * nothing: the node lies, or the chain encodes receipts in a way that is not known here.
 */
export function areProvenReceipts(header: BlockHeader, receipts: readonly Receipt[]): boolean {
  return header.isProven === true && receiptsRootOf(committed(receipts)) === header.receiptsRoot;
}

/** Without what nodes add to the receipts that a header commits to. */
function committed(receipts: readonly Receipt[]): readonly Receipt[] {
  const last = receipts.at(-1);
  return last !== undefined && isBorReceipt(last) ? receipts.slice(0, -1) : receipts;
}

/**
 * Takes our contracts' logs out of receipts that have been proven. The root commits neither to hashes of transactions nor
 * to places of logs: those must agree with the header's list and with the order of the receipts.
 */
export function logsOfProvenReceipts(
  watched: WatchedContracts,
  header: BlockHeader,
  receipts: readonly Receipt[],
): readonly RpcLog[] {
  const own = committed(receipts);
  const logs: RpcLog[] = [];
  let place = 0;
  for (const [index, receipt] of own.entries()) {
    const txHash = header.transactionHashes[index];
    if (receipt.transactionHash !== txHash || receipt.blockHash !== header.hash) {
      throw new RpcAnswerInvalid('a receipt in the place of another');
    }
    for (const log of receipt.logs) {
      if (log.transactionHash !== txHash || log.logIndex !== place) {
        throw new RpcAnswerInvalid('a log in the place of another');
      }
      if (isConcerned(watched, log)) logs.push(log);
      place += 1;
    }
  }
  return logs;
}

/**
 * Takes our contracts' logs out of all receipts of a block, after checking that the receipts account for the header's
 * bloom: a node that leaves out a receipt, or a log of one that may concern us, is caught; but for the first or last log
 * of a transaction whose bits its others have as well.
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
    requireUnbroken(receipt);
  }
  return concerned
    .flatMap((receipt) => receipt.logs)
    .filter((log) => isConcerned(watched, log))
    .toSorted((first, second) => first.logIndex - second.logIndex);
}

/** A log whose bits the others of its transaction have as well is not missed in a bloom: its number is. */
function requireUnbroken({ logs }: Receipt): void {
  const places = logs.map(({ logIndex }) => logIndex).toSorted((first, second) => first - second);
  if (places.some((place, index) => index > 0 && place !== (places[index - 1] ?? place) + 1)) {
    throw new RpcAnswerInvalid('logs of one transaction whose numbers do not follow each other');
  }
}

import {
  type BlockHeader,
  bloomBitsOf,
  type LogSource,
  mayContain,
  RpcAnswerInvalid,
  type RpcLog,
} from '@florin/evm';
import type { Hex } from '@florin/protocol/order.ts';
import { type Chain, contractsOf } from '#chains/chain.ts';
import { decodeLog, decodeMint, topicBitsOf } from './contract-event.ts';
import { withDirectSettlements } from './direct-settlement.ts';
import type { ChainEvent, ContractName } from './event.ts';
import { isWatchedTransfer, mayHaveTransfers, unaccountedTransfers, watchedTransfers } from './transfer.ts';

/**
 * The logs that the service reads from a chain: those of its contracts and of Circle's transmitter, and the tokens'
 * transfers into or out of the contracts.
 */
export function logSourceOf(chain: Chain): LogSource<ChainEvent> {
  const { chainId, cctp, mintSources = [] } = chain;
  const { gateways, vaults } = contractsOf(chain);
  const named: readonly (readonly [ContractName, Hex])[] = [
    ...gateways.map((address) => ['gateway', address] as const),
    ...vaults.map((address) => ['vault', address] as const),
    ...(cctp === undefined ? [] : [['transmitter', cctp.transmitter] as const]),
  ];
  const contracts = named.map(([name, given]) => {
    const address = given.toLowerCase() as Hex;
    return { name, address, bits: bloomBitsOf(address) };
  });
  const transfers = watchedTransfers(chain);

  const eventOf = (header: BlockHeader, log: RpcLog): ChainEvent | undefined => {
    const contract = contracts.find(({ address }) => address === log.address)?.name;
    if (contract === undefined) throw new RpcAnswerInvalid('a log of another contract than asked for');
    const decoded = contract === 'transmitter' ? decodeMint(log, mintSources) : decodeLog(contract, log);
    if (decoded === undefined) return undefined;
    const { number: blockNumber, hash: blockHash, time: blockTime } = header;
    const { logIndex, transactionHash: txHash } = log;
    return { chainId, blockNumber, blockHash, blockTime, logIndex, txHash, contract, ...decoded };
  };
  const isTransfer = (log: RpcLog) =>
    !contracts.some(({ address }) => address === log.address) && isWatchedTransfer(transfers, log);

  return {
    addresses: [...contracts, ...transfers.tokens].map(({ address }) => address),
    derivedNames: ['Transferred'],
    mayHaveEvents(bloom) {
      const mayHaveOwn = contracts.some(
        ({ name, bits }) =>
          mayContain(bloom, bits) && topicBitsOf(name).some((topics) => mayContain(bloom, topics)),
      );
      return mayHaveOwn || mayHaveTransfers(transfers, bloom);
    },
    isWanted: (log) =>
      contracts.some(({ address }) => address === log.address) || isWatchedTransfer(transfers, log),
    decode(header, logs) {
      const events = logs.flatMap((log) => (isTransfer(log) ? [] : (eventOf(header, log) ?? [])));
      const found = { chainId, logs: logs.filter(isTransfer), events };
      const derived = unaccountedTransfers(transfers, header, found);
      return withDirectSettlements(
        [...events, ...derived].toSorted((first, second) => first.logIndex - second.logIndex),
      );
    },
  };
}

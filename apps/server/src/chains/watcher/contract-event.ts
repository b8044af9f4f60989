import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { withChecksum } from '@florin/signing';
import { type Abi, type AbiEvent, bytesToHex, getAddress, toEventSelector, zeroHash } from 'viem';
import { parseBurnBody } from '../cctp-message.ts';
import type { MintSource } from '../chain.ts';
import type { ChainEventName, ContractName } from '../event.ts';
import { type BloomBits, bloomBitsOf } from '../rpc/bloom.ts';
import { hexAt, isAt, type LogContent, type LogPlaces } from '../rpc/log-bytes.ts';
import { RpcAnswerInvalid } from '../rpc/rpc.ts';

/** A decoded log of one of our contracts. */
export interface ContractEvent {
  readonly name: ChainEventName;
  readonly orderId: Hex;
  /** Integers as decimal strings, addresses checksummed, bytes32 as lower-case hex. */
  readonly arguments: Readonly<Record<string, string>>;
}

interface Parameter {
  readonly name: string;
  readonly isIndexed: boolean;
  readonly read: WordReader;
}

/** Reads the word of 32 bytes that begins at a place. */
type WordReader = (bytes: Buffer, at: number) => string;

interface EventShape {
  /** The first topic of its logs. */
  readonly selector: Uint8Array;
  readonly name: ChainEventName;
  readonly parameters: readonly Parameter[];
  readonly topicCount: number;
  /** Bytes of its data. */
  readonly dataSize: number;
  /** Whether its first indexed argument is an order's id. */
  readonly hasOrder: boolean;
}

interface EventTable {
  readonly shapes: readonly EventShape[];
  /** Bloom bits of the events' first topics. */
  readonly topicBits: readonly BloomBits[];
}

const wordSize = 32;

/** An integer whose other bytes are all zero is held exactly by a double: below 2^48. */
const smallSize = 6;

function readInteger(bits: number): WordReader {
  const limit = 1n << BigInt(bits);
  const smallLimit = 2 ** bits;
  return (bytes, at) => {
    // Most amounts are small, and all kinds are: to read them as such takes a tenth of the time.
    const low = at + wordSize - smallSize;
    const value = isZero(bytes, at, low)
      ? bytes.readUIntBE(low, smallSize)
      : BigInt(hexAt(bytes, at, at + wordSize));
    if (value >= (typeof value === 'number' ? smallLimit : limit))
      throw new RpcAnswerInvalid(`malformed log: an integer over ${bits} bits`);
    return value.toString();
  };
}

function isZero(bytes: Buffer, start: number, end: number): boolean {
  for (let index = start; index < end; index += 1) {
    if (bytes[index] !== 0) return false;
  }
  return true;
}

const addressSize = 20;

function readAddress(bytes: Buffer, at: number): string {
  const start = at + wordSize - addressSize;
  if (!isZero(bytes, at, start)) throw new RpcAnswerInvalid('malformed log: an address over 20 bytes');
  const slot = bytes.readUInt16BE(start) % seenAddresses.length;
  const seen = seenAddresses[slot];
  if (seen !== undefined && isAt(bytes, start, seen.bytes)) return seen.address;
  const own = Buffer.from(bytes.subarray(start, start + addressSize));
  const address = withChecksum(own.toString('hex'));
  seenAddresses[slot] = { bytes: own, address };
  return address;
}

/** Tokens and merchants come again and again, payers do not. Each address has one place, which the last one takes. */
const seenAddresses: ({ readonly bytes: Buffer; readonly address: string } | undefined)[] = Array.from({
  length: 1_024,
});

function readBytes(bytes: Buffer, at: number): string {
  return hexAt(bytes, at, at + wordSize);
}

function readerOf(type: string): WordReader {
  if (type === 'address') return readAddress;
  if (type === 'bytes32') return readBytes;
  const integer = /^uint(\d+)$/.exec(type);
  if (integer === null) throw new Error(`no reader for event arguments of type ${type}`);
  return readInteger(Number(integer[1]));
}

function tableOf(abi: Abi, names: readonly ChainEventName[]): EventTable {
  const shapes = names.map((name): EventShape => {
    const event = abi.find((item): item is AbiEvent => item.type === 'event' && item.name === name);
    if (event === undefined) throw new Error(`the contract has no event ${name}`);
    const parameters = event.inputs.map((input) => ({
      name: input.name ?? '',
      isIndexed: input.indexed === true,
      read: readerOf(input.type),
    }));
    const indexed = parameters.filter((parameter) => parameter.isIndexed).length;
    return {
      name,
      selector: Buffer.from(toEventSelector(event).slice(2), 'hex'),
      parameters,
      topicCount: 1 + indexed,
      dataSize: wordSize * (parameters.length - indexed),
      hasOrder: parameters[0]?.name === 'orderId',
    };
  });
  return { shapes, topicBits: shapes.map(({ selector }) => bloomBitsOf(bytesToHex(selector))) };
}

const tables: Readonly<Record<Exclude<ContractName, 'transmitter'>, EventTable>> = {
  gateway: tableOf(paymentGatewayAbi, [
    'Paid',
    'Settled',
    'Refunded',
    'Reclaimed',
    'SettleSkipped',
    'SettlementRefunded',
    'Rescued',
    'FeesWithdrawn',
  ]),
  vault: tableOf(payoutVaultAbi, ['PaidOut', 'PayoutSkipped', 'Withdrawn']),
};

/** Digits of a word. */
const wordLength = 2 * wordSize;

/** MessageReceived of Circle's MessageTransmitterV2. */
const receivedTopic = toEventSelector('MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)');
/** Our burns are attested once they are final: the third indexed argument of their messages. */
const finalizedTopic: Hex = `0x${(2000).toString(16).padStart(64, '0')}`;
/** A transmitter carries everybody's transfers. Both topics together leave out the fast ones, which are most. */
const receivedBits: BloomBits = [...bloomBitsOf(receivedTopic), ...bloomBitsOf(finalizedTopic)];

/** Bloom bits that one of this contract's events that the service acts on would set, besides its address. */
export function topicBitsOf(contract: ContractName): readonly BloomBits[] {
  return contract === 'transmitter' ? [receivedBits] : tables[contract].topicBits;
}

/**
 * Decodes a message that Circle's transmitter took, when it mints for a burn by one of the sources' routes; undefined for
 * everybody else's. The transmitter has checked the attestation; that the message came from Circle's messenger and was
 * burnt by our route is checked here, so that nobody can invent a mint for an order.
 */
export function decodeMint(log: LogContent, sources: readonly MintSource[]): ContractEvent | undefined {
  const [selector, , nonce] = log.topics;
  if (selector !== receivedTopic) return undefined;
  const words = 2 + 4 * wordLength;
  if (log.topics.length !== 4 || nonce === undefined || log.data.length < words) {
    throw new RpcAnswerInvalid('malformed log: topics or data of MessageReceived');
  }
  const word = (place: number) => log.data.slice(2 + place * wordLength, 2 + (place + 1) * wordLength);
  const length = BigInt(`0x${word(3)}`);
  if (BigInt(`0x${word(2)}`) !== 96n || length > BigInt(log.data.length)) {
    throw new RpcAnswerInvalid('malformed log: the message of MessageReceived');
  }
  const burn = parseBurnBody(`0x${log.data.slice(words, words + 2 * Number(length))}`);
  if (burn === undefined) return undefined;
  const { orderId, messageSender, to, amount, burnToken, feeExecuted } = burn;
  const sourceDomain = Number(readInteger(32)(Buffer.from(word(0), 'hex'), 0));
  const isOurs = sources.some(
    ({ domain, messenger, routes }) =>
      domain === sourceDomain &&
      word(1) === messenger.slice(2).padStart(wordLength, '0') &&
      routes.includes(messageSender),
  );
  if (!isOurs) return undefined;
  return {
    name: 'Minted',
    orderId,
    arguments: {
      ...{ sourceDomain: String(sourceDomain), nonce, to, burnToken: getAddress(burnToken) },
      ...{ amount: (amount - feeExecuted).toString(), fee: feeExecuted.toString() },
    },
  };
}

/**
 * Decodes a log of one of our contracts; undefined for events that the service does not act on. A log whose topics or
 * data do not fit its event is a fault of the node: the contracts cannot have written it.
 */
export function decodeLog(
  contract: Exclude<ContractName, 'transmitter'>,
  bytes: Buffer,
  { topics, data, dataEnd }: LogPlaces,
): ContractEvent | undefined {
  const [selector] = topics;
  if (selector === undefined) return undefined;
  const shape = tables[contract].shapes.find((candidate) => isAt(bytes, selector, candidate.selector));
  if (shape === undefined) return undefined;
  if (topics.length !== shape.topicCount || dataEnd - data !== shape.dataSize) {
    throw new RpcAnswerInvalid(`malformed log: topics or data of ${shape.name}`);
  }
  const values: Record<string, string> = {};
  let topic = 1;
  let offset = data;
  for (const { name, isIndexed, read } of shape.parameters) {
    if (isIndexed) {
      values[name] = read(bytes, topics[topic] ?? 0);
      topic += 1;
    } else {
      values[name] = read(bytes, offset);
      offset += wordSize;
    }
  }
  const orderId = shape.hasOrder ? (values['orderId'] as Hex) : zeroHash;
  return { name: shape.name, orderId, arguments: values };
}

import { type BloomBits, bloomBitsOf, type LogContent, RpcAnswerInvalid } from '@florin/evm';
import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { withChecksum } from '@florin/signing';
import { type Abi, type AbiEvent, getAddress, toEventSelector, zeroHash } from 'viem';
import type { MintSource } from '#chains/chain.ts';
import { parseBurnBody } from './cctp-message.ts';
import type { ChainEventName, ContractName } from './event.ts';

/** A decoded log of one of our contracts. */
export interface ContractEvent {
  readonly name: ChainEventName;
  readonly orderId: Hex;
  /** Integers as decimal strings, addresses checksummed, bytes32 as lower-case hex. */
  readonly arguments: Readonly<Record<string, string>>;
}

interface Parameter {
  readonly name: string;
  /** The index of the topic that is its word; undefined for a word of the data. */
  readonly topic: number | undefined;
  /** The position of its first digit. */
  readonly at: number;
  readonly read: WordReader;
}

/** Reads the word whose 64 digits begin at a position of hexadecimal text. */
type WordReader = (text: Hex, at: number) => string;

interface EventShape {
  readonly name: ChainEventName;
  readonly parameters: readonly Parameter[];
  readonly topicCount: number;
  readonly dataLength: number;
  /** Whether its first indexed argument is an order's id. */
  readonly hasOrder: boolean;
}

interface EventTable {
  readonly shapes: ReadonlyMap<Hex, EventShape>;
  /** Bloom bits of the events' first topics. */
  readonly topicBits: readonly BloomBits[];
}

/** Digits of a word. */
const wordLength = 64;
/** Digits that a double holds exactly, with room to spare. */
const smallLength = 12;
// Constants: slices for each value took a quarter of the time of decoding a log.
const zerosBeforeSmall = '0'.repeat(wordLength - smallLength);
const zerosBeforeAddress = '0'.repeat(wordLength - 40);

function readInteger(bits: number): WordReader {
  const limit = 1n << BigInt(bits);
  return (text, at) => {
    // Most amounts have twelve digits at most: reading them as a double takes a tenth of the time.
    const low = at + wordLength - smallLength;
    const isSmall = text.startsWith(zerosBeforeSmall, at);
    const value = isSmall
      ? Number.parseInt(text.slice(low, low + smallLength), 16)
      : BigInt(readBytes(text, at));
    if (value >= limit) throw new RpcAnswerInvalid(`malformed log: an integer over ${bits} bits`);
    return value.toString();
  };
}

function readAddress(text: Hex, at: number): string {
  const start = at + wordLength - 40;
  if (!text.startsWith(zerosBeforeAddress, at))
    throw new RpcAnswerInvalid('malformed log: an address over 20 bytes');
  const digits = text.slice(start, start + 40);
  const known = checksummed.get(digits);
  if (known !== undefined) return known;
  const address = withChecksum(digits);
  if (checksummed.size === maxChecksummed) checksummed.clear();
  checksummed.set(digits, address);
  return address;
}

/** Tokens and merchants repeat, and the checksum takes most of an event's decoding time. */
const checksummed = new Map<string, Hex>();
const maxChecksummed = 1_000;

function readBytes(text: Hex, at: number): Hex {
  return text.length === 2 + wordLength ? text : `0x${text.slice(at, at + wordLength)}`;
}

function readerOf(type: string): WordReader {
  if (type === 'address') return readAddress;
  if (type === 'bytes32') return readBytes;
  const integer = /^uint(\d+)$/.exec(type);
  if (integer === null) throw new Error(`no reader for event arguments of type ${type}`);
  return readInteger(Number(integer[1]));
}

function tableOf(abi: Abi, names: readonly ChainEventName[]): EventTable {
  const shapes = new Map<Hex, EventShape>();
  for (const name of names) {
    const event = abi.find((item): item is AbiEvent => item.type === 'event' && item.name === name);
    if (event === undefined) throw new Error(`the contract has no event ${name}`);
    const indexed = event.inputs.filter((input) => input.indexed === true);
    const plain = event.inputs.filter((input) => input.indexed !== true);
    const parameterOf = (
      { name: argument = '', type }: AbiEvent['inputs'][number],
      topic?: number,
      at = 2,
    ) => ({
      ...{ name: argument, topic, at },
      read: readerOf(type),
    });
    const parameters = [
      // The first topic is the selector.
      ...indexed.map((input, index) => parameterOf(input, 1 + index)),
      ...plain.map((input, index) => parameterOf(input, undefined, 2 + index * wordLength)),
    ];
    shapes.set(toEventSelector(event), {
      name,
      parameters,
      topicCount: 1 + indexed.length,
      dataLength: 2 + wordLength * plain.length,
      hasOrder: parameters[0]?.name === 'orderId',
    });
  }
  return { shapes, topicBits: [...shapes.keys()].map(bloomBitsOf) };
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
    'FeeAccrued',
    'FeesWithdrawn',
  ]),
  vault: tableOf(payoutVaultAbi, ['PaidOut', 'PayoutSkipped', 'Withdrawn']),
};

/** MessageReceived of Circle's MessageTransmitterV2. */
const receivedTopic = toEventSelector('MessageReceived(address,uint32,bytes32,bytes32,uint32,bytes)');
/** Our burns are attested once they are final: the third indexed argument of their messages. */
const finalizedTopic: Hex = `0x${(2000).toString(16).padStart(64, '0')}`;
/** A transmitter also carries transfers of strangers. Both topics together exclude the fast ones, which are most. */
const receivedBits: BloomBits = [...bloomBitsOf(receivedTopic), ...bloomBitsOf(finalizedTopic)];

/** Bloom bits of this contract's events that the service acts on, without its address. */
export function topicBitsOf(contract: ContractName): readonly BloomBits[] {
  return contract === 'transmitter' ? [receivedBits] : tables[contract].topicBits;
}

/**
 * Decodes a message that Circle's transmitter received, when it mints for a burn by one of the sources' routes.
 * Undefined for all other messages. The transmitter has checked the attestation. This function checks that the
 * message came from Circle's messenger and that our route burnt. Otherwise a third party could forge a mint for an
 * order.
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
  const sourceDomain = Number(readInteger(32)(log.data, 2));
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
 * data do not fit its event is the node's fault: the contracts cannot have written it.
 */
export function decodeLog(
  contract: Exclude<ContractName, 'transmitter'>,
  log: LogContent,
): ContractEvent | undefined {
  const selector = log.topics[0];
  const shape = selector === undefined ? undefined : tables[contract].shapes.get(selector);
  if (shape === undefined) return undefined;
  if (log.topics.length !== shape.topicCount || log.data.length !== shape.dataLength) {
    throw new RpcAnswerInvalid(`malformed log: topics or data of ${shape.name}`);
  }
  const values: Record<string, string> = {};
  for (const { name, topic, at, read } of shape.parameters) {
    values[name] = read(topic === undefined ? log.data : (log.topics[topic] ?? '0x'), at);
  }
  const orderId = shape.hasOrder ? log.topics[1] : zeroHash;
  if (orderId === undefined) throw new RpcAnswerInvalid(`malformed log: ${shape.name} without an order id`);
  return { name: shape.name, orderId, arguments: values };
}

import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { type Abi, type AbiEvent, getAddress, toEventSelector, zeroHash } from 'viem';
import { parseBurnBody } from '../cctp-message.ts';
import type { MintSource } from '../chain.ts';
import { withChecksum } from '../checksum.ts';
import type { ChainEventName, ContractName } from '../event.ts';
import type { RpcLog } from '../rpc/actions.ts';
import { type BloomBits, bloomBitsOf } from '../rpc/bloom.ts';
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

/** Reads the word that begins at a place of a text in hexadecimal. To cut words out of logs first costs a third more. */
type WordReader = (text: string, at: number) => string;

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

/** Digits of one 32-byte word. */
const wordLength = 64;

/** An integer whose other digits are all zero is held exactly by a double: below 2^52. */
const smallDigits = 13;
const noHighDigits = '0'.repeat(wordLength - smallDigits);

function readInteger(bits: number): WordReader {
  const limit = 1n << BigInt(bits);
  const smallLimit = 2 ** bits;
  return (text, at) => {
    // Most amounts are small, and all kinds are: to read them as such takes a quarter of the time.
    const value = text.startsWith(noHighDigits, at)
      ? smallInteger(text, at)
      : BigInt(`0x${text.slice(at, at + wordLength)}`);
    if (value >= (typeof value === 'number' ? smallLimit : limit))
      throw new RpcAnswerInvalid(`malformed log: an integer over ${bits} bits`);
    return value.toString();
  };
}

/** The number that the last digits of a word are, in lower-case hexadecimal. */
function smallInteger(text: string, at: number): number {
  let value = 0;
  for (let index = at + wordLength - smallDigits; index < at + wordLength; index += 1) {
    const code = text.charCodeAt(index);
    value = value * 16 + (code <= 57 ? code - 48 : code - 87);
  }
  return value;
}

const addressPadding = '0'.repeat(24);

function readAddress(text: string, at: number): string {
  if (!text.startsWith(addressPadding, at))
    throw new RpcAnswerInvalid('malformed log: an address over 20 bytes');
  const digits = text.slice(at + addressPadding.length, at + wordLength);
  let address = seenAddresses.get(digits);
  if (address === undefined) {
    address = withChecksum(digits);
    if (seenAddresses.size === maxSeenAddresses) seenAddresses.clear();
    seenAddresses.set(digits, address);
  }
  return address;
}

/**
 * Tokens and merchants come again and again, payers do not: forgotten together, since to keep the order of use, as viem
 * does, costs more than the hash.
 */
const seenAddresses = new Map<string, string>();
const maxSeenAddresses = 1_000;

function readBytes(text: string, at: number): string {
  // A topic is one whole word.
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
    const parameters = event.inputs.map((input) => ({
      name: input.name ?? '',
      isIndexed: input.indexed === true,
      read: readerOf(input.type),
    }));
    const indexed = parameters.filter((parameter) => parameter.isIndexed).length;
    shapes.set(toEventSelector(event), {
      name,
      parameters,
      topicCount: 1 + indexed,
      dataLength: 2 + wordLength * (parameters.length - indexed),
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
    'FeesWithdrawn',
  ]),
  vault: tableOf(payoutVaultAbi, ['PaidOut', 'PayoutSkipped', 'Withdrawn']),
};

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
export function decodeMint(log: RpcLog, sources: readonly MintSource[]): ContractEvent | undefined {
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
 * data do not fit its event is a fault of the node: the contracts cannot have written it.
 */
export function decodeLog(
  contract: Exclude<ContractName, 'transmitter'>,
  log: RpcLog,
): ContractEvent | undefined {
  const selector = log.topics[0];
  const shape = selector === undefined ? undefined : tables[contract].shapes.get(selector);
  if (shape === undefined) return undefined;
  if (log.topics.length !== shape.topicCount || log.data.length !== shape.dataLength) {
    throw new RpcAnswerInvalid(`malformed log: topics or data of ${shape.name}`);
  }
  const values: Record<string, string> = {};
  let topic = 1;
  let offset = 2;
  for (const parameter of shape.parameters) {
    if (parameter.isIndexed) {
      values[parameter.name] = parameter.read(log.topics[topic] ?? '', 2);
      topic += 1;
    } else {
      values[parameter.name] = parameter.read(log.data, offset);
      offset += wordLength;
    }
  }
  const orderId = shape.hasOrder ? log.topics[1] : zeroHash;
  if (orderId === undefined) throw new RpcAnswerInvalid(`malformed log: ${shape.name} without an order id`);
  return { name: shape.name, orderId, arguments: values };
}

import { paymentGatewayAbi, payoutVaultAbi } from '@florin/protocol/contract.gen.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { type Abi, type AbiEvent, getAddress, toEventSelector } from 'viem';
import type { ChainEventName } from '../event.ts';
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
  readonly read: (word: string) => string;
}

interface EventShape {
  readonly name: ChainEventName;
  readonly parameters: readonly Parameter[];
  readonly topicCount: number;
  readonly dataLength: number;
}

interface EventTable {
  readonly shapes: ReadonlyMap<Hex, EventShape>;
  /** Bloom bits of the events' first topics. */
  readonly topicBits: readonly BloomBits[];
}

/** Digits of one 32-byte word. */
const wordLength = 64;

function readInteger(bits: number): (word: string) => string {
  const limit = 1n << BigInt(bits);
  return (word) => {
    const value = BigInt(`0x${word}`);
    if (value >= limit) throw new RpcAnswerInvalid(`malformed log: an integer over ${bits} bits`);
    return value.toString();
  };
}

function readAddress(word: string): string {
  if (!word.startsWith('0'.repeat(24))) throw new RpcAnswerInvalid('malformed log: an address over 20 bytes');
  return getAddress(`0x${word.slice(24)}`);
}

function readerOf(type: string): (word: string) => string {
  if (type === 'address') return readAddress;
  if (type === 'bytes32') return (word) => `0x${word}`;
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
    });
  }
  return { shapes, topicBits: [...shapes.keys()].map(bloomBitsOf) };
}

const tables: Readonly<Record<'gateway' | 'vault', EventTable>> = {
  gateway: tableOf(paymentGatewayAbi, ['Paid', 'Settled', 'Refunded', 'Reclaimed', 'SettleSkipped']),
  vault: tableOf(payoutVaultAbi, ['PaidOut', 'PayoutSkipped']),
};

/** Bloom bits of the first topics of all events of this contract that the service acts on. */
export function topicBitsOf(contract: 'gateway' | 'vault'): readonly BloomBits[] {
  return tables[contract].topicBits;
}

/**
 * Decodes a log of one of our contracts; undefined for events that the service does not act on. A log whose topics or
 * data do not fit its event is a fault of the node: the contracts cannot have written it.
 */
export function decodeLog(contract: 'gateway' | 'vault', log: RpcLog): ContractEvent | undefined {
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
      values[parameter.name] = parameter.read((log.topics[topic] ?? '').slice(2));
      topic += 1;
    } else {
      values[parameter.name] = parameter.read(log.data.slice(offset, offset + wordLength));
      offset += wordLength;
    }
  }
  const orderId = log.topics[1];
  if (orderId === undefined) throw new RpcAnswerInvalid(`malformed log: ${shape.name} without an order id`);
  return { name: shape.name, orderId, arguments: values };
}

import { concat, encodeAbiParameters, type Hex, keccak256, toEventSelector, toHex } from 'viem';
import { bloomBitsOf, mayContain } from '../src/nodes/bloom.ts';
import { RpcAnswerInvalid } from '../src/nodes/rpc.ts';
import type { FollowedChain } from '../src/watcher/chain.ts';
import type { LogSource } from '../src/watcher/event.ts';
import type { Anvil } from './anvil.ts';

/** Code that emits what its calldata says: four topics, then data (LOG4). */
const emitterCode = '0x608036036080600037606035604035602035600035608036036000a400';

export const emitter = '0x1111111111111111111111111111111111111111';
const emitterBits = bloomBitsOf(emitter);
const notedTopic = toEventSelector('Noted(bytes32,bytes32,bytes32,uint256)');

/** Puts the code at the emitter's address. */
export async function installEmitter(anvil: Anvil): Promise<void> {
  await anvil.request('anvil_setCode', [emitter, emitterCode]);
}

/** A chain of one test: `finalized` of the node, no further depth. */
export function testChain(anvil: Anvil, changes: Partial<FollowedChain> = {}): FollowedChain {
  return {
    chainId: anvil.chainId,
    startBlock: 1n,
    finality: { tag: 'finalized', depth: 0, quorum: 1 },
    proofs: 'required',
    pollIntervalMs: 20,
    ...changes,
  };
}

/** Reads the emitter's events: the second topic says what one is about, its data is an amount. */
export function emitterSource({ chainId }: FollowedChain): LogSource {
  return {
    addresses: [emitter],
    derivedNames: [],
    mayHaveEvents: (bloom) => mayContain(bloom, emitterBits),
    isWanted: ({ address }) => address === emitter,
    decode: (header, logs) =>
      logs.map((log) => {
        const [name, orderId] = log.topics;
        if (name !== notedTopic || orderId === undefined || log.data.length !== 66)
          throw new RpcAnswerInvalid('a malformed log');
        return {
          chainId,
          blockNumber: header.number,
          blockHash: header.hash,
          blockTime: header.time,
          logIndex: log.logIndex,
          txHash: log.transactionHash,
          contract: 'emitter',
          name: 'Noted',
          orderId,
          arguments: { amount: BigInt(log.data).toString() },
        };
      }),
  };
}

/** What the event of this number is about. */
export function idOf(number: number): Hex {
  return keccak256(toHex(`thing ${number}`));
}

/** Calldata that makes the emitter emit the event about this id. */
export function eventCall(id: Hex): Hex {
  const amount = encodeAbiParameters([{ type: 'uint256' }], [1_000_000n]);
  return concat([notedTopic, id, keccak256('0x01'), keccak256('0x02'), amount]);
}

/** Sends calls from anvil's first account, all into the next block, and gives the hashes. */
export async function sendCalls(anvil: Anvil, calls: readonly Hex[]): Promise<Hex[]> {
  const hashes: Hex[] = [];
  for (const data of calls) {
    const request = { from: anvil.accounts[0]?.address, to: emitter, data, gas: '0x30d40' };
    hashes.push((await anvil.request('eth_sendTransaction', [request])) as Hex);
  }
  return hashes;
}

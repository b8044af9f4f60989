import type { Hex } from '@florin/protocol/order.ts';
import { type AttestationSource, AttestationUnavailable } from '@florin/server/parts';
import { decodeEventLog, parseAbi } from 'viem';
import type { ChainModel } from './chain-model.ts';
import { burnMessage } from './circle-model.ts';
import { circleContextOf } from './configuration.ts';
import type { Faults } from './faults.ts';
import type { ModelProcess } from './process-model.ts';
import { modelHash } from './seeded-random.ts';

const burntAbi = parseAbi([
  'event Burnt(bytes32 indexed orderId, address indexed to, address indexed token, uint256 amount, uint64 targetChain, uint32 domain)',
]);

/** Circle's service: attests final burns after a delay, and sometimes does not answer. */
export function attestationModel(
  models: readonly ChainModel[],
  process: ModelProcess,
  faults: Faults,
): AttestationSource {
  const { random } = faults;
  return {
    messagesOf: (domain, txHash) =>
      new Promise((resolve, reject) => {
        process.io(random.between(20, 400), 'attestation requested', () => {
          const isUnavailable = faults.occurs('attestation');
          const isPending = faults.occurs('attestation');
          const messages = isPending ? [] : attestedIn(models, domain, txHash);
          process.io(random.between(20, 400), `attestation answered with ${messages.length} messages`, () => {
            if (isUnavailable) reject(new AttestationUnavailable('HTTP status 503'));
            else resolve(messages);
          });
        });
      }),
    close: async () => {},
  };
}

function attestedIn(models: readonly ChainModel[], domain: number, txHash: Hex) {
  const source = models.find(({ chain }) => chain.cctp?.domain === domain);
  const from = source === undefined ? undefined : circleContextOf(source.chain);
  if (source === undefined || from === undefined) return [];
  const block = source
    .canonical()
    .find(({ transactions }) => transactions.some(({ transaction }) => transaction.hash === txHash));
  const mined = block?.transactions.find(({ transaction }) => transaction.hash === txHash);
  if (block === undefined || mined === undefined || !source.isFinal(block)) return [];
  return mined.logs.flatMap((log) => {
    if (log.name !== 'Burnt') return [];
    const [topic, ...others] = log.topics;
    if (topic === undefined) return [];
    const { args } = decodeEventLog({ abi: burntAbi, data: log.data, topics: [topic, ...others] });
    const target = models.find(({ chain }) => BigInt(chain.chainId) === args.targetChain);
    const to = target === undefined ? undefined : circleContextOf(target.chain);
    if (to === undefined) return [];
    // One nonce per burn: an order that is burnt twice would also be minted twice.
    const nonce = modelHash(`${txHash}${args.orderId}`);
    const message = burnMessage(from, to, { orderId: args.orderId, to: args.to, amount: args.amount, nonce });
    return [{ message, attestation: modelHash(message) }];
  });
}

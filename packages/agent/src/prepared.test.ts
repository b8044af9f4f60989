import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paymentGatewayAbi } from '@florin/protocol/contract.gen.ts';
import {
  orderTypes,
  paymentSessionCreationTypes,
  permitWitnessTypes,
  preparePaymentTypes,
  receiveAuthorizationTypes,
} from '@florin/protocol/typed-data.ts';
import { encodeFunctionData, erc20Abi, getAddress } from 'viem';
import { AgentError } from './error.ts';
import { knownTokens } from './policy.ts';
import { type Agreement, parsePrepared } from './prepared.ts';
import {
  authorizationTypes,
  creationTypes,
  permit2Address,
  permitTypes,
  preparationTypes,
} from './typed-data.ts';

test('the signed definitions equal those of the service and the contracts', () => {
  assert.deepEqual(creationTypes, paymentSessionCreationTypes);
  assert.deepEqual(preparationTypes, preparePaymentTypes);
  assert.deepEqual(authorizationTypes, receiveAuthorizationTypes);
  assert.deepEqual(permitTypes, permitWitnessTypes);
  assert.deepEqual(permitTypes['Order'], orderTypes.Order);
});

test('the known tokens have correct checksums, once each', () => {
  assert.deepEqual(
    knownTokens.map(({ address }) => address),
    knownTokens.map(({ address }) => getAddress(address)),
  );
  assert.equal(
    new Set(knownTokens.map(({ chainId, address }) => `${chainId} ${address}`)).size,
    knownTokens.length,
  );
});

const repeated = (byte: string, size: number) => `0x${byte.repeat(size)}` as const;
const [payer, token, gateway, thief] = [
  repeated('a1', 20),
  repeated('b2', 20),
  repeated('c3', 20),
  repeated('dd', 20),
];
const [orderId, metaData] = [repeated('0d', 32), repeated('0e', 32)];
const amount = 5_000_000n;
const agreement: Agreement = {
  sessionId: 'sess_1',
  payer,
  offer: { chainId: 8453, token, amount, decimals: 6, isUnavailable: false },
};

const order = {
  channelId: repeated('01', 32),
  metaData,
  payer: payer as `0x${string}`,
  token: token as `0x${string}`,
  to: repeated('ee', 20),
  total: amount,
  payment: amount,
  fee: 0n,
  payBy: 1n,
  reclaimAt: 2n,
  orderType: 0,
  targetChain: 8453n,
  via: repeated('00', 20),
};

const payOf = (change: Partial<typeof order> = {}) =>
  encodeFunctionData({
    abi: paymentGatewayAbi,
    functionName: 'pay',
    args: [{ ...order, ...change }, repeated('ff', 65)],
  });
const approveOf = (spender: `0x${string}`, value: bigint) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, value] });

interface Parts {
  executor: string;
  chainId: string;
  to: string;
  value: string;
  data: string;
  approval: { to: string; data: string };
  authorization: Record<string, unknown>;
  contract: string;
  permit: Record<string, unknown>;
}

const honest: Parts = {
  executor: gateway,
  chainId: '8453',
  to: gateway,
  value: '0',
  data: payOf(),
  approval: { to: token, data: approveOf(gateway, amount) },
  authorization: {
    from: payer,
    to: gateway,
    value: '5000000',
    validAfter: '0',
    validBefore: '2',
    nonce: orderId,
  },
  contract: token,
  permit: {
    permitted: { token, amount: '5000000' },
    spender: gateway,
    nonce: '7',
    deadline: '1',
    witness: Object.fromEntries(Object.entries(order).map(([name, value]) => [name, String(value)])),
  },
};

function answerOf(change: Partial<Parts> = {}) {
  const parts = { ...honest, ...change };
  const { chainId, to, data, value } = parts;
  const submit = { method: 'POST', path: '/payment/submit', body: { orderId } };
  const domain = { name: 'USD Coin', version: '2', chainId: 8453, verifyingContract: parts.contract };
  return {
    sessionId: 'sess_1',
    executorContract: parts.executor,
    aiView: {
      paymentExecutionGuide: {
        executionRequest: { txRequest: { chainId, to, data, value } },
        prerequisites: [{ txRequest: { chainId, value: '0', ...parts.approval } }],
        order: { orderId, deadline: '1' },
        alternatives: [
          { method: 'eip3009', gasless: true, submit, typedData: { domain, message: parts.authorization } },
          {
            method: 'permit2',
            gasless: true,
            submit: { ...submit, body: {} },
            typedData: {
              domain: { name: 'Permit2', chainId: 8453, verifyingContract: permit2Address },
              message: parts.permit,
            },
          },
          { method: 'deposit', gasless: false, address: thief },
        ],
      },
    },
  };
}

test('an honest answer has an order, its approvals, and the signatures that pay it', () => {
  const prepared = parsePrepared(answerOf(), agreement);
  assert.deepEqual(
    [prepared.orderId, prepared.metaData, prepared.payment.to, prepared.approvals.length],
    [orderId, metaData, gateway, 1],
  );
  const [authorization, permit] = prepared.consents;
  assert.deepEqual(authorization?.typedData.message, {
    from: payer,
    to: gateway,
    value: amount,
    validAfter: 0n,
    validBefore: 2n,
    nonce: orderId,
  });
  assert.deepEqual([authorization?.isOrderNamed, permit?.isOrderNamed], [true, false]);
  assert.deepEqual(
    [permit?.method, permit?.typedData.domain],
    ['permit2', { name: 'Permit2', chainId: 8453, verifyingContract: permit2Address }],
  );
});

const dishonest: readonly [name: string, change: Partial<Parts>][] = [
  ['a transaction to another contract', { to: thief }],
  ['a transaction on another chain', { chainId: '1' }],
  ['a transaction with coin', { value: '1' }],
  ['a transaction that is no payment', { data: approveOf(gateway, amount) }],
  ['an order for another payer', { data: payOf({ payer: thief }) }],
  ['an order in another token', { data: payOf({ token: thief }) }],
  ['an order over more', { data: payOf({ total: amount + 1n }) }],
  ['a token as the contract that pays', { executor: token, to: token }],
  ['an approval for another account', { approval: { to: token, data: approveOf(thief, amount) } }],
  ['an approval of more', { approval: { to: token, data: approveOf(gateway, amount + 1n) } }],
  ['an approval of another token', { approval: { to: thief, data: approveOf(gateway, amount) } }],
  ['an authorization to another account', { authorization: { ...honest.authorization, to: thief } }],
  ['an authorization of more', { authorization: { ...honest.authorization, value: '5000001' } }],
  ['an authorization of another order', { authorization: { ...honest.authorization, nonce: metaData } }],
  ['an authorization over another contract', { contract: thief }],
  ['a permit for another account', { permit: { ...honest.permit, spender: thief } }],
  ['a permit of more', { permit: { ...honest.permit, permitted: { token, amount: '5000001' } } }],
  [
    'a permit of another token',
    { permit: { ...honest.permit, permitted: { token: thief, amount: '5000000' } } },
  ],
  [
    'a permit of another order',
    { permit: { ...honest.permit, witness: { ...(honest.permit['witness'] as object), metaData: orderId } } },
  ],
];

for (const [name, change] of dishonest) {
  test(`${name} is refused before anything is signed`, () => {
    assert.throws(
      () => parsePrepared(answerOf(change), agreement),
      (error: unknown) => error instanceof AgentError && error.reason === 'answer_refused',
    );
  });
}

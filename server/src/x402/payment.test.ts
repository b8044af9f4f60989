import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeFunctionData, parseAbi } from 'viem';
import { transferCall } from './payment.ts';

const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
]);
const authorization = {
  from: `0x${'11'.repeat(20)}`,
  to: `0x${'22'.repeat(20)}`,
  value: '5',
  validAfter: '0',
  validBefore: '9',
  nonce: `0x${'33'.repeat(32)}`,
};
const [r, s] = [`0x${'44'.repeat(32)}`, `0x${'55'.repeat(32)}`] as const;
const signed = (signature: string) =>
  decodeFunctionData({ abi, data: transferCall({ authorization, signature }) }).args.slice(6);

test('the signature of a key goes to the token in parts, and whatever else a wallet signs with as it is', () => {
  assert.deepEqual(signed(`${r}${s.slice(2)}1b`), [27, r, s]);
  assert.deepEqual(signed(`${r}${s.slice(2)}1c`), [28, r, s]);
  const strange = [
    `${r}${s.slice(2)}00`,
    `${r}${s.slice(2)}1f`,
    `0x${'ff'.repeat(64)}1b`,
    `0x${'00'.repeat(64)}1b`,
    `${r}${s.slice(2)}`,
    `${r}${s.slice(2)}1b77`,
  ];
  for (const signature of strange) assert.deepEqual(signed(signature), [signature]);
});

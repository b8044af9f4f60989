import assert from 'node:assert/strict';
import { test } from 'node:test';
import { privateKeyToAddress } from 'viem/accounts';
import { systemClock } from '#outside/clock.ts';
import { SecretSource } from './secret-source.ts';
import { type Environment, readSetting } from './setting.ts';
import { settings } from './settings.ts';
import { addressOfKey, openSigners, signersOf } from './signer.ts';

const [first, second, third] = ['11', '22', '33'].map((byte) => `0x${byte.repeat(32)}` as const);
const address = '0x5FbDB2315678afecb367f032d93F642f64180aa3';
const kms = { kind: 'aws_kms', region: 'eu-central-1', keyId: 'alias/florin', address };

function read(signer: object, environment: Environment = {}) {
  const given = readSetting(settings.properties.signer, signer, 'signer');
  const secrets = new SecretSource(environment, { signer: given }, undefined);
  const signers = signersOf(secrets, given);
  secrets.done();
  return signers;
}

test('orders and settlements may have different kinds of signers, and settlements several', () => {
  const web3 = { kind: 'web3signer', url: 'http://10.0.0.5:9000', address };
  const signers = read(
    { order: web3, otherSettlers: [{ kind: 'key', number: 2 }] },
    { FLORIN_SETTLER_KEY: first, FLORIN_SETTLER_2_KEY: second },
  );
  assert.deepEqual(signers.orderKey, web3);
  assert.deepEqual(
    [signers.settlerKey, ...signers.otherSettlerKeys].map(addressOfKey),
    [first, second].map((key) => key !== undefined && privateKeyToAddress(key)),
  );
  const keyVersion = 'projects/p/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1';
  const google = { kind: 'google_kms', keyVersion, address };
  assert.deepEqual(read({ orderKey: third, settler: google }).settlerKey, google);
  const opened = openSigners(read({ orderKey: third, settler: kms }), systemClock);
  assert.equal(opened.orderKey, third);
  assert.ok(typeof opened.settlerKey !== 'string');
  assert.equal(opened.settlerKey.address, address);
});

test('every mistake about signers is one sentence', () => {
  const keys = { orderKey: first, settlerKey: second };
  const mistakes: [object, Environment, RegExp][] = [
    [{ ...keys, settlerKey: first }, {}, /signer.settlerKey is the same as signer.orderKey/],
    [{ ...keys, otherSettlers: [{ kind: 'key', number: 2 }] }, {}, /FLORIN_SETTLER_2_KEY/],
    [
      { ...keys, otherSettlers: [{ kind: 'key', number: 2 }] },
      { FLORIN_SETTLER_2_KEY: first },
      /is the same as signer.orderKey/,
    ],
    [
      { ...keys, otherSettlers: [{ kind: 'key', number: 2 }] },
      { FLORIN_SETTLER_2_KEY: second },
      /names a wallet twice/,
    ],
    [{ ...keys, order: { kind: 'web3signer', url: 'http://x/', address } }, {}, /without a slash/],
    [{ ...keys, order: { kind: 'ledger', address } }, {}, /signer.order.kind must be one of/],
    [
      { settlerKey: second, order: { kind: 'google_kms', keyVersion: 'k', address } },
      {},
      /keyVersion must name one version/,
    ],
    [{ settlerKey: second, order: { ...kms, color: 1 } }, {}, /signer.order.color is not a known setting/],
    [
      { settlerKey: second, order: { ...kms, url: 'http://x' } },
      {},
      /signer.order.url is not a known setting/,
    ],
    [{ ...keys, settler3Key: third }, {}, /signer.settler3Key is not used: remove it/],
    [{ ...keys, order: kms }, {}, /signer.orderKey is not used: remove it/],
  ];
  for (const [signer, environment, message] of mistakes)
    assert.throws(() => read(signer, environment), message);
});

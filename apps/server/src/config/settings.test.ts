import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { changed, completeFile, gateway, type Json } from '../../test/harness/config-files.ts';
import { settingRows, settingsSchema } from './setting-documents.ts';

const rowsOf = (section: string) =>
  settingRows().flatMap(({ names, absent }) => (names[0]?.startsWith(section) ? [[names, absent]] : []));

test('settings without words of their own share the row of the setting before, or are told of by their section', () => {
  assert.deepEqual(rowsOf('http.'), [
    [
      ['http.host', 'http.port'],
      ['`127.0.0.1`', '4000'],
    ],
    [['http.trustedProxies'], ['none']],
  ]);
  assert.deepEqual(rowsOf('chains[].tokens'), [
    [['chains[].tokens[]'], ['']],
    [['chains[].tokens[].permits'], ['what the chain says']],
  ]);
  assert.deepEqual(rowsOf('signer.'), [
    [
      ['signer.orderKey', 'signer.settlerKey'],
      ['', ''],
    ],
    [
      ['signer.order', 'signer.settler'],
      ['', ''],
    ],
    [['signer.otherSettlers[]'], ['none']],
  ]);
});

test('the documents do not tell of settings for local worlds', () => {
  const names = settingRows().flatMap(({ names }) => names);
  for (const name of ['$schema', 'demoPayerKey', 'clockOffsetSeconds', 'consoleUrl'])
    assert.equal(names.includes(name), false, name);
});

const check = new Ajv2020({ strict: true, allErrors: true }).compile(settingsSchema());
function mistakesIn(file: unknown): string[] {
  check(file);
  return (check.errors ?? []).map(({ instancePath, keyword }) => `${instancePath} ${keyword}`);
}

test('the schema takes a complete file, and refuses a misspelt setting and a wrong value', () => {
  assert.deepEqual(mistakesIn(completeFile()), []);
  assert.deepEqual(mistakesIn({ ...completeFile(), orign: 'x' }), [' additionalProperties']);
  assert.deepEqual(mistakesIn({ ...completeFile(), http: { port: 70_000 } }), ['/http/port maximum']);
  const { origin: _, ...without } = completeFile();
  assert.deepEqual(mistakesIn(without), [' required']);
});

test('the schema takes every kind of signer, and further keys', () => {
  const keyVersion = 'projects/p/locations/l/keyRings/r/cryptoKeys/k/cryptoKeyVersions/1';
  const kinds = [
    { kind: 'web3signer', url: 'https://signer.example.com', address: gateway },
    { kind: 'aws_kms', region: 'eu', keyId: 'k', address: gateway },
    { kind: 'google_kms', keyVersion, endpoint: 'https://cloudkms.example.com', address: gateway },
  ];
  const withSigner = (signer: Json) => changed((file) => (file.signer = signer));
  const settlerKey = `0x${'33'.repeat(32)}`;
  for (const order of kinds) assert.deepEqual(mistakesIn(withSigner({ order, settlerKey })), [], order.kind);
  const otherSettlers = [{ kind: 'key', number: 3 }, ...kinds];
  assert.deepEqual(mistakesIn(withSigner({ otherSettlers, settlerKey, settler3Key: settlerKey })), []);
  assert.notDeepEqual(mistakesIn(withSigner({ order: { kind: 'ledger' }, settlerKey })), []);
});

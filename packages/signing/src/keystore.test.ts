import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { computeAddress, encryptKeystoreJsonSync, Wallet } from 'ethers';
import type { Hex } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { decryptKeystore, encryptKeystore } from './keystore.ts';

// From the Web3 Secret Storage Definition.
const secretOfPbkdf2Vector = '0x7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d';
const pbkdf2Vector = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
    ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
    kdf: 'pbkdf2',
    kdfparams: {
      c: 262_144,
      dklen: 32,
      prf: 'hmac-sha256',
      salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd',
    },
    mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2',
  },
  id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
  version: 3,
};
// From go-ethereum's vectors: a key of 31 bytes.
const scryptVector = {
  crypto: {
    cipher: 'aes-128-ctr',
    cipherparams: { iv: 'e0c41130a323adc1446fc82f724bca2f' },
    ciphertext: '9517cd5bdbe69076f9bf5057248c6c050141e970efa36ce53692d5d59a3984',
    kdf: 'scrypt',
    kdfparams: {
      dklen: 32,
      n: 2,
      r: 8,
      p: 1,
      salt: '711f816911c92d649fb4c84b047915679933555030b3552c1212609b38208c63',
    },
    mac: 'd5e116151c6aa71470e67a7d42c9620c75c4d23229847dcc127794f0732b0db5',
  },
  id: 'fecfc4ce-e956-48fd-953b-30f8b52ed66c',
  version: 3,
};
const secretOfScryptVector = '0x00fa7b3db73dc7dfdf8c5fbdb796d741e4488628c41fc4febd9160a866ba0f35';
const password = 'testpassword';

function newKey(): Hex {
  return `0x${randomBytes(32).toString('hex')}`;
}

function refusalOf(file: unknown, withPassword = password): string {
  try {
    decryptKeystore(file, withPassword);
  } catch (error) {
    return (error as Error).message;
  }
  return 'opened';
}

test('the published vectors open', () => {
  assert.equal(decryptKeystore(pbkdf2Vector, password), secretOfPbkdf2Vector);
  assert.equal(decryptKeystore(scryptVector, 'foo'), secretOfScryptVector);
});

test('a keystore written by ethers opens here', () => {
  const key = newKey();
  const options = { scrypt: { N: 1024, r: 8, p: 1 } };
  const account = { address: computeAddress(key), privateKey: key };
  const json = encryptKeystoreJsonSync(account, 'correct horse', options);
  assert.equal(decryptKeystore(JSON.parse(json), 'correct horse'), key);
});

test('a keystore written here opens in ethers and here', async () => {
  const key = newKey();
  const secrets = { privateKey: key, password: 'correct horse' };
  const json = encryptKeystore({ bytes: randomBytes }, secrets, { scryptN: 1024 });
  assert.equal((await Wallet.fromEncryptedJson(json, 'correct horse')).privateKey, key);
  assert.equal(decryptKeystore(JSON.parse(json), 'correct horse'), key);
  assert.equal(json.includes(key.slice(2)), false);
});

test('a wrong password and a damaged file have different errors', () => {
  assert.equal(refusalOf(pbkdf2Vector, 'Testpassword'), 'the password is wrong');
});

test('an address that is not that of the key is refused', () => {
  const other = privateKeyToAddress(newKey()).toLowerCase();
  assert.equal(
    refusalOf({ ...pbkdf2Vector, address: other.slice(2) }),
    `it names ${other} but holds the key of 0x008aeeda4d805471df9b2a5b0f38a0c3bcba786b`,
  );
});

test('a file that is not a version 3 keystore is refused with one sentence', () => {
  const { crypto } = scryptVector;
  const withCrypto = (change: object) => ({ ...scryptVector, crypto: { ...crypto, ...change } });
  const withScrypt = (change: object) => withCrypto({ kdfparams: { ...crypto.kdfparams, ...change } });
  const cases: readonly [file: unknown, reason: string][] = [
    [null, 'it is not an object'],
    ['{}', 'it is not an object'],
    [{}, 'its version is not 3'],
    [{ version: 3 }, 'Crypto is missing'],
    [withCrypto({ cipher: 'aes-128-cbc' }), 'its cipher is not aes-128-ctr'],
    [withCrypto({ mac: 'zz' }), 'mac is not hexadecimal'],
    [withCrypto({ ciphertext: '00'.repeat(33) }), 'ciphertext has 33 bytes, not 1 to 32'],
    [withCrypto({ kdf: 'argon2' }), 'its kdf is neither scrypt nor pbkdf2'],
    [withScrypt({ n: 262_143 }), 'n is not a power of two'],
    [withScrypt({ n: 2 ** 30 }), 'n is not an integer from 1 to 1048576'],
    [withScrypt({ n: 65_536, r: 1 }), 'n is too large for its r'],
    [withScrypt({ p: 1000 }), 'p is not an integer from 1 to 16'],
    [withScrypt({ dklen: 16 }), 'dklen is not 32'],
  ];
  for (const [file, reason] of cases) {
    assert.equal(refusalOf(file), `it is not a version 3 keystore: ${reason}`);
  }
});

import type { Hex } from '@florin/protocol/order.ts';
import {
  awsKmsSigner,
  googleKmsSigner,
  type SignerHttp,
  type SigningKey,
  signerHttp,
  web3Signer,
} from '@florin/signing';
import { privateKeyToAddress } from 'viem/accounts';
import type { Clock } from '#outside/clock.ts';
import { Secret } from '#outside/secret.ts';
import { addressOf } from './contracts.ts';
import { ConfigError, Fields, readJson, type SecretSource } from './field.ts';

/** A remote service that holds a key and signs with it. */
export type RemoteSigner =
  | { readonly kind: 'web3signer'; readonly url: string; readonly address: Hex }
  | {
      readonly kind: 'aws_kms';
      readonly region: string;
      readonly keyId: string;
      readonly endpoint?: string | undefined;
      readonly address: Hex;
    }
  | {
      readonly kind: 'google_kms';
      readonly keyVersion: string;
      readonly endpoint?: string | undefined;
      readonly address: Hex;
    };

/** A private key, or a remote signer. */
export type ConfiguredKey = Secret | RemoteSigner;

/** The signers of orders and of transactions. */
export interface Signers {
  readonly orderKey: ConfiguredKey;
  readonly settlerKey: ConfiguredKey;
  /** More wallets that settle, with the same role in the contracts. */
  readonly otherSettlerKeys: readonly ConfiguredKey[];
}

const remoteKinds = ['web3signer', 'aws_kms', 'google_kms'] as const;
const maxSettlers = 16;
const keyVersionPattern =
  /^projects\/[\w.:-]+\/locations\/[\w-]+\/keyRings\/[\w-]+\/cryptoKeys\/[\w-]+\/cryptoKeyVersions\/\d+$/;

/** Reads `signer`, and the keys that the environment names. The clouds' KMS use the machine's credentials. */
export function signersOf(secrets: SecretSource, fields: Fields): Signers {
  const remote = (field: string) => fields.optional(field, (name) => fields.section(name, remoteOf));
  const others = fields.optional('otherSettlers', (name) => fields.list(name)) ?? [];
  if (others.length >= maxSettlers)
    throw new ConfigError(
      `signer.otherSettlers has ${others.length} entries: at most ${maxSettlers - 1} are used`,
    );
  const signers: Signers = {
    orderKey: remote('order') ?? secrets.privateKey('ORDER_SIGNER', 'orderKey'),
    settlerKey: remote('settler') ?? secrets.privateKey('SETTLER', 'settlerKey'),
    otherSettlerKeys:
      others.length === 0 ? [] : fields.sections('otherSettlers', (entry) => otherOf(secrets, entry)),
  };
  assertApart(signers);
  return signers;
}

function otherOf(secrets: SecretSource, fields: Fields): ConfiguredKey {
  if (fields.choice('kind', ['key', ...remoteKinds]) !== 'key') return remoteOf(fields);
  const number = fields.integer('number', { least: 2, most: maxSettlers });
  return secrets.privateKey(`SETTLER_${number}`, `settler${number}Key`);
}

function remoteOf(fields: Fields): RemoteSigner {
  const kind = fields.choice('kind', remoteKinds);
  const address = addressOf(fields, 'address');
  if (kind === 'web3signer') return { kind, address, url: urlOf(fields, 'url') };
  const endpoint = fields.optional('endpoint', (name) => urlOf(fields, name));
  if (kind === 'google_kms') return { kind, address, keyVersion: keyVersionOf(fields), endpoint };
  return {
    kind,
    address,
    region: fields.text('region'),
    keyId: fields.text('keyId'),
    endpoint,
  };
}

function keyVersionOf(fields: Fields): string {
  const keyVersion = fields.text('keyVersion');
  if (!keyVersionPattern.test(keyVersion))
    throw new ConfigError(
      `${fields.path('keyVersion')} must name one version of a key: projects/…/locations/…/keyRings/…/cryptoKeys/…/cryptoKeyVersions/1`,
    );
  return keyVersion;
}

function urlOf(fields: Fields, name: string): string {
  const url = fields.text(name);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol) || url.endsWith('/'))
    throw new ConfigError(`${fields.path(name)} must be an http or https URL without a slash at its end`);
  return url;
}

function assertApart({ orderKey, settlerKey, otherSettlerKeys }: Signers): void {
  const settlers = [settlerKey, ...otherSettlerKeys].map(addressOfKey);
  // One key in two roles would undo the contracts' separation of roles.
  if (settlers.includes(addressOfKey(orderKey))) {
    throw new ConfigError('signer.settlerKey is the same as signer.orderKey: give each role its own key');
  }
  if (new Set(settlers).size < settlers.length)
    throw new ConfigError('signer.otherSettlers names a wallet twice: list each wallet once');
}

/** The address of a configured key. */
export function addressOfKey(key: ConfiguredKey): Hex {
  return key instanceof Secret ? privateKeyToAddress(key.reveal() as Hex) : key.address;
}

/** Builds the signers of configured keys. Remote ones share connections; no request is sent yet. */
export function openSigners(
  { orderKey, settlerKey, otherSettlerKeys }: Signers,
  clock: Clock,
): { orderKey: SigningKey; settlerKey: SigningKey; otherSettlerKeys: readonly SigningKey[] } {
  const http = signerHttp(clock);
  const open = (key: ConfiguredKey) => openSigner(key, http);
  return {
    orderKey: open(orderKey),
    settlerKey: open(settlerKey),
    otherSettlerKeys: otherSettlerKeys.map(open),
  };
}

/** The remote signer that a JSON file describes, as `signer.order` of the configuration does. Throws a ConfigError. */
export function readRemoteSigner(path: string, clock: Clock): SigningKey {
  const fields = new Fields(readJson(path));
  const remote = remoteOf(fields);
  fields.done();
  return openSigner(remote, signerHttp(clock));
}

function openSigner(key: ConfiguredKey, http: SignerHttp): SigningKey {
  if (key instanceof Secret) return key.reveal() as Hex;
  if (key.kind === 'web3signer') return web3Signer(http, key);
  if (key.kind === 'google_kms') return googleKmsSigner(http, key);
  return awsKmsSigner(key);
}

import type { Hex } from '@florin/protocol/order.ts';
import {
  awsKmsSigner,
  googleKmsSigner,
  type SignerHttp,
  type SigningKey,
  signerHttp,
  web3Signer,
} from '@florin/signing';
import { getAddress } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import type { Clock } from '#outside/clock.ts';
import { Secret } from '#outside/secret.ts';
import { readJson, type SecretSource } from './secret-source.ts';
import { ConfigError, readSetting } from './setting.ts';
import { maxSettlers, type RemoteSigner, remoteSigner, type Settings } from './settings.ts';

/** A private key, or a remote signer with its address in full. */
export type ConfiguredKey = Secret | (RemoteSigner & { readonly address: Hex });

/** The signers of orders and of transactions. */
export interface Signers {
  readonly orderKey: ConfiguredKey;
  readonly settlerKey: ConfiguredKey;
  /** More wallets that settle, with the same role in the contracts. */
  readonly otherSettlerKeys: readonly ConfiguredKey[];
}

/** The keys of `signer`, and those that the environment names. The clouds' KMS use the machine's credentials. */
export function signersOf(
  secrets: SecretSource,
  { order, settler, otherSettlers = [] }: Settings['signer'],
): Signers {
  if (otherSettlers.length >= maxSettlers)
    throw new ConfigError(
      `signer.otherSettlers has ${otherSettlers.length} entries: at most ${maxSettlers - 1} are used`,
    );
  const signers: Signers = {
    orderKey: order ? withAddress(order) : secrets.privateKey('ORDER_SIGNER', 'orderKey'),
    settlerKey: settler ? withAddress(settler) : secrets.privateKey('SETTLER', 'settlerKey'),
    otherSettlerKeys: otherSettlers.map((other) =>
      other.kind === 'key'
        ? secrets.privateKey(`SETTLER_${other.number}`, `settler${other.number}Key`)
        : withAddress(other),
    ),
  };
  assertApart(signers);
  return signers;
}

function withAddress(remote: RemoteSigner): RemoteSigner & { readonly address: Hex } {
  return { ...remote, address: getAddress(remote.address) };
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
  const remote = withAddress(readSetting(remoteSigner, readJson(path)));
  return openSigner(remote, signerHttp(clock));
}

function openSigner(key: ConfiguredKey, http: SignerHttp): SigningKey {
  if (key instanceof Secret) return key.reveal() as Hex;
  if (key.kind === 'web3signer') return web3Signer(http, key);
  if (key.kind === 'google_kms') return googleKmsSigner(http, key);
  return awsKmsSigner(key);
}

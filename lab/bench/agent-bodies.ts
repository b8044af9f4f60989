import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import type { CreateSessionMessage } from '@florin/protocol/agent-api.ts';
import type { LinkView } from '@florin/protocol/agent-view.ts';
import { agentDomainName, transferAuthorizationTypes } from '@florin/protocol/typed-data.ts';
import { cryptographyOf } from '@florin/server/parts';
import { secp256k1 } from '@florin/signing';
import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { Supply } from './measure.ts';

/** Sessions per payer: half of the program's limit. */
const sessionsPerPayer = 10;
/** Lifetime of an authorization: a little less than the program's maximum. */
const lifeSeconds = 3_800;

const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`;

/** Writes signed requests that create sessions of a link, one per line. All of them differ. */
export function writeCreations(
  file: string,
  options: { view: LinkView; serviceDomain: string; count: number },
): Supply {
  const { view, serviceDomain, count } = options;
  const template = view.aiView.createPaymentSessionRequirement?.messageTemplate;
  if (template === undefined) throw new Error('the link cannot be paid');
  const cryptography = cryptographyOf(secp256k1);
  const domainName = agentDomainName(serviceDomain);
  const authorizationExpiresAt = String(Math.floor(Date.now() / 1000) + lifeSeconds);
  const lines: string[] = [];
  let key = randomBytes(32);
  let payer = '';
  for (let index = 0; index < count; index += 1) {
    if (index % sessionsPerPayer === 0) {
      key = randomBytes(32);
      payer = privateKeyToAccount(hexOf(key)).address;
    }
    // The template or this object has every member.
    const message = {
      ...template,
      payer,
      authorizationNonce: hexOf(randomBytes(32)),
      authorizationExpiresAt,
    } as CreateSessionMessage;
    const digest = cryptography.digest(domainName, { purpose: 'create_payment_session', message });
    const { r, s, v } = secp256k1.sign(Buffer.from(digest.slice(2), 'hex'), key);
    lines.push(JSON.stringify({ message, signature: hexOf(Buffer.concat([r, s, Uint8Array.of(v)])) }));
  }
  writeFileSync(file, lines.join('\n'));
  return { file, count, used: 0 };
}

/** The payment that a facilitator verifies. */
export interface VerifiedPayment {
  readonly token: Hex;
  readonly payTo: Hex;
  readonly payers: readonly { readonly privateKey: Hex }[];
}

/** Writes signed x402 payments for a facilitator to verify. All of them differ, and their payers have the money. */
export async function writeVerifications(
  file: string,
  options: VerifiedPayment & { count: number },
): Promise<Supply> {
  const { token, payTo, count } = options;
  const accounts = options.payers.map(({ privateKey }) => privateKeyToAccount(privateKey));
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + lifeSeconds);
  const value = 10_020_000n;
  const domain = { name: 'USD Coin', version: '2', chainId: 31_337, verifyingContract: token };
  const requirements = {
    scheme: 'exact',
    network: 'eip155:31337',
    amount: value.toString(),
    asset: token,
    payTo,
    maxTimeoutSeconds: 300,
    extra: { name: domain.name, version: domain.version },
  };
  const lines: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const account = accounts[index % accounts.length];
    if (account === undefined) throw new Error('no payers');
    const message = {
      from: account.address,
      to: payTo,
      value,
      validAfter: 0n,
      validBefore,
      nonce: hexOf(randomBytes(32)),
    };
    const signature = await account.signTypedData({
      domain,
      types: transferAuthorizationTypes,
      primaryType: 'TransferWithAuthorization',
      message,
    });
    const authorization = {
      ...message,
      value: value.toString(),
      validAfter: '0',
      validBefore: validBefore.toString(),
    };
    const resource = {
      url: 'https://shop.example.com/tea',
      description: 'Tea',
      mimeType: 'application/json',
    };
    const paymentPayload = {
      x402Version: 2,
      resource,
      accepted: requirements,
      payload: { signature, authorization },
    };
    lines.push(JSON.stringify({ paymentPayload, paymentRequirements: requirements }));
  }
  writeFileSync(file, lines.join('\n'));
  return { file, count, used: 0 };
}

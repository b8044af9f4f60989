import type { CreateSessionMessage } from '@florin/protocol/agent-api.ts';
import type { Hex } from '@florin/protocol/order.ts';
import { agentDomainName, paymentSessionCreationTypes } from '@florin/protocol/typed-data.ts';
import { cryptographyOf, isAuthorizedBy, parseSignedMessage } from '@florin/server/parts';
import { nativeSecp256k1, type Secp256k1, wasmSecp256k1 } from '@florin/signing';
import { verifyTypedData as ethersVerifyTypedData } from 'ethers';
import { getAddress, verifyTypedData } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import type { BenchEnvironment } from './environment.ts';
import { median } from './measure.ts';
import type { BenchResult, Ratio } from './report.ts';

/** Payers with one message each. There are enough that a library's address cache helps no more than in production. */
const bodyCount = 3_000;
/** Verifications between two clock readings. */
const block = 50;
const serviceDomain = 'pay.example.com';
const domain = { name: agentDomainName(serviceDomain), version: '1', chainId: 8453 } as const;
const types = paymentSessionCreationTypes;
const primaryType = 'PaymentSessionCreationAuthorization';

interface SignedBody {
  readonly message: CreateSessionMessage;
  readonly signature: Hex;
}

/** One method of verification. Returns whether the payer signed. */
interface Verifier {
  readonly name: string;
  verify(body: SignedBody): boolean | Promise<boolean>;
}

async function signedBody(index: number): Promise<SignedBody> {
  const account = privateKeyToAccount(generatePrivateKey());
  const nonce: Hex = `0x${index.toString(16).padStart(64, '5')}`;
  const message = {
    purpose: 'create_payment_session',
    linkId: 'lnk_0000000000000000000001',
    linkVersion: 'ver_0000000000000000000001',
    merchantId: 'mer_0000000000000000000001',
    payer: account.address,
    paymentChainId: String(domain.chainId),
    paymentToken: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913' as Hex,
    amount: '10020000',
    authorizationNonce: nonce,
    authorizationExpiresAt: '1800000000',
  };
  const signature = await account.signTypedData({ domain, types, primaryType, message: valuesOf(message) });
  return { message, signature };
}

function valuesOf(message: CreateSessionMessage) {
  return {
    ...message,
    payer: message.payer as Hex,
    paymentToken: message.paymentToken as Hex,
    authorizationNonce: message.authorizationNonce as Hex,
    paymentChainId: BigInt(message.paymentChainId),
    amount: BigInt(message.amount),
    authorizationExpiresAt: BigInt(message.authorizationExpiresAt),
  };
}

/** The service's work between schema and database: addresses, ranges, digest, encoding, recovery, comparison. */
function ours(name: string, curve: Secp256k1): Verifier {
  const payerChain = {
    codeAt: async (): Promise<Hex> => '0x',
    callAt: async () => {
      throw new Error('a plain account has no code to call');
    },
  };
  const deps = { serviceDomain, cryptography: cryptographyOf(curve), payerChain };
  return {
    name,
    verify({ message, signature }) {
      const signed = parseSignedMessage(deps, { purpose: 'create_payment_session', message }, signature);
      return isAuthorizedBy(deps, { ...signed, chainId: domain.chainId });
    },
  };
}

const viemVerifier: Verifier = {
  name: 'viem verifyTypedData',
  verify: ({ message, signature }) =>
    verifyTypedData({
      ...{ address: message.payer as Hex, domain, types, primaryType, signature },
      message: valuesOf(message),
    }),
};

const ethersVerifier: Verifier = {
  name: 'ethers verifyTypedData',
  verify({ message, signature }) {
    const fields = { [primaryType]: [...types[primaryType]] };
    return ethersVerifyTypedData(domain, fields, message, signature) === getAddress(message.payer);
  },
};

/** Verifies for some seconds, with the bodies in turn. Returns µs of processor time per verification. */
async function runOnce(verifier: Verifier, bodies: readonly SignedBody[], seconds: number): Promise<number> {
  const begin = performance.now();
  const cpuBegin = process.cpuUsage();
  let count = 0;
  while (performance.now() - begin < seconds * 1_000) {
    for (let index = 0; index < block; index += 1) {
      const body = bodies[(count + index) % bodies.length];
      if (body === undefined || !(await verifier.verify(body)))
        throw new Error(`${verifier.name} refused what a payer has signed`);
    }
    count += block;
  }
  const { user, system } = process.cpuUsage(cpuBegin);
  return (user + system) / count;
}

function ratio(of: { name: string; us: number }, to: { name: string; us: number }, wanted: number): Ratio {
  const value = Math.round((to.us / of.us) * 10) / 10;
  return { name: `${of.name} / ${to.name}`, value, byProcessorTime: value, wanted };
}

/** Full verifications of a signed message on one core, by this service and by common libraries. */
export async function measureSignatures({ effort, log }: BenchEnvironment): Promise<BenchResult> {
  const bodies = await Promise.all(Array.from({ length: bodyCount }, (_, index) => signedBody(index)));
  const native = ours('Florin, native curve', nativeSecp256k1());
  const wasm = ours('Florin, WebAssembly curve', await wasmSecp256k1());
  const runs = new Map<Verifier, number[]>(
    [native, wasm, viemVerifier, ethersVerifier].map((verifier) => [verifier, []]),
  );
  for (const verifier of runs.keys()) await runOnce(verifier, bodies, effort.warmUpSeconds);
  for (let round = 1; round <= effort.rounds; round += 1) {
    for (const [verifier, list] of runs) {
      list.push(await runOnce(verifier, bodies, effort.seconds));
      log(`${round}/${effort.rounds}  ${verifier.name}: ${list.at(-1)?.toFixed(1)} µs`);
    }
  }
  const found = ({ name }: Verifier) => {
    const entry = [...runs].find(([verifier]) => verifier.name === name);
    return { name, us: median(entry?.[1] ?? []) };
  };
  return {
    ...{ subject: 'signature', title: 'Signatures of payers', effort, measured: [], halfLoads: [] },
    ratios: [
      ratio(found(native), found(viemVerifier), 15),
      ratio(found(native), found(ethersVerifier), 0),
      ratio(found(wasm), found(viemVerifier), 6),
    ],
    rows: [...runs.keys()].map(found).map(({ name, us }) => ({
      'full verification of a signed message': name,
      µs: Math.round(us),
      'a second and core': Math.round(1e6 / us),
    })),
    notes: [
      `${bodyCount} payers with one message each; µs are processor time, so both columns of a ratio are the same.`,
      'Florin: checksums, ranges, EIP-712 digest, canonical form, recovery and comparison. The libraries accept more forms of signatures and numbers.',
      'None of them includes reading the code of the account, which comes first on a real chain.',
    ],
  };
}

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PlannedContract } from '@florin/server/operator';
import { type Abi, type Address, concat, decodeEventLog, type Hex, keccak256, slice, toHex } from 'viem';
import { sign } from 'viem/accounts';

/** A chain whose messages are attested. */
export interface AttestedChain {
  /** Circle's number of the chain. */
  readonly domain: number;
  readonly request: (method: string, params: readonly unknown[]) => Promise<unknown>;
}

/** The start options of the simulated attestation service. */
export interface AttesterOptions {
  readonly privateKey: Hex;
  /** The simulated Circle transmitter, at the same address on every chain. */
  readonly transmitter: Pick<PlannedContract, 'address' | 'artifact'>;
  readonly chains: readonly AttestedChain[];
  /** Loopback port; a free one when absent. */
  readonly port?: number;
}

/** A running attestation service of local chains. */
export interface LocalAttester {
  /** Without a trailing slash. */
  readonly url: string;
  close(): Promise<void>;
}

interface Log {
  readonly address: Address;
  readonly topics: [Hex, ...Hex[]];
  readonly data: Hex;
  readonly logIndex: Hex;
}

const FINALIZED = 2000;
const path = /^\/v2\/messages\/(\d{1,10})\?transactionHash=(0x[0-9a-f]{64})$/;

/**
 * Answers like Circle's Iris (GET /v2/messages/{sourceDomainId}?transactionHash=). Burns in final blocks have a nonce
 * and signatures and are complete; later ones are pending; others are not found. Other routes are 404.
 */
export const startLocalAttester = async (options: AttesterOptions): Promise<LocalAttester> => {
  const server = createServer((request, response) => {
    const answer = (status: number, body: unknown): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    findMessages(options, request.url ?? '').then(
      (messages) => {
        if (messages === undefined) answer(404, { code: 404, error: 'Message not found' });
        else answer(200, { messages });
      },
      (error: unknown) => answer(500, { code: 500, error: String(error) }),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, close: () => closeServer(server) };
};

const closeServer = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

const findMessages = async (options: AttesterOptions, url: string): Promise<unknown[] | undefined> => {
  const [, domain, txHash] = path.exec(url) ?? [];
  const chain = options.chains.find((candidate) => candidate.domain === Number(domain));
  if (chain === undefined) return undefined;
  const receipt = (await chain.request('eth_getTransactionReceipt', [txHash])) as {
    blockNumber: Hex;
    logs: Log[];
  } | null;
  const final = (await chain.request('eth_getBlockByNumber', ['finalized', false])) as { number: Hex } | null;
  if (receipt === null) return undefined;
  const { address, artifact } = options.transmitter;
  const sent = receipt.logs.filter((log) => log.address.toLowerCase() === address.toLowerCase());
  if (sent.length === 0) return undefined;
  const isFinal = final !== null && BigInt(receipt.blockNumber) <= BigInt(final.number);
  if (!isFinal)
    return sent.map(() => ({ message: '0x', attestation: 'PENDING', status: 'pending_confirmations' }));
  return Promise.all(
    sent.map(async (log) => {
      const { args } = decodeEventLog({ abi: artifact.abi as Abi, data: log.data, topics: log.topics });
      const nonce = keccak256(concat([txHash as Hex, log.logIndex]));
      const message = complete((args as unknown as { message: Hex }).message, nonce);
      const attestation = await sign({ hash: keccak256(message), privateKey: options.privateKey, to: 'hex' });
      return { message, eventNonce: nonce, attestation, cctpVersion: 2, status: 'complete' };
    }),
  );
};

/** Fills in the zero fields of a sent message: its nonce and the finality of its burn. */
const complete = (message: Hex, nonce: Hex): Hex =>
  concat([
    slice(message, 0, 12),
    nonce,
    slice(message, 44, 144),
    toHex(FINALIZED, { size: 4 }),
    slice(message, 148),
  ]);

import type { Hex } from '@florin/protocol/order.ts';
import { Agent, request } from 'undici';

/** A CCTP message with its attesters' signatures, ready for delivery. */
export interface AttestedMessage {
  readonly message: Hex;
  readonly attestation: Hex;
}

/** The service that signs burns once they are final: Circle's Iris, or the simulated one of local chains. */
export interface AttestationSource {
  /**
   * The attested messages of one transaction on the chain with this domain; empty while none is attested. Throws
   * `AttestationUnavailable`. The answer is not trusted: the contracts check the signatures, the caller the contents.
   */
  messagesOf(domain: number, txHash: Hex): Promise<readonly AttestedMessage[]>;
  close(): Promise<void>;
}

/** The attestation service gave no usable answer; a retry may help. */
export class AttestationUnavailable extends Error {
  override readonly name = 'AttestationUnavailable';
}

const timeoutMs = 10_000;
const maxAnswerBytes = 1024 * 1024;
const hexText = /^0x[0-9a-fA-F]+$/;

/**
 * Calls Circle's documented HTTP API (developers.circle.com/cctp, GET /v2/messages/{sourceDomainId}). `url` has no
 * trailing slash, such as https://iris-api.circle.com. It is the operator's own setting, like node URLs.
 */
export function attestationSource(url: string): AttestationSource {
  const agent = new Agent({ connections: 4, connect: { timeout: 5_000 }, maxResponseSize: maxAnswerBytes });
  return {
    messagesOf: (domain, txHash) => ask(agent, `${url}/v2/messages/${domain}?transactionHash=${txHash}`),
    close: () => agent.destroy(),
  };
}

async function ask(agent: Agent, url: string): Promise<readonly AttestedMessage[]> {
  const { status, text } = await exchange(agent, url);
  // The service answers "not found" for burns that it has not seen yet.
  if (status === 404) return [];
  if (status !== 200) throw new AttestationUnavailable(`HTTP status ${status}`);
  return attestedOf(parseJson(text));
}

async function exchange(agent: Agent, url: string): Promise<{ status: number; text: string }> {
  try {
    const response = await request(url, {
      dispatcher: agent,
      headers: { accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
      headersTimeout: timeoutMs,
      bodyTimeout: timeoutMs,
    });
    return { status: response.statusCode, text: await response.body.text() };
  } catch (cause) {
    throw new AttestationUnavailable('no answer', { cause });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new AttestationUnavailable('malformed answer: not JSON', { cause });
  }
}

function attestedOf(answer: unknown): readonly AttestedMessage[] {
  const messages = fieldOf(answer, 'messages');
  if (!Array.isArray(messages)) throw new AttestationUnavailable('malformed answer: no list of messages');
  return messages.flatMap((entry: unknown): AttestedMessage[] => {
    const [message, attestation] = [fieldOf(entry, 'message'), fieldOf(entry, 'attestation')];
    // Incomplete messages have "PENDING" as attestation.
    if (fieldOf(entry, 'status') !== 'complete' || !isHex(message) || !isHex(attestation)) return [];
    return [{ message, attestation }];
  });
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function isHex(value: unknown): value is Hex {
  return typeof value === 'string' && hexText.test(value);
}

import type { CreateSessionMessage, PreparePaymentMessage } from '@florin/protocol/agent-api.ts';
import type {
  AgentSessionView,
  CreatedSessionView,
  LinkView,
  PreparedView,
} from '@florin/protocol/agent-view.ts';
import type { LinkDetail } from '@florin/protocol/link.ts';
import type { SessionView } from '@florin/protocol/session.ts';

/** A message and its signature by the payer's wallet. */
export interface SignedRequest<Message> {
  readonly message: Message;
  readonly signature: string;
}

/** The AI protocol's calls for an agent. Every call throws one sentence when the service refuses. */
export interface AgentApi {
  readLink(linkId: string): Promise<LinkView>;
  createSession(body: SignedRequest<CreateSessionMessage>): Promise<CreatedSessionView>;
  readSession(sessionId: string): Promise<AgentSessionView>;
  prepare(body: SignedRequest<PreparePaymentMessage>): Promise<PreparedView>;
}

/** The reads of a merchant with the secret key. */
export interface MerchantApi {
  readLink(linkId: string): Promise<LinkDetail>;
  readSession(sessionId: string): Promise<SessionView>;
}

interface Call {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

const callLimitMs = 30_000;

/** Both interfaces answer `{code, message, data}`. Any code except 0 is a failure, at every HTTP status. */
export async function ask<Data>({ url, headers, body }: Call): Promise<Data> {
  const what = `${body === undefined ? 'GET' : 'POST'} ${url}`;
  let reply: { code: number; message: string; data: Data };
  try {
    const response = await fetch(url, {
      headers: { ...headers, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(callLimitMs),
    });
    reply = (await response.json()) as typeof reply;
  } catch (error) {
    throw new Error(`${what} got an unreadable answer; is the world still running?`, { cause: error });
  }
  if (reply.code !== 0) throw new Error(`${what} was refused with ${reply.code}: ${reply.message}`);
  return reply.data;
}

/** The AI protocol at its base URL; it needs no key. */
export function openAgentApi(baseUrl: string): AgentApi {
  return {
    readLink: (linkId) => ask({ url: `${baseUrl}/payment/link/${linkId}` }),
    createSession: (body) => ask({ url: `${baseUrl}/payment/session/create`, body }),
    readSession: (sessionId) => ask({ url: `${baseUrl}/session/${sessionId}` }),
    prepare: (body) => ask({ url: `${baseUrl}/payment/prepare`, body }),
  };
}

/** The merchant API at its base URL, with an API key. */
export function openMerchantApi(baseUrl: string, apiKey: string): MerchantApi {
  const headers = { authorization: `Bearer ${apiKey}` };
  return {
    readLink: (linkId) => ask({ url: `${baseUrl}/payment/link/${linkId}`, headers }),
    readSession: (sessionId) => ask({ url: `${baseUrl}/session/${sessionId}`, headers }),
  };
}

import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What a service was asked to verify, whatever it calls the members. */
export interface Asked {
  readonly address: string;
  readonly source: string;
  readonly compilerVersion: string;
  /** Without 0x; undefined where the service finds them itself. */
  readonly constructorArguments: string | undefined;
  readonly sources: unknown;
}

/** Etherscan, Blockscout and Sourcify on loopback, as their documents describe them. */
export interface VerifierStandIn {
  readonly url: string;
  readonly asked: Asked[];
  /** The reason for which everything is refused from now on; undefined accepts. */
  refusal: string | undefined;
  close(): Promise<void>;
}

interface State {
  readonly key: string;
  readonly asked: Asked[];
  refusal: string | undefined;
  /** Whether the second question about an id is asked: the first verdict is pending. */
  readonly isDone: (id: string) => boolean;
}

type Answer = readonly [status: number, content: object];

/** Starts the stand-in. Each verdict is pending once. */
export async function startVerifier(key: string): Promise<VerifierStandIn> {
  const questions = new Map<string, number>();
  const state: State = {
    ...{ key, asked: [], refusal: undefined },
    isDone(id) {
      questions.set(id, (questions.get(id) ?? 0) + 1);
      return (questions.get(id) ?? 0) > 1;
    },
  };
  const server = createServer((request, response) => {
    void answer(state, request).then(([status, content]) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(state, {
    url: `http://127.0.0.1:${port}`,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  });
}

async function answer(state: State, request: IncomingMessage): Promise<Answer> {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://verifier');
  const body = await text(request);
  if (pathname === '/v2/api') return etherscan(state, searchParams, new URLSearchParams(body));
  if (pathname.startsWith('/api/v2/smart-contracts/')) return blockscout(state, request, body);
  const [, , , first = '', address = ''] = pathname.split('/');
  return request.method === 'POST' ? sourcify(state, address, body) : sourcifyVerdict(state, first);
}

function etherscan(state: State, query: URLSearchParams, form: URLSearchParams): Answer {
  if (query.get('chainid') === null) return [200, { status: '0', result: 'Missing chainid' }];
  const isCheck = query.get('action') === 'checkverifystatus';
  if ((isCheck ? query : form).get('apikey') !== state.key)
    return [200, { status: '0', result: 'Invalid API Key' }];
  if (isCheck) {
    if (!state.isDone(query.get('guid') ?? '')) return [200, { status: '0', result: 'Pending in queue' }];
    return [200, { status: '1', result: state.refusal ?? 'Pass - Verified' }];
  }
  const address = form.get('contractaddress') ?? '';
  if (state.asked.some((each) => each.address === address))
    return [200, { status: '0', result: 'Contract source code already verified' }];
  state.asked.push({
    address,
    source: form.get('contractname') ?? '',
    compilerVersion: form.get('compilerversion') ?? '',
    constructorArguments: form.get('constructorArguments') ?? '',
    sources: JSON.parse(form.get('sourceCode') ?? ''),
  });
  return [200, { status: '1', result: `guid of ${address}` }];
}

async function blockscout(
  state: State,
  { headers, method, url = '' }: IncomingMessage,
  body: string,
): Promise<Answer> {
  const address = url.split('/')[4] ?? '';
  const isAsked = state.asked.some((each) => each.address === address);
  if (method === 'GET')
    return isAsked ? [200, { is_verified: state.isDone(address) }] : [404, { message: 'Not found' }];
  const type = { 'content-type': headers['content-type'] ?? '' };
  const form = await new Response(body, { headers: type }).formData();
  const file = form.get('files[0]');
  state.asked.push({
    address,
    source: String(form.get('contract_name')),
    compilerVersion: String(form.get('compiler_version')),
    constructorArguments: String(form.get('constructor_args')).replace(/^0x/, ''),
    sources: JSON.parse(file instanceof Blob ? await file.text() : ''),
  });
  return [200, { message: 'Smart-contract verification started' }];
}

function sourcify(state: State, address: string, body: string): Answer {
  if (state.asked.some((each) => each.address === address)) return [409, { customCode: 'already_verified' }];
  const { stdJsonInput, compilerVersion, contractIdentifier } = JSON.parse(body) as Record<string, unknown>;
  state.asked.push({
    address,
    source: String(contractIdentifier),
    compilerVersion: String(compilerVersion),
    constructorArguments: undefined,
    sources: stdJsonInput,
  });
  return [202, { verificationId: address }];
}

function sourcifyVerdict(state: State, id: string): Answer {
  if (!state.isDone(id)) return [200, { isJobCompleted: false }];
  const { refusal } = state;
  if (refusal === undefined) return [200, { isJobCompleted: true, contract: { match: 'exact_match' } }];
  return [200, { isJobCompleted: true, contract: { match: null }, error: { message: refusal } }];
}

/** What every service has to be given: the input from which the committed artifacts were made. */
export function readPublishedInput(): { readonly compilerVersion: string; readonly input: unknown } {
  const file = new URL('../../../contracts/artifacts/standard-json.json', import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as { compilerVersion: string; input: unknown };
}

/// <reference lib="esnext.disposable" preserve="true" />
import { FlorinError } from './error.ts';
import { Florin } from './florin.ts';
import type { Session, SessionView } from './wire.gen.ts';

/** The parts of `world.json` that tests use; the file has more. */
export interface WorldManifest {
  readonly origin: string;
  readonly merchantApi: string;
  readonly secretKey: string;
  readonly restrictedKey: string;
  readonly accountId: string;
  readonly linkIds: Readonly<Record<'fixed' | 'custom' | 'crossChain', string>>;
  readonly merchantWallet: { readonly address: string; readonly privateKey: string };
  readonly chains: readonly {
    readonly name: string;
    readonly chainId: string;
    readonly rpcUrl: string;
    readonly tokens: readonly { readonly tokenId: string; readonly address: string }[];
  }[];
  readonly console: string;
  readonly controlToken: string;
}

/** An act of the world, as its guide names them: `pay`, `underpay`, `reorg`, … */
export interface ActRequest {
  readonly argument?: string | undefined;
  readonly chain?: string | undefined;
  readonly token?: string | undefined;
  /** Ends an act that lasts. */
  readonly undo?: boolean | undefined;
}

export interface PayOptions {
  /** The token id to pay with; one on the chain `base` when absent. */
  readonly token?: string | undefined;
  /** What to wait for: `paid`, when absent, takes some seven blocks of a second each. `false`: nothing. */
  readonly until?: 'paid' | 'completed' | false | undefined;
  readonly timeoutMs?: number | undefined;
}

/** A running local world. */
export interface TestWorld extends AsyncDisposable {
  readonly manifest: WorldManifest;
  /** The demo merchant's client, with its secret key. */
  readonly florin: Florin;
  /** A wallet pays a session. */
  pay(session: string | Pick<Session, 'sessionId'>, options?: PayOptions): Promise<SessionView>;
  /** Time passes, for the chains and the service: `40m`, `2h` or `3d`. It does not go back. */
  advance(time: `${number}${'m' | 'h' | 'd'}`): Promise<void>;
  /** Replaces the newest blocks of a chain, without their transactions. */
  reorg(blocks: number, options?: { readonly chain?: string }): Promise<void>;
  /** Any act; answers its facts, such as hashes and addresses. */
  act(name: string, request?: ActRequest): Promise<Readonly<Record<string, string>>>;
  /** Stops a world that `startWorld` started, and removes its data. One that was running already stays. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /** The checkout of Florin; the environment variable FLORIN_CHECKOUT when absent. */
  readonly checkout?: string | undefined;
  /** Where its data stays; a new folder that `stop` removes when absent. */
  readonly home?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The first start installs the checkout, which took 160 s on a busy machine. */
const startTimeoutMs = 600_000;
const payTimeoutMs = 120_000;
const pollMs = 250;
const minutesPer = { m: 1, h: 60, d: 1_440 } as const;

/**
 * Starts a local world of its own in a checkout of Florin, beside any other. The first start of a checkout installs it and takes
 * minutes. Node.js only.
 */
export async function startWorld({
  checkout,
  home,
  timeoutMs = startTimeoutMs,
}: StartOptions = {}): Promise<TestWorld> {
  const [{ spawn }, { mkdtemp, rm }, { tmpdir }, { join }] = await Promise.all([
    import('node:child_process'),
    import('node:fs/promises'),
    import('node:os'),
    import('node:path'),
  ]);
  const folder = checkout ?? process.env['FLORIN_CHECKOUT'];
  if (folder === undefined)
    throw new FlorinError(
      'argument_invalid',
      'give checkout, or FLORIN_CHECKOUT: the folder of a clone of Florin',
    );
  const data = home ?? (await mkdtemp(join(tmpdir(), 'florin-world-')));
  // Started by npm, the world would end with that npm.
  const { npm_lifecycle_event: _, ...own } = process.env;
  const env = { ...own, FLORIN_HOME: data, FLORIN_PORT: String(await freePort()) };
  const child = spawn(process.execPath, [join('scripts', 'run.cjs'), 'start'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stop = async (): Promise<void> => {
    // Its output closes once all its processes have ended.
    if (child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child.once('close', resolve));
      child.kill('SIGTERM');
      await ended;
    }
    if (home === undefined) await rm(data, { recursive: true, force: true });
  };
  try {
    await isReady(child.stdout, timeoutMs);
    const world = await openWorld({ home: data });
    return { ...world, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Reads the output until the world is ready, and goes on reading it, so that the world never waits for a reader. */
async function isReady(output: NodeJS.ReadableStream, timeoutMs: number): Promise<void> {
  const { createInterface } = await import('node:readline');
  const lines = createInterface({ input: output });
  const timer = setTimeout(() => lines.close(), timeoutMs);
  const seen: string[] = [];
  try {
    for await (const line of lines) {
      seen.push(line);
      if (!line.startsWith('Florin is ready')) continue;
      output.resume();
      return;
    }
  } finally {
    clearTimeout(timer);
  }
  throw new FlorinError('connection_failed', `the world did not start:\n${seen.join('\n')}`);
}

async function freePort(): Promise<number> {
  const { createServer } = await import('node:net');
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/**
 * A world that runs already. It is found by `home`, else by the environment variable FLORIN_HOME, else by a `.florin` in this
 * folder or one above it. Node.js only.
 */
export async function openWorld({ home }: { readonly home?: string | undefined } = {}): Promise<TestWorld> {
  const manifest = await readManifest(home ?? process.env['FLORIN_HOME']);
  const { secretKey, merchantApi } = manifest;
  const florin = new Florin(secretKey, { baseUrl: merchantApi });
  const act: TestWorld['act'] = (name, request = {}) => performAct(manifest, name, request);
  const stop = async (): Promise<void> => {};
  return {
    manifest,
    florin,
    act,
    async pay(session, options) {
      const sessionId = typeof session === 'string' ? session : session.sessionId;
      await act('pay', { argument: sessionId, token: options?.token });
      return sessionIn(florin, sessionId, options);
    },
    async advance(time) {
      const [, count = '', unit = ''] = /^([1-9][0-9]{0,5})([mhd])$/.exec(time) ?? [];
      if (unit !== 'm' && unit !== 'h' && unit !== 'd')
        throw new FlorinError(
          'argument_invalid',
          `advance() takes a time such as '40m', '2h' or '3d', not ${time}`,
        );
      await act('advance', { argument: String(Number(count) * minutesPer[unit]) });
    },
    async reorg(blocks, { chain } = {}) {
      await act('reorg', { argument: String(blocks), chain });
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

async function readManifest(home: string | undefined): Promise<WorldManifest> {
  const [{ readFile }, { dirname, join }] = await Promise.all([
    import('node:fs/promises'),
    import('node:path'),
  ]);
  for (let folder = process.cwd(); ; folder = dirname(folder)) {
    const file = join(home ?? join(folder, '.florin'), 'world.json');
    const text = await readFile(file, 'utf8').catch(() => undefined);
    // The world writes the file itself, whole or not at all.
    if (text !== undefined) return JSON.parse(text) as WorldManifest;
    if (home !== undefined || folder === dirname(folder))
      throw new FlorinError('connection_failed', `no world runs here: there is no ${file}`);
  }
}

async function performAct(
  { console: url, controlToken }: WorldManifest,
  name: string,
  request: ActRequest,
): Promise<Readonly<Record<string, string>>> {
  const response = await fetch(`${url}/acts/${encodeURIComponent(name)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${controlToken}` },
    body: JSON.stringify(request),
  }).catch((cause: unknown) => {
    throw new FlorinError('connection_failed', `the world does not answer at ${url}`, { cause });
  });
  const { error, facts } = (await response.json()) as { error?: string; facts?: Record<string, string> };
  if (facts === undefined) throw new FlorinError('argument_invalid', error ?? `HTTP ${response.status}`);
  return facts;
}

async function sessionIn(florin: Florin, sessionId: string, options: PayOptions = {}): Promise<SessionView> {
  const { until = 'paid', timeoutMs = payTimeoutMs } = options;
  const wanted = { paid: ['paid', 'settling', 'completed'], completed: ['completed'] } as const;
  const endMs = performance.now() + timeoutMs;
  for (;;) {
    const view = await florin.sessions.retrieve(sessionId);
    const { status } = view.session;
    if (until === false || (wanted[until] as readonly string[]).includes(status)) return view;
    if (performance.now() > endMs)
      throw new FlorinError('timed_out', `the session is ${status} after ${timeoutMs} ms, not ${until}`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HttpRpc, Rpc } from '@florin/evm';
import type { Database } from '@florin/pg';
import { dashboardApi, merchantHeader } from '@florin/protocol/dashboard-api.ts';
import type { MemberRole } from '@florin/protocol/member-role.ts';
import type { FastifyInstance } from 'fastify';
import { type Images, openImages } from '#catalog/images/open-images.ts';
import { previewPage } from '#http/checkout/preview.ts';
import { dashboardDoor } from '#http/dashboard/dashboard-door.ts';
import { previewDoor } from '#http/dashboard/preview-door.ts';
import { uploadDoor } from '#http/dashboard/upload-door.ts';
import type { Limits } from '#http/rate-limit.ts';
import { compileCheck } from '#http/schema-check.ts';
import { buildServer, type Door } from '#http/server.ts';
import { receiptSender } from '#mail/receipt-again.ts';
import { addMember } from '#members/membership.ts';
import { hashPassword } from '#members/password.ts';
import { openSignIn, type SignInOptions } from '#members/sign-in.ts';
import type { SignIn } from '#members/sign-in-session.ts';
import { createUser } from '#members/user.ts';
import { systemClock } from '#outside/clock.ts';
import { systemRandom } from '#outside/random.ts';
import { secretBox } from '#outside/secret-box.ts';
import { silentLog } from '#telemetry/log.ts';
import type { TestDatabase } from './database.ts';
import { MerchantWorld } from './merchant-fixture.ts';
import { quickenScrypt } from './quick-scrypt.ts';

export const dashboardOrigin = 'https://pay.example.com';
export const password = 'correct horse battery';

interface Answer {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of any shape
  readonly data: any;
  readonly text: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** A browser: it keeps cookies, and sends the origin of the dashboard's pages. */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly #server: FastifyInstance;
  merchantId = '';
  clientAddress = '192.0.2.1';

  constructor(server: FastifyInstance) {
    this.#server = server;
  }

  /** A browser in which a person has signed in with the password. */
  static async signedIn(server: FastifyInstance, email: string): Promise<Browser> {
    const browser = new Browser(server);
    const { status, code, message } = await browser.post('/sign-in/password', { email, password });
    if (status !== 200 || code !== 0) throw new Error(`no sign-in: ${status} ${code} ${message}`);
    return browser;
  }

  async send(
    method: 'GET' | 'POST',
    path: string,
    options: { body?: unknown; headers?: Record<string, string>; remoteAddress?: string } = {},
  ): Promise<Answer> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const { body, remoteAddress = this.clientAddress } = options;
    const reply = await this.#server.inject({
      method,
      url: dashboardApi.basePath + path,
      remoteAddress,
      headers: {
        ...(cookie === '' ? {} : { cookie }),
        ...(this.merchantId === '' ? {} : { [merchantHeader]: this.merchantId }),
        ...(method === 'POST' ? { origin: dashboardOrigin } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        'user-agent': 'Test browser',
        ...options.headers,
      },
      ...(body === undefined ? {} : { payload: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    this.#keep([reply.headers['set-cookie'] ?? []].flat());
    const isJson = String(reply.headers['content-type']).startsWith('application/json');
    const answer = isJson ? reply.json() : { code: 0, message: '', data: reply.body };
    if (isJson && answer.code === 0) assertDocumented(method, path, answer.data);
    return { status: reply.statusCode, headers: reply.headers, text: reply.body, ...answer };
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', path);
  }

  post(path: string, body?: unknown): Promise<Answer> {
    return this.send('POST', path, body === undefined ? {} : { body });
  }

  #keep(lines: readonly string[]): void {
    for (const line of lines) {
      const [name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line)?.slice(1) ?? [];
      if (value === '' || /max-age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
  }
}

const documented = Object.values(dashboardApi.routes).map((route) => ({
  method: route.method,
  path: new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]+')}$`),
  check: compileCheck(route.reply, 'data'),
}));

function assertDocumented(method: string, path: string, data: unknown): void {
  const [bare] = path.split('?');
  const route = documented.find((each) => each.method === method && each.path.test(bare ?? ''));
  if (route === undefined) throw new Error(`no route documents ${method} ${path}`);
  const refusal = route.check(data);
  if (refusal !== undefined) throw new Error(`${method} ${path} answered another shape: ${refusal.message}`);
}

const settler = `0x${'5e'.repeat(20)}` as const;
/** A node of every chain. The wallet's gas lasts a day: a third of the reserve of twenty million units. */
const nodeAnswers: Readonly<Record<string, string>> = {
  eth_blockNumber: '0x10',
  eth_gasPrice: '0x3',
  eth_getBalance: '0x1312d00',
};
const oneNode: Rpc & Pick<HttpRpc, 'inspect'> = {
  request: async (method) => nodeAnswers[method],
  batch: async (calls) => calls.map(({ method }) => ({ result: nodeAnswers[method] })),
  inspect: async ({ method }) => [{ node: 'node.example', result: nodeAnswers[method], problem: '' }],
};

/** As in production. */
export const walletDelayMs = 24 * 3_600_000;

/** Adds a person with a password, and makes them a member. Returns the id and the e-mail address. */
export async function addPerson(
  db: Database,
  deps: Pick<SignInOptions, 'clock' | 'random'>,
  person: { name: string; memberships: readonly (readonly [merchantId: string, role: MemberRole])[] },
): Promise<{ userId: string; email: string }> {
  const email = `${randomBytes(8).toString('hex')}@example.com`;
  const passwordHash = await hashPassword(password);
  const userId = await db.transaction(async (transaction) => {
    const made = await createUser(transaction, deps, { name: person.name, email, passwordHash });
    for (const [merchantId, role] of person.memberships)
      await addMember(transaction, deps, { merchantId, userId: made, role });
    return made;
  });
  return { userId, email };
}

/** The dashboard's door beside the merchant API, over one database. The clock stands at the present, as the library's does. */
export class DashboardWorld {
  readonly merchants: MerchantWorld;
  readonly options: SignInOptions;
  readonly images: Images;
  /** What the operator's screens ask about every chain. */
  node = oneNode;
  readonly #imageFolder: string;
  readonly #signIn: SignIn;
  readonly #servers: FastifyInstance[] = [];
  readonly #plainServers = new Map<string, Promise<FastifyInstance>>();
  readonly #slowScrypt = quickenScrypt();

  private constructor(merchants: MerchantWorld, options: SignInOptions, imageFolder: string) {
    this.merchants = merchants;
    this.options = options;
    this.#imageFolder = imageFolder;
    this.images = openImages({
      ...options,
      // Decoders have real time limits.
      clock: { ...systemClock, now: () => merchants.clock.now() },
      settings: { store: { kind: 'folder', folder: imageFolder }, allowLoopback: false },
      ...{ db: merchants.database.db, origin: options.dashboardOrigin, masterKey: randomBytes(32) },
      searchSessions: async () => ({ isFound: false, last: undefined }),
    });
    this.#signIn = openSignIn(options);
  }

  /** @param origin Of the dashboard's pages; another one for a server that a real browser visits. */
  static async open(
    verifyWallet: SignInOptions['verifyWallet'] = async () => false,
    origin = dashboardOrigin,
    database?: TestDatabase,
  ): Promise<DashboardWorld> {
    const merchants = await MerchantWorld.open(database);
    merchants.clock.time = Date.now();
    const options: SignInOptions = {
      ...{ clock: merchants.clock, random: systemRandom, log: silentLog },
      ...{ databaseUrl: merchants.database.url, dashboardOrigin: origin },
      ...{ masterKeys: [randomBytes(32)], verifyWallet },
    };
    return new DashboardWorld(merchants, options, await mkdtemp(join(tmpdir(), 'florin-images-')));
  }

  /** A server in an environment, which ends with this world: one for all, unless it has limits or further doors. */
  serve(
    environment: 'local' | 'production',
    limits?: Limits,
    more: readonly Door[] = [],
  ): Promise<FastifyInstance> {
    const isPlain = limits === undefined && more.length === 0;
    const plain = isPlain ? this.#plainServers.get(environment) : undefined;
    const server = plain ?? this.#build(environment, limits, more);
    if (isPlain) this.#plainServers.set(environment, server);
    return server;
  }

  async #build(
    environment: 'local' | 'production',
    limits: Limits | undefined,
    more: readonly Door[],
  ): Promise<FastifyInstance> {
    const { dashboardOrigin: origin } = this.options;
    const server = await buildServer({
      log: silentLog,
      random: systemRandom,
      origin,
      ready: async () => ({ ready: true, checks: {} }),
      doors: [
        dashboardDoor({
          sendReceipt: receiptSender(
            { random: systemRandom, secrets: secretBox(this.options.masterKeys) },
            origin,
          ),
          // A world with a mailbox has its own.
          ...this.merchants.deps,
          ...{ people: this.merchants.database.db, images: this.images.intake },
          signIn: this.#signIn,
          ...{ dashboardOrigin: origin, environment, limits, walletDelayMs },
          verifyWallet: this.options.verifyWallet,
          installation: {
            rpcOf: () => this.node,
            wallets: [{ role: 'settler', address: settler }],
            configuration: { environment },
          },
        }),
        ...more,
      ],
    });
    this.#servers.push(server);
    return server;
  }

  /** The door of the preview, to be served beside the dashboard's. */
  previews(): Door {
    const { deps, database } = this.merchants;
    const { dashboardOrigin: origin } = this.options;
    return previewDoor({
      ...{
        ...deps,
        people: database.db,
        signIn: this.#signIn,
        dashboardOrigin: origin,
        environment: 'local',
      },
      render: (...page) => previewPage({ chains: deps.chains, origins: [origin] }, ...page),
    });
  }

  /** The door of uploads, to be served beside the dashboard's. */
  uploads(): Door {
    const { deps, database } = this.merchants;
    const { dashboardOrigin: origin } = this.options;
    return uploadDoor({
      ...{ ...deps, images: this.images.intake, people: database.db, signIn: this.#signIn },
      ...{ dashboardOrigin: origin, environment: 'local' },
    });
  }

  /** Adds a person with a password, and makes them a member. Returns the id and the e-mail address. */
  addPerson(
    memberships: readonly (readonly [merchantId: string, role: MemberRole])[] = [],
  ): Promise<{ userId: string; email: string }> {
    return addPerson(this.merchants.database.db, this.options, { name: 'Sam', memberships });
  }

  async close(): Promise<void> {
    for (const server of this.#servers) await server.close();
    await this.#signIn.close();
    await this.images.close();
    await rm(this.#imageFolder, { recursive: true, force: true });
    await this.merchants.close();
    this.#slowScrypt();
  }
}

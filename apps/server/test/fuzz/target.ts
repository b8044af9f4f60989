import { randomBytes } from 'node:crypto';
import { errorCatalogue } from '@florin/protocol/error.ts';
import { newId } from '@florin/protocol/id.ts';
import { merchantApi } from '@florin/protocol/merchant-api.ts';
import { errorsOf, serverErrors } from '@florin/protocol/openapi-errors.ts';
import { compileCheck } from '#http/schema-check.ts';
import { makeReports } from '#reports/report.ts';
import { silentLog } from '#telemetry/log.ts';
import { MerchantWorld } from '../harness/merchant-fixture.ts';
import { type Change, ChangeJournal } from './change-journal.ts';
import { type IdKind, idKinds, idTokenPattern, operations } from './operation.ts';
import type { FuzzRequest } from './request.ts';
import { addTenant, stock, type Tenant } from './tenant.ts';

/** One request as sent, and its answer. */
export interface Exchange {
  readonly sent: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly payload: string | Uint8Array | undefined;
  };
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  /** The request's changes in the database. */
  readonly changes: readonly Change[];
}

export interface Figures {
  requests: number;
  /** Accepted requests by operation id. */
  readonly taken: Map<string, number>;
  unexpected5xx: number;
  schemaMisses: number;
  crossTenantReads: number;
}

/** Every object of the other merchant contains this text, which reveals a reply that shows any of it. */
const foreignMark = 'belongs-to-the-other-merchant';

/**
 * The merchant API over a database that records changes. One merchant calls it, and another one's data must never
 * appear.
 */
export class Target {
  readonly world: MerchantWorld;
  readonly journal: ChangeJournal;
  readonly own: Tenant;
  readonly foreign: Tenant;
  readonly figures: Figures = {
    requests: 0,
    taken: new Map(),
    unexpected5xx: 0,
    schemaMisses: 0,
    crossTenantReads: 0,
  };

  private constructor(world: MerchantWorld, journal: ChangeJournal, own: Tenant, foreign: Tenant) {
    this.world = world;
    this.journal = journal;
    this.own = own;
    this.foreign = foreign;
  }

  static async open(): Promise<Target> {
    const world = await MerchantWorld.open();
    const own = await addTenant(world, 'Own');
    const foreign = await addTenant(world, foreignMark);
    const journal = await ChangeJournal.install(world.database.url);
    return new Target(world, journal, own, foreign);
  }

  async close(): Promise<void> {
    await this.journal.close();
    await this.world.close();
  }

  /** Creates fresh objects of the caller, and forgets the oldest, many of which are archived or removed by now. */
  async restock(): Promise<void> {
    const { key, ids } = this.own;
    const { webhooks } = (await this.world.send('GET', '/webhook/list', { key })).data;
    const full = webhooks.at(-1)?.webhookId;
    if (webhooks.length >= 5)
      await this.world.send('POST', '/webhook/remove', { key, body: { webhookId: full } });
    // A merchant has at most ten pending reports.
    const { clock, database } = this.world;
    while (await makeReports(database.db, { clock, log: silentLog }));
    const fresh = await stock(this.world, { key, account: String(ids.account[0]), mark: 'Own' });
    for (const kind of idKinds)
      ids[kind] = [...ids[kind].filter((id) => id !== fresh[kind][0]).slice(-20), ...fresh[kind]];
    await this.journal.take();
  }

  /** Fills in the ids: most are the caller's own, some are the other merchant's, and some do not exist. */
  resolve(text: string): string {
    return text.replaceAll(idTokenPattern, (_, kind: IdKind, digits: string) => {
      const number = Number(digits);
      if (number % 10 === 0)
        return this.foreign.ids[kind].at(number % this.foreign.ids[kind].length) ?? unknownId(kind);
      if (number % 10 === 1) return unknownId(kind);
      const own = this.own.ids[kind];
      return own.at(-1 - (number % Math.max(1, own.length))) ?? unknownId(kind);
    });
  }

  /** The request with every id filled in except the nth, so that it can be repeated with the same ids. */
  fixed(request: FuzzRequest, place: number): FuzzRequest {
    let seen = -1;
    const fill = (text: string) =>
      text.replaceAll(idTokenPattern, (token) => {
        seen += 1;
        return seen === place ? token : this.resolve(token);
      });
    const path = fill(request.path);
    return {
      ...request,
      path,
      payload: typeof request.payload === 'string' ? fill(request.payload) : undefined,
    };
  }

  async send(request: FuzzRequest): Promise<Exchange> {
    const path = this.resolve(request.path);
    const payload = typeof request.payload === 'string' ? this.resolve(request.payload) : request.payload;
    const headers = { authorization: `Bearer ${this.own.key}`, ...request.headers };
    const reply = await this.world.server.inject({
      method: request.method,
      url: `${merchantApi.basePath}${path}`,
      headers,
      ...(payload === undefined
        ? {}
        : { payload: typeof payload === 'string' ? payload : Buffer.from(payload) }),
    });
    const changes = await this.journal.take();
    this.figures.requests += 1;
    this.world.clock.time += 1_000;
    return {
      sent: { method: request.method, path, headers: request.headers, payload },
      status: reply.statusCode,
      headers: reply.headers,
      text: reply.body,
      changes,
    };
  }

  /** Every error of an answer, in words; empty for a correct answer. */
  judge(exchange: Exchange): string[] {
    const wrong: string[] = [];
    if (exchange.status >= 500) {
      this.figures.unexpected5xx += 1;
      wrong.push(`HTTP ${exchange.status}`);
    }
    const answer = envelopeOf(exchange, wrong);
    if (answer === undefined) return wrong;
    wrong.push(...this.#misread(exchange), ...wrongChanges(exchange, answer.code, this.own.merchantId));
    const route = routeOf(exchange.sent.method, exchange.sent.path);
    if (answer.code !== 0) {
      wrong.push(...wrongFailure(exchange, answer, route));
      return wrong;
    }
    if (route === undefined) return [...wrong, 'a path that no route documents was answered'];
    this.figures.taken.set(route.id, (this.figures.taken.get(route.id) ?? 0) + 1);
    const refusal = route.check(answer.data);
    if (refusal !== undefined) {
      this.figures.schemaMisses += 1;
      wrong.push(`an undocumented shape: ${refusal.message}`);
    }
    this.#remember(answer.data);
    return wrong;
  }

  /** Signs that the answer shows data of the other merchant. */
  #misread({ sent, text }: Exchange): string[] {
    const asked = `${sent.path} ${typeof sent.payload === 'string' ? sent.payload : ''}`;
    const foreignIds = idKinds.flatMap((kind) => this.foreign.ids[kind]);
    const unasked = foreignIds.filter((id) => text.includes(id) && !asked.includes(id));
    const wrong = unasked.map((id) => `shows the other merchant's ${id}`);
    if (text.includes(foreignMark)) wrong.push('shows texts of the other merchant');
    const isTaken = /^\{"code":0,/.test(text);
    const named = foreignIds.filter((id) => asked.includes(id));
    if (isTaken && named.some((id) => text.includes(id)))
      wrong.push("names the other merchant's id in a success");
    // What a query names beside its path selects among the caller's own: unknown ids match nothing.
    const isQuery = routeOf(sent.method, sent.path)?.route.effect === 'query';
    const [place = ''] = sent.path.split('?');
    const isAddressed = isQuery ? named.some((id) => place.includes(id)) : named.length > 0;
    if (isTaken && isAddressed) {
      wrong.push("took the other merchant's id");
    }
    this.figures.crossTenantReads += wrong.length === 0 ? 0 : 1;
    return wrong;
  }

  /** Makes the ids of created objects available to later requests. */
  #remember(data: unknown): void {
    for (const id of idsIn(JSON.stringify(data))) {
      const kind = idKinds.find((candidate) => id.startsWith(prefixes[candidate]));
      // No operation creates accounts: a new account id came from a request, as text or as metadata.
      if (kind === undefined || kind === 'account' || this.own.ids[kind].includes(id)) continue;
      this.own.ids[kind].push(id);
    }
  }
}

const prefixes: Record<IdKind, string> = {
  account: 'acc_',
  product: 'prd_',
  link: 'lnk_',
  session: 'sess_',
  webhook: 'wkid_',
  event: 'evt_',
  delivery: 'dlv_',
  refund: 'rfd_',
  report: 'rpt_',
  exception: 'exc_',
};

export function unknownId(kind: IdKind): string {
  return newId(kind, (size) => randomBytes(size));
}

function idsIn(text: string): string[] {
  return text.match(/\b(?:acc|prd|lnk|sess|wkid|evt|dlv|rfd)_[0-9A-Za-z]{22}\b/g) ?? [];
}

const documented = operations.map(({ id, route }) => ({
  id,
  route,
  path: new RegExp(`^${route.path.replaceAll(/:\w+/g, '[^/]*')}$`),
  check: compileCheck(route.reply, 'data'),
  codes: new Set(errorsOf(merchantApi, route).map((slug) => errorCatalogue[slug].code)),
}));
type Documented = (typeof documented)[number];

/** The operation of a path, after the normalization that URL clients apply. */
function routeOf(method: string, path: string): Documented | undefined {
  const { pathname } = new URL(`http://host${merchantApi.basePath}${path}`);
  if (!pathname.startsWith(merchantApi.basePath)) return undefined;
  const below = pathname.slice(merchantApi.basePath.length);
  return documented.find((candidate) => candidate.route.method === method && candidate.path.test(below));
}

interface Answer {
  readonly code: number;
  readonly message: string;
  readonly data: unknown;
  readonly error?: Record<string, unknown>;
}

const serverCodes = new Set<number>(serverErrors.map((slug) => errorCatalogue[slug].code));
/** Patterns that only a stack trace, a statement or a path of this machine matches. */
const leak =
  /node_modules|\.ts:\d|\.js:\d|\n\s+at |SQLSTATE|syntax error at or near|relation "|\/server\/src\/|pg_/;

/** Whether the answer shows internals that the client did not send itself. */
function leaks({ text, sent }: Exchange): boolean {
  const match = leak.exec(text)?.[0];
  return match !== undefined && !`${sent.path} ${String(sent.payload)}`.includes(match);
}

function envelopeOf(exchange: Exchange, wrong: string[]): Answer | undefined {
  const { text, headers, status } = exchange;
  if (headers['content-type'] !== 'application/json; charset=utf-8')
    wrong.push('not JSON by its content type');
  if (typeof headers['request-id'] !== 'string') wrong.push('no Request-Id');
  try {
    const answer = JSON.parse(text) as Answer;
    const { code, message } = answer;
    if (!Number.isSafeInteger(code) || typeof message !== 'string' || !('data' in answer)) {
      wrong.push('no envelope');
      return undefined;
    }
    if (code === 0 && status !== 200) wrong.push(`a success with HTTP ${status}`);
    return answer;
  } catch (error) {
    wrong.push(`not JSON: ${String(error)}`);
    return undefined;
  }
}

function wrongFailure(exchange: Exchange, answer: Answer, route: Documented | undefined): string[] {
  const { code, message, error } = answer;
  const slug = error?.['slug'];
  const entry = Object.entries(errorCatalogue).find(([name]) => name === slug)?.[1];
  if (entry === undefined) return [`the error ${String(slug)} is not in the catalogue`];
  const wrong: string[] = leaks(exchange) ? ['shows something of the inside'] : [];
  if (entry.code !== code || entry.http !== exchange.status) {
    wrong.push(`${String(slug)} came as ${code} with HTTP ${exchange.status}`);
  }
  if (message !== entry.text && !message.startsWith(`${entry.text}: `))
    wrong.push(`the message reads ${message}`);
  if (error?.['requestId'] !== exchange.headers['request-id']) wrong.push('another request id in the error');
  if (error?.['retryable'] !== entry.retryable) wrong.push('retryable differs from the catalogue');
  if (route !== undefined && !route.codes.has(code) && !serverCodes.has(code)) {
    wrong.push(`${route.id} does not document ${code} ${String(slug)}`);
  }
  if (route === undefined && !serverCodes.has(code)) wrong.push(`no route, but ${code} ${String(slug)}`);
  return wrong;
}

function wrongChanges({ changes, sent }: Exchange, code: number, merchantId: string): string[] {
  const route = routeOf(sent.method, sent.path);
  const isQuery = route?.route.effect === 'query';
  // A read by POST also accepts an Idempotency-Key, and its answer is stored.
  const changed =
    code === 0 && isQuery ? changes.filter(({ table }) => table !== 'idempotency_keys') : changes;
  if ((code !== 0 || isQuery) && changed.length > 0)
    return [`answered ${code}, but changed ${JSON.stringify(changes)}`];
  const foreign = changes.filter((change) => change.merchantId !== null && change.merchantId !== merchantId);
  return foreign.map((change) => `changed a row of the other merchant: ${JSON.stringify(change)}`);
}

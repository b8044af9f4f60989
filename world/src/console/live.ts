import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import type { ActQueue } from '../acts/acts.ts';
import type { Anvil } from '../anvil.ts';
import type { Mailbox } from '../mailbox.ts';
import type { WorldManifest } from '../world-config.ts';

/** One part of the world and its state. */
interface LivePart {
  readonly name: string;
  readonly state: 'good' | 'warn' | 'bad';
  readonly detail: string;
}

/** What the console shows live. */
export interface Live {
  /** The world's time, ISO 8601. */
  readonly now: string;
  readonly clockOffsetSeconds: number;
  readonly parts: readonly LivePart[];
  /** The acts that last, as `name subject`. */
  readonly lasting: readonly string[];
  readonly events: readonly { id: string; type: string; subject: string; at: string }[];
  readonly requests: readonly LiveRequest[];
  /** The number of the newest e-mail; 0 without one. */
  readonly newestMail: number;
}

interface LiveRequest {
  readonly id: string;
  readonly at: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

/** The parts of the world that the console reads. */
export interface LiveOptions {
  readonly manifest: WorldManifest;
  readonly chains: readonly Anvil[];
  readonly acts: ActQueue;
  readonly mailbox: Mailbox;
  readonly logFile: string;
  readonly clockOffsetSeconds: () => number;
}

const EVENTS_SHOWN = 30;
const REQUESTS_SHOWN = 60;
const OWN_REQUESTS_KEPT = 1_000;
const READ_BYTES = 256 * 1024;
const CALL_LIMIT_MS = 3_000;
/** Pages that ask within this time share an answer. */
const FRESH_MS = 700;

/** Reads the world for the console. The console's own requests are not among those that it shows. */
export class LiveReader {
  readonly #options: LiveOptions;
  readonly #own = new Set<string>();
  #requests: LiveRequest[] = [];
  #logPosition: number;
  #last: { readonly at: number; readonly live: Promise<Live> } | undefined;

  constructor(options: LiveOptions) {
    this.#options = options;
    // What an earlier start wrote is no news.
    this.#logPosition = existsSync(options.logFile) ? statSync(options.logFile).size : 0;
  }

  read(): Promise<Live> {
    if (this.#last === undefined || performance.now() - this.#last.at > FRESH_MS)
      this.#last = { at: performance.now(), live: this.#read() };
    return this.#last.live;
  }

  async #read(): Promise<Live> {
    const { acts, chains, clockOffsetSeconds, mailbox, manifest } = this.#options;
    const [service, events, lasting, ...ofChains] = await Promise.all([
      this.#readService(),
      this.#readEvents(),
      // While an act keeps a chain from answering, its contracts cannot be asked.
      acts.lasting().catch(() => []),
      ...manifest.chains.flatMap(({ name }) => chains.filter((chain) => chain.name === name)).map(readChain),
    ]);
    const offset = clockOffsetSeconds();
    return {
      now: new Date(Date.now() + offset * 1_000).toISOString(),
      clockOffsetSeconds: offset,
      parts: [...service, ...ofChains],
      lasting,
      events,
      requests: this.#readRequests(),
      newestMail: mailbox.mails()[0]?.number ?? 0,
    };
  }

  /** Undefined when the service does not answer. */
  async #get(path: string): Promise<unknown> {
    const { origin, secretKey } = this.#options.manifest;
    try {
      const response = await fetch(origin + path, {
        headers: { authorization: `Bearer ${secretKey}` },
        signal: AbortSignal.timeout(CALL_LIMIT_MS),
      });
      this.#own.add(response.headers.get('request-id') ?? '');
      if (this.#own.size > OWN_REQUESTS_KEPT)
        for (const oldest of [...this.#own].slice(0, 1)) this.#own.delete(oldest);
      return await response.json();
    } catch {
      // The page shows that; a service that was killed is back in a moment.
      return undefined;
    }
  }

  async #readService(): Promise<LivePart[]> {
    const health = (await this.#get('/health/ready')) as { checks: Record<string, string> } | undefined;
    if (health === undefined) return [{ name: 'Service', state: 'bad', detail: 'does not answer' }];
    const problems = Object.entries(health.checks).filter(([, text]) => text !== 'ok');
    const detail = problems.map(([name, text]) => `${name}: ${text}`).join(', ');
    return [
      { name: 'Service', state: problems.length === 0 ? 'good' : 'warn', detail: detail || 'ready' },
      health.checks['database'] === 'ok'
        ? { name: 'PostgreSQL', state: 'good', detail: 'ready' }
        : { name: 'PostgreSQL', state: 'bad', detail: 'does not answer' },
    ];
  }

  async #readEvents(): Promise<Live['events']> {
    const answer = (await this.#get(`/payment/v1/event/list/1/${EVENTS_SHOWN}`)) as
      | { data: { events: { id: string; type: string; timestamp: string; data: unknown }[] } | null }
      | undefined;
    return (answer?.data?.events ?? []).map(({ id, type, timestamp, data }) => ({
      ...{ id, type, at: timestamp },
      subject: subjectOf(data),
    }));
  }

  /** The newest requests in the service's log, newest first. */
  #readRequests(): readonly LiveRequest[] {
    for (const line of this.#readNewLines()) {
      const request = requestIn(line);
      // The log has the machine's time; the page shows all in the world's.
      if (request !== undefined) this.#requests.push({ ...request, at: this.#worldTime(request.at) });
    }
    this.#requests = this.#requests.filter(({ id }) => !this.#own.has(id)).slice(-REQUESTS_SHOWN);
    return this.#requests.toReversed();
  }

  #worldTime(time: string): string {
    return new Date(Date.parse(time) + this.#options.clockOffsetSeconds() * 1_000).toISOString();
  }

  #readNewLines(): string[] {
    const { logFile } = this.#options;
    if (!existsSync(logFile)) return [];
    const file = openSync(logFile, 'r');
    try {
      const { size } = fstatSync(file);
      const begin = Math.max(this.#logPosition, size - READ_BYTES);
      const bytes = Buffer.alloc(size - begin);
      const length = readSync(file, bytes, 0, bytes.length, begin);
      // A line without its end is being written: it is read next time.
      const end = bytes.subarray(0, length).lastIndexOf(0x0a) + 1;
      this.#logPosition = begin + end;
      return bytes.subarray(0, end).toString().split('\n');
    } finally {
      closeSync(file);
    }
  }
}

const requestIn = (line: string): LiveRequest | undefined => {
  if (!line.startsWith('{') || !line.includes('"http_request"')) return undefined;
  const { requestId, time, method, route, status, durationMs } = JSON.parse(line) as {
    requestId: string;
    time: string;
    method: string;
    route: string;
    status: number;
    durationMs: number;
  };
  return {
    id: requestId,
    at: time,
    method,
    route: route === '' ? '(unknown path)' : route,
    status,
    ms: durationMs,
  };
};

/** The id of the object that an event is about. */
const subjectOf = (data: unknown): string =>
  /"(?:sess|ref|exc|acc|key|wkid|lnk|prd)[a-z]*_[0-9A-Za-z]+"/.exec(JSON.stringify(data))?.[0].slice(1, -1) ??
  '';

const readChain = async ({ name, rpc, faults }: Anvil): Promise<LivePart> => {
  const title = `${name[0]?.toUpperCase() ?? ''}${name.slice(1)}`;
  try {
    const head = Number(await rpc('eth_blockNumber'));
    const wrong = [
      ...(faults.isUnreachable ? ['unreachable'] : []),
      ...(faults.isHalted ? ['halted'] : []),
      ...(faults.heldFinalBlock === undefined ? [] : [`finality held at ${faults.heldFinalBlock}`]),
      ...(faults.isLying ? ['lying'] : []),
      ...(faults.isFeeHeld ? ['base fee 1,000 gwei'] : []),
    ];
    return {
      name: title,
      state: wrong.length === 0 ? 'good' : 'warn',
      detail: [`block ${head.toLocaleString('en')}`, ...wrong].join(', '),
    };
  } catch (error) {
    return { name: title, state: 'bad', detail: error instanceof Error ? error.message : String(error) };
  }
};
